/** Applies a declared form to the words that follow its verb. */

import type { Word } from "../shell/segment.ts";
import { judgeArguments } from "./arguments.ts";
import { type Draft, reads, runs, under, use, writes } from "./draft.ts";
import { parseOptions } from "./options.ts";
import {
  type Form,
  given,
  type HookContext,
  type OperandRoles,
  optionTable,
  type ParsedForm,
  type Role,
  textOf,
} from "./spec.ts";

const subTables = new WeakMap<Form, ReadonlyMap<string, Form>>();
const merged = new WeakMap<Form, WeakMap<Form, Form>>();

/** The sub-commands of a form by each of their names. */
export function subForms(form: Form): ReadonlyMap<string, Form> {
  let table = subTables.get(form);
  if (table === undefined) {
    const entries = Object.entries(form.sub ?? {});
    table = new Map(entries.flatMap(([names, sub]) => names.split(" ").map((name) => [name, sub])));
    subTables.set(form, table);
  }
  return table;
}

/** `sub` with the options of its parent; an option that both declare is the sub-command's. */
function withShared(parent: Form, sub: Form): Form {
  const bySub = merged.get(parent) ?? new WeakMap<Form, Form>();
  merged.set(parent, bySub);
  const known = bySub.get(sub);
  if (known !== undefined) return known;
  const own = optionTable(sub);
  const join = (theirs: string | undefined, ours: string | undefined): string =>
    [
      ours ?? "",
      ...(theirs ?? "").split(/\s+/).filter((item) => !own.has(item.replace(/=.*/, ""))),
    ].join(" ");
  const lifts: Record<string, string> = { ...sub.lifts };
  for (const [reason, list] of Object.entries(parent.lifts ?? {}))
    lifts[reason] = join(list, lifts[reason]);
  const form: Form = {
    ...sub,
    shared: sub.sub !== undefined,
    flags: join(parent.flags, sub.flags),
    reads: join(parent.reads, sub.reads),
    trees: join(parent.trees, sub.trees),
    writes: join(parent.writes, sub.writes),
    codes: join(parent.codes, sub.codes),
    chdirs: join(parent.chdirs, sub.chdirs),
    lifts,
  };
  bySub.set(sub, form);
  return form;
}

/**
 * The part of the work that is the same for options and operands: a word with a role becomes a use or a lift.
 * What a build verb writes and which code of the project it loads belongs to the build and needs no other permission.
 */
function touch(
  draft: Draft,
  form: Form,
  role: Role,
  word: Word,
  via: string,
  tree: boolean,
  follows: boolean,
): void {
  const more = {
    ...(tree || role === "tree" ? { tree: true } : {}),
    ...(follows ? { follows } : {}),
  };
  if (role === "read" || role === "tree") reads(draft, word, via, more);
  else if (role === "write")
    writes(draft, word, via, {
      ...(tree ? { tree } : {}),
      ...(form.class === "build" ? { class: "build" } : {}),
    });
  else if (role === "code" && /^(?:-|\/dev\/stdin)$/.test(textOf(word) ?? ""))
    draft.lifts.push(`${via} of ${draft.form} takes code from standard input`);
  else if (role === "code") runs(draft, word, via, form.class === "build" ? "build" : "run");
  else if (role === "chdir") reads(draft, word, via, { tree: true });
  else if (role === "none") draft.lifts.push(`operand ${word.text} of ${draft.form}`);
}

/** Options of build verbs whose values are patterns, names or addresses: a slash in them opens nothing. */
const PATTERNS =
  /^(?:-[DEkgmt]|--?(?:[\w-]*(?:pattern|grep|match|filter|ignore|exclude|include|public-?[pP]ath|base-?[hH]ref|Pattern)|tests?|run|skip|bench|list|fuzz|only|base|path-prefix|footer|banner|define|emit))$/;

/**
 * Build tools have more options than any table holds in full, and several read or write what a plain looking value
 * names (`output=/x`, `json:../x`): a value that points elsewhere is judged as a path whatever the table says.
 */
function checkValue(
  draft: Draft,
  form: Form,
  name: string,
  value: Word,
  folder: Word | null,
): void {
  const text = textOf(value);
  if (text === null || PATTERNS.test(name)) return;
  if (!form.oneDash && /^--[a-z]/.test(text))
    draft.lifts.push(`the value ${value.text} of ${name} of ${draft.form} looks like an option`);
  judgeArguments([value], draft, folder);
}

/** Which role each operand has. */
function operandRoles(roles: OperandRoles, parsed: ParsedForm): Role[] {
  const lead = roles.unless !== undefined && given(parsed, roles.unless) ? [] : (roles.lead ?? []);
  const list = parsed.operands.map((_, index) => lead[index] ?? roles.rest ?? "none");
  if (roles.last !== undefined && list.length >= 2) list[list.length - 1] = roles.last;
  return list;
}

