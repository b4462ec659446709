/** Says what one segment touches: its verb by the catalogue, its redirects, its environment. */

import { WORD_VALUES_MAX } from "../../limits.ts";
import type { EnvAssignment, Redirect, Word } from "../shell/segment.ts";
import type { ActionClass } from "../types.ts";
import { judgeArguments } from "./arguments.ts";
import { assigns } from "./assignments.ts";
import type { DescribeContext, Description } from "./description.ts";
import { type Draft, newDraft, reads, runs, use, writes } from "./draft.ts";
import { applyForm } from "./form.ts";
import { isLoopback } from "./loopback.ts";
import { catalogue } from "./registry.ts";
import { type Form, type HookContext, textOf, textsOf } from "./spec.ts";

/**
 * Describes a segment. Never throws and never allows: an unknown verb is `known: false`, a form that is not
 * understood has lifts. Whether the paths it names are in scope is judged elsewhere.
 */
export function describe(context: DescribeContext): Description {
  const { segment } = context;
  const draft = newDraft("");
  for (const redirect of segment.redirects) describeRedirect(redirect, draft);
  for (const assignment of segment.env) describeAssignment(assignment, draft);
  if (segment.words.length > 0) describeWords(segment.words, draft, { ...context, catalogue });
  return draft;
}

/** Folders of the image whose programs are the catalogue's own; every other path names some program of its own. */
const SYSTEM_VERB = /^\/(?:usr\/)?bin\/([^/]+)$/;

function describeWords(words: readonly Word[], draft: Draft, context: HookContext): void {
  const variants = alternatives(words);
  if (variants === null) {
    draft.known = false;
    draft.lifts.push("too many possible words");
    return;
  }
  for (const variant of variants) {
    const [verb, ...rest] = variant as [Word, ...Word[]];
    const name = textOf(verb);
    const system = name === null ? null : SYSTEM_VERB.exec(name);
    const plain = system?.[1] ?? name ?? "";
    const spec = catalogue.get(plain);
    draft.form = plain;
    if (name === null) unknownVerb(draft, `the command word ${verb.text} is not known`);
    else if (name.includes("/") && system === null) describeProgram(verb, rest, draft, context);
    else if (spec === undefined) unknownVerb(draft, `${plain} is not in the catalogue`);
    else {
      draft.form = spec.names.includes(plain) ? plain : (spec.names[0] ?? plain);
      applyVerb(spec, rest, draft, context);
    }
  }
}

/** What a program outside the system's folders may reach besides running: what its name says it is for. */
const REACHES = new Set<ActionClass>([
  "network",
  "engine",
  "install",
  "process",
  "privilege",
  "git-write",
]);

/** Folders where a package manager puts the tools that the project named. */
const TOOLS = /(?:^|\/)(?:node_modules\/\.bin|\.?v?env\/bin|vendor\/bin)\/[^/]+$/;

/** `./x`, `venv/bin/pip`: code of its own, whatever its name; a known name only adds what it would reach. */
function describeProgram(
  verb: Word,
  words: readonly Word[],
  draft: Draft,
  context: HookContext,
): void {
  const spec = catalogue.get(textOf(verb)?.split("/").at(-1) ?? "");
  if (spec?.class === "build" && TOOLS.test(textOf(verb) ?? "")) {
    // As much the project's own code as what `npx` runs, and judged as that.
    runs(draft, verb, "program", "build");
    draft.form = spec.names[0] ?? "";
    applyForm(spec, words, draft, context);
    return;
  }
  runs(draft, verb, "program");
  judgeArguments(words, draft);
  if (spec === undefined) return;
  const namesake = newDraft(spec.names[0] ?? "");
  applyForm(spec, words, namesake, context);
  draft.uses.push(...namesake.uses.filter((each) => REACHES.has(each.class)));
}

function unknownVerb(draft: Draft, why: string): void {
  draft.known = false;
  draft.lifts.push(why);
  use(draft, "unknown", "verb");
}

/** Applies a form to the words after its verb; a form that names nothing it touches is a plain read. */
function applyVerb(form: Form, words: readonly Word[], draft: Draft, context: HookContext): void {
  const before = draft.uses.length;
  applyForm(form, words, draft, context);
  if (draft.uses.length === before) use(draft, form.class ?? "read", "verb");
}

/**
 * The words with every `oneOf` that could matter to the grammar replaced by each of its values. A list of plain
 * file names stays one word: its use carries them all. Null when there are too many.
 */
function alternatives(words: readonly Word[]): readonly (readonly Word[])[] | null {
  if (!words.some((word) => word.value.kind === "oneOf")) return [words];
  let variants: Word[][] = [[]];
  words.forEach((word, index) => {
    const { value } = word;
    const spread =
      value.kind === "oneOf" &&
      (index === 0 || value.values.length <= 16 || value.values.some(odd));
    const each: Word[] = spread
      ? value.values.map((text) => ({ ...word, value: { kind: "literal", value: text } }))
      : [word];
    if (variants.length * each.length > WORD_VALUES_MAX) variants = [];
    variants = variants.flatMap((variant) => each.map((one) => [...variant, one]));
  });
  return variants.length === 0 ? null : variants;
}

/** Not a plain operand: an option, an option-like `+x`, or nothing. */
function odd(text: string): boolean {
  return /^[-+]|^$/.test(text);
}

function describeRedirect(redirect: Redirect, draft: Draft): void {
  const { kind, target } = redirect;
  if (target === undefined) return;
  const text = textOf(target);
  if (kind === "dup") {
    if (target.value.kind === "number" || (text !== null && /^(\d+-?|-)$/.test(text))) return;
    reads(draft, target, "redirect");
    writes(draft, target, "redirect");
    return;
  }
  const socket = text === null ? null : /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(text);
  if (socket !== null) {
    const host = socket[1] ?? "";
    use(draft, isLoopback(host) ? "loopback" : "network", "redirect", { host });
    return;
  }
  if (kind === "read" || kind === "readwrite") reads(draft, target, "redirect");
  if (kind !== "read") writes(draft, target, "redirect");
}

function describeAssignment({ name, value, append, exported }: EnvAssignment, draft: Draft): void {
  const known = append || value === null ? [null] : (textsOf(value) ?? [null]);
  for (const text of known) assigns(draft, name, text, exported);
}
