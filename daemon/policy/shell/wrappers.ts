/** Commands that run the command in their own arguments, each with the grammar of its own options. */

import { folderNamed } from "./cwd.ts";
import { findExec, xargs } from "./finds.ts";
import { type Grammar, parseOptions } from "./options.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import type { EnvAssignment, Word } from "./segment.ts";
import { doubtful, ordinary, programName, unwrapped } from "./segments.ts";
import { interpreter } from "./shells.ts";
import { type State, withVariable } from "./state.ts";
import { literal, literalText, unknown } from "./values.ts";

/** Null: this form runs nothing else; it is a segment as it stands. */
export type Wrapper = (
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
) => Outcome | null;

/** A segment as it stands, that asks because what it runs could not be made out. */
function unclear(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const message = `which command it runs is not sure: ${command.text}`;
  return ordinary(run, command, state, frame, { problems: [{ code: "wrapper", message, at: -1 }] });
}

interface Simple extends Grammar {
  /** Operands before the command: a duration, a priority. */
  readonly operands?: number;
  /** Options with which it runs no command. */
  readonly without?: readonly string[];
  /** An option that names a file it writes. */
  readonly writes?: string;
}

function simple(name: string, grammar: Simple): Wrapper {
  return (run, command, state, frame) => {
    const parsed = parseOptions(command.words, 1, grammar);
    if (parsed === null) return unclear(run, command, state, frame);
    if (grammar.without?.some((option) => parsed.options.has(option))) return null;
    const from = parsed.next + (grammar.operands ?? 0);
    const skipped = command.words.slice(parsed.next, from);
    if (skipped.some(isUnsure)) return unclear(run, command, state, frame);
    const words = command.words.slice(from);
    if (words.length === 0) return null;
    const file = grammar.writes === undefined ? undefined : parsed.options.get(grammar.writes);
    const changes =
      file === undefined || file === true ? {} : { redirects: writing(command, file) };
    return run.hooks.dispatch(run, unwrapped(command, name, words, changes), state, frame);
  };
}

function isUnsure({ value }: Word): boolean {
  return (
    value.kind === "glob" || ("many" in value && value.many) || ("split" in value && value.split)
  );
}

function writing(command: SimpleCommand, file: Word | string): SimpleCommand["redirects"] {
  const target =
    typeof file === "string" ? { text: file, value: literal(file), quoted: true } : file;
  return [...command.redirects, { kind: "write", fd: null, both: false, target }];
}

/** `nice -5` and `nice --5` are priorities, not options. */
const nice: Wrapper = (run, command, state, frame) => {
  const [verb, first, ...rest] = command.words;
  const old = verb !== undefined && /^-[-+]?\d+$/.test(literalText(first) ?? "");
  const words = old ? [verb, ...rest] : command.words;
  const grammar = { values: "n", longValues: ["adjustment"] };
  return simple("nice", grammar)(run, { ...command, words }, state, frame);
};

const ENV: Grammar = {
  flags: "i0v",
  values: "uCS",
  longFlags: ["ignore-environment", "null", "debug", "list-signal-handling"],
  longValues: ["unset", "chdir", "split-string"],
};

const env: Wrapper = (run, command, state, frame) => {
  const [verb, ...rest] = command.words;
  // A lone `-` is `-i`.
  const words =
    literalText(rest[0]) === "-" && verb !== undefined ? [verb, ...rest.slice(1)] : command.words;
  const parsed = parseOptions(words, 1, ENV);
  if (parsed === null || parsed.options.has("S") || parsed.options.has("split-string")) {
    return unclear(run, command, state, frame);
  }
  const added: EnvAssignment[] = [];
  let { next } = parsed;
  for (; next < words.length; next++) {
    const word = words[next] as Word;
    const { value } = word;
    const head =
      value.kind === "literal" ? value.value : value.kind === "unknown" ? value.prefix : "";
    const name = /^([^=]+)=/.exec(head)?.[1];
    if (name === undefined) break;
    const rest = head.slice(name.length + 1);
    const text = word.text.slice(word.text.indexOf("=") + 1);
    const assigned: Word = {
      text,
      value: value.kind === "unknown" ? { ...value, prefix: rest } : literal(rest),
      quoted: word.quoted,
    };
    added.push({ name, value: assigned, append: false, exported: true });
    run.remember(name, assigned.value);
  }
  const inner = words.slice(next);
  if (inner.length === 0) return null;
  const chosen = parsed.options.get("C") ?? parsed.options.get("chdir");
  const folder =
    typeof chosen === "string" ? { text: chosen, value: literal(chosen), quoted: true } : chosen;
  const removes = ["i", "u", "ignore-environment", "unset"].some((one) => parsed.options.has(one));
  const inherited = removes ? withoutEnvironment(run, state) : state;
  const moved =
    folder === undefined || folder === true
      ? inherited
      : { ...inherited, cwds: folderNamed(folder, state.cwds) };
  const changes = added.length === 0 ? {} : { env: [...command.env, ...added] };
  const outcome = run.hooks.dispatch(run, unwrapped(command, "env", inner, changes), moved, frame);
  return { ok: state, fail: state, output: outcome.output };
};