/** Applies `form` to `words` (the words after the verb or sub-command); `at` is where an outer form moved to. */
export function applyForm(
  form: Form,
  words: readonly Word[],
  draft: Draft,
  context: HookContext,
  at: Word | null = null,
): void {
  const help = form.help ?? "--help --version";
  const only = words.length === 1 ? textOf(words[0]) : null;
  if (only !== null && only !== "" && help.split(" ").includes(only)) {
    use(draft, "read", only);
    return;
  }
  if (form.custom !== undefined) {
    form.custom(words, draft, context);
    return;
  }
  const { operands, options, problems } = form.noOptions
    ? { operands: words, options: [], problems: [] }
    : parseOptions(words, {
        table: optionTable(form),
        digits: form.digits ?? false,
        strict: form.strict === true || form.sub !== undefined,
        oneDash: form.oneDash ?? false,
        anyArgs: form.anyArgs ?? false,
      });
  const parsed: ParsedForm = { form: draft.form, options, operands };
  for (const problem of problems) draft.lifts.push(`${problem} of ${draft.form}`);

  let folder = at;
  const follows =
    form.follows !== undefined &&
    given(parsed, form.follows) &&
    !given(parsed, form.followsUnless ?? "");
  for (const { name, value, def } of options) {
    if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
    if (value === null) continue;
    const open = def.lift === null && (def.role === "data" || textOf(value)?.includes("="));
    if (form.class === "build" && open) checkValue(draft, form, name, value, folder);
    if (def.role === "data") continue;
    const path = under(folder, value);
    touch(draft, form, def.role, path, name, def.role === "tree", follows);
    if (def.role === "chdir") folder = path;
  }

  if (form.sub !== undefined) {
    applySub(form, operands, draft, context, folder);
    return;
  }
  const tree = form.recursive !== undefined && given(parsed, form.recursive);
  const roles =
    typeof form.operands === "object"
      ? form.operands
      : ({ rest: form.operands ?? "none" } as OperandRoles);
  const list = operandRoles(roles, parsed);
  list.forEach((role, index) => {
    const operand = operands[index] as Word;
    // Compilers and linters take the options they find in FILE for `@FILE`.
    if (form.class === "build" && role !== "data" && textOf(operand)?.startsWith("@"))
      draft.lifts.push(`${operand.text} takes options of ${draft.form} from a file`);
    if (form.class === "build" && role === "data" && textOf(operand) !== null)
      judgeArguments([operand], draft, folder);
    touch(draft, form, role, under(folder, operand), "operand", tree, follows);
  });
  const pathless = !list.some((role) => role !== "data" && role !== "none");
  const here = folder === null ? { cwd: true } : { path: folder };
  const deep = tree || form.bare === "tree" ? { tree: true } : {};
  if (form.bare !== undefined && pathless && (form.bare !== "recursive" || tree))
    use(draft, "read", "working directory", { ...here, ...deep, ...(follows ? { follows } : {}) });
  const edits =
    form.edits === undefined
      ? undefined
      : parsed.options.find(({ name }) => form.edits?.split(" ").includes(name));
  if (edits !== undefined) {
    const sources = list.flatMap((role, index) =>
      role === "data" ? [] : [operands[index] as Word],
    );
    for (const source of sources) writes(draft, under(folder, source), edits.name, { tree: true });
    if (sources.length === 0) use(draft, "write", edits.name, { ...here, tree: true });
  }
  const actionClass = form.class ?? "read";
  if (form.inCwd !== undefined) {
    use(draft, actionClass, draft.form, { ...here, tree: true });
    if (form.inCwd === "read" && actionClass !== "read")
      use(draft, "read", draft.form, { ...here, tree: true });
  } else if (actionClass !== "read" && actionClass !== "write" && form.refined !== true)
    use(draft, actionClass, draft.form);
  if (form.lister === true || (typeof form.lister === "string" && given(parsed, form.lister)))
    draft.lister = true;
  form.refine?.(parsed, draft, context);
}

function applySub(
  form: Form,
  operands: readonly Word[],
  draft: Draft,
  context: HookContext,
  folder: Word | null,
): void {
  const [word, ...rest] = operands;
  if (word === undefined) {
    if (form.noSub !== undefined) applyForm(form.noSub, [], draft, context, folder);
    return;
  }
  const name = textOf(word);
  const sub = name === null ? undefined : subForms(form).get(name);
  const chosen = sub ?? form.otherSub;
  if (chosen === undefined) {
    draft.lifts.push(`sub-command ${word.text} of ${draft.form} is not in the catalogue`);
    return;
  }
  if (sub !== undefined) draft.form = `${draft.form} ${name}`;
  applyForm(
    form.shared ? withShared(form, chosen) : chosen,
    sub ? rest : operands,
    draft,
    context,
    folder,
  );
}
