/** Compares what real bash ran with the segments that were judged: what ran and is in no segment is a failure. */

import { resolvePath } from "../../daemon/policy/shell/cwd.ts";
import type { Segment, Understanding, Word } from "../../daemon/policy/shell/segment.ts";
import { understand } from "../../daemon/policy/shell/understand.ts";
import { type BashRecorder, HOME, type Recorded, WORK } from "./bash-recorder.ts";

export const CONTEXT = { cwd: WORK, home: HOME, env: { PATH: "/usr/bin" } };

export interface Miss {
  readonly command: string;
  readonly ran: Recorded;
  readonly segments: readonly string[];
}

export interface Comparison {
  readonly commands: number;
  /** Commands that asked as a whole; what they ran does not matter. */
  readonly asked: number;
  /** Programs that ran under a command that did not. */
  readonly ran: number;
  readonly misses: readonly Miss[];
}

/** `/usr/bin/ls` and `ls` are one program, `./ls` is another. */
function program(name: string, cwd = WORK): string {
  if (/^\.{1,2}\/|\/t\//.test(name)) return resolvePath(cwd, name);
  return name.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, "");
}

/** How many of `args`, from `at` on, the word may have become: every count that fits. */
function fits(word: Word, args: readonly string[], at: number, cwd: string): number[] {
  const { value } = word;
  const counts: number[] = [];
  const several = value.kind === "glob" || ("many" in value && value.many);
  const split = value.kind === "listed" && value.split;
  // An unquoted expansion may be no word at all.
  if (several || split) counts.push(0);
  for (let count = 1; at + count <= args.length; count++) {
    if (!becomes(word, args[at + count - 1] ?? "", cwd)) break;
    counts.push(count);
    if (!several && !split) break;
  }
  return counts;
}

function below(path: string, base: string, cwd: string): boolean {
  const folder = resolvePath(cwd, base === "" ? "." : base);
  const place = resolvePath(cwd, path);
  return place === folder || place.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function becomes({ value, process }: Word, arg: string, cwd: string): boolean {
  if (process !== undefined) return /^\/dev\/fd\/\d+$/.test(arg);
  switch (value.kind) {
    case "literal":
      return value.value === arg;
    case "oneOf":
      return value.values.includes(arg);
    case "number":
      if (arg === "") return value.empty === true;
      if (value.sample === undefined) return /^(?!-\D)[^/]*$/.test(arg);
      return shape(value.sample) === shape(arg.replace(/^-(?=\d)/, ""));
    case "glob":
      return below(arg, value.base, cwd) && (value.dashed || !arg.startsWith("-"));
    case "listed":
      if (value.split) return true;
      if (arg === "") return value.empty === true;
      return (
        value.bases.some((base) => below(arg, base, cwd)) && (value.dashed || !arg.startsWith("-"))
      );
    case "unknown":
      if (!value.many && value.sample !== undefined)
        return namesShape(value.sample) === namesShape(arg);
      return arg.startsWith(value.prefix) || value.many;
  }
}

function shape(text: string): string {
  return text.replace(/\d+/g, "0");
}

function namesShape(text: string): string {
  return text.replace(/[A-Za-z0-9]+/g, "x");
}

function matches(segment: Segment, { argv, cwd }: Recorded): boolean {
  const [verb] = segment.words;
  if (verb === undefined || (segment.cwds !== null && !segment.cwds.includes(cwd))) return false;
  if (
    verb.value.kind !== "literal" ||
    program(verb.value.value, cwd) !== program(argv[0] ?? "", cwd)
  )
    return false;
  const from = (word: number, at: number): boolean => {
    const next = segment.words[word];
    if (next === undefined) return at === argv.length;
    return fits(next, argv, at, cwd).some((count) => from(word + 1, at + count));
  };
  return from(1, 1);
}

/** A shell that reads a script which is not known asks by what it is. */
function runsUnseen({ words, inner }: Segment): boolean {
  const [verb] = words;
  return (
    inner !== true &&
    verb?.value.kind === "literal" &&
    /^(?:.*\/)?(?:ba|da|z)?sh$/.test(verb.value.value)
  );
}

function asks({ problems, segments }: Understanding): boolean {
  return (
    problems.length > 0 ||
    segments.some((segment) => segment.problems.length > 0 || runsUnseen(segment))
  );
}

/** Runs `commands` for real and compares. */
export function compare(
  recorder: BashRecorder,
  commands: readonly string[],
  read: (command: string) => Understanding = (command) => understand(command, CONTEXT),
): Comparison {
  const misses: Miss[] = [];
  let asked = 0;
  let ran = 0;
  const all = recorder.run(commands);
  commands.forEach((command, at) => {
    const understanding = read(command);
    if (asks(understanding)) {
      asked += 1;
      return;
    }
    for (const one of all[at] ?? []) {
      ran += 1;
      if (understanding.segments.some((segment) => matches(segment, one))) continue;
      // Those of the same verb are the ones to look at.
      const verb = program(one.argv[0] ?? "");
      const segments = understanding.segments
        .filter(
          ({ words }) =>
            words[0]?.value.kind !== "literal" || program(words[0].value.value) === verb,
        )
        .map(
          ({ words, cwds }) =>
            `${words.map(({ value }) => JSON.stringify(value)).join(" ")} @ ${cwds}`,
        );
      misses.push({ command, ran: one, segments });
    }
  });
  return { commands: commands.length, asked, ran, misses };
}