/** Variables were taken away: a shell that is started now may find none of them. */
function withoutEnvironment(run: Run, state: State): State {
  let after = state;
  for (const name of [...Object.keys(run.context.env), "HOME", ...state.variables.keys()]) {
    after = withVariable(after, name, { value: unknown("removed by env"), exported: true });
  }
  return after;
}

/** `command` and `builtin` stay in the shell: `command cd x` moves it. */
const command_: Wrapper = (run, command, state, frame) => {
  const parsed = parseOptions(command.words, 1, { flags: "pvV" });
  if (parsed === null) {
    const message = `which command it runs is not sure: ${command.text}`;
    return doubtful(run, command, state, frame, { code: "wrapper", message, at: -1 });
  }
  if (parsed.options.has("v") || parsed.options.has("V")) return null;
  const words = command.words.slice(parsed.next);
  if (words.length === 0) return null;
  const changes = { shellLevel: command.shellLevel };
  return run.hooks.dispatch(run, unwrapped(command, "command", words, changes), state, frame);
};

const builtin: Wrapper = (run, command, state, frame) => {
  const words = command.words.slice(literalText(command.words[1]) === "--" ? 2 : 1);
  if (words.length === 0) return null;
  const changes = { shellLevel: command.shellLevel };
  return run.hooks.dispatch(run, unwrapped(command, "builtin", words, changes), state, frame);
};

/**
 * Commands that need a person anyway: they stay segments, and the command in them is shown to the deny rules too.
 * Their options are skipped without looking closely; `values` are letters that take the next word.
 */
function alsoInner(name: string, values: string, operands = 0): Wrapper {
  return (run, command, state, frame) => {
    const outcome = ordinary(run, command, state, frame);
    let at = 1;
    let skip = operands;
    for (; at < command.words.length; at++) {
      const text = literalText(command.words[at]) ?? "";
      if (text === "--") continue;
      if (/^-[^-]/.test(text)) {
        if (text.length === 2 && values.includes(text[1] ?? "")) at += 1;
      } else if (text.startsWith("--") || /^[A-Za-z_]\w*=/.test(text)) {
      } else if (skip > 0) skip -= 1;
      else break;
    }
    const words = command.words.slice(at);
    if (words.length === 0) return outcome;
    const inner = unwrapped(command, name, words, { redirects: [], env: command.env });
    const code = words.length === 1 || name === "watch" ? words.map(literalText) : [null];
    const isCode = code.every((text) => text !== null) && /\s/.test(code.join(" "));
    if (isCode && (name === "watch" || name === "flock")) {
      run.hooks.script(run, code.join(" "), state, {
        ...frame,
        nested: true,
        wrappers: [...frame.wrappers, ...command.wrappers, name],
        depth: run.deeper(frame),
        exits: null,
        call: null,
      });
    } else run.hooks.dispatch(run, inner, state, frame);
    return outcome;
  };
}

function named(names: string, wrapper: Wrapper): [string, Wrapper][] {
  return names.split(" ").map((name) => [name, wrapper]);
}

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["env", env],
  ["command", command_],
  ["builtin", builtin],
  ["nice", nice],
  ["exec", simple("exec", { flags: "l", values: "a" })],
  ["nohup", simple("nohup", {})],
  [
    "timeout",
    simple("timeout", {
      flags: "vfp",
      values: "ks",
      longFlags: ["foreground", "preserve-status", "verbose"],
      longValues: ["kill-after", "signal"],
      operands: 1,
    }),
  ],
  [
    "time",
    simple("time", {
      flags: "apvqV",
      values: "fo",
      longFlags: ["append", "portability", "verbose", "quiet"],
      longValues: ["format"],
      writes: "o",
    }),
  ],
  [
    "ionice",
    simple("ionice", {
      flags: "t",
      values: "cnpPu",
      longFlags: ["ignore"],
      longValues: ["class", "classdata", "pid"],
      without: ["p", "P", "u", "pid"],
    }),
  ],
  ["stdbuf", simple("stdbuf", { values: "ioe", longValues: ["input", "output", "error"] })],
  ["setsid", simple("setsid", { flags: "cfw", longFlags: ["ctty", "fork", "wait"] })],
  ["chrt", simple("chrt", { flags: "abdfiorRmv", values: "TPD", operands: 1, without: ["m"] })],
  [
    "taskset",
    simple("taskset", { flags: "ac", longFlags: ["all-tasks", "cpu-list"], operands: 1 }),
  ],
  ["xargs", xargs],
  ["find", findExec],
  ...named("bash sh dash ash zsh", (run, command, state, frame) =>
    interpreter(run, command, state, frame, programName(literalText(command.words[0]) ?? "")),
  ),
  ["sudo", alsoInner("sudo", "aCcDghopRrtTUu")],
  ["doas", alsoInner("doas", "aCu")],
  ["watch", alsoInner("watch", "n")],
  ["flock", alsoInner("flock", "wE", 1)],
  ["strace", alsoInner("strace", "abeEIoOpPsSuUX")],
  ["ltrace", alsoInner("ltrace", "aAeFlnopsuwx")],
  ["xvfb-run", alsoInner("xvfb-run", "efnpsw")],
  ["chroot", alsoInner("chroot", "", 1)],
  ["nsenter", alsoInner("nsenter", "tSG")],
  ["unshare", alsoInner("unshare", "SGRw")],
]);
