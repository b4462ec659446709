/** What a package manager of Node does with a word: a script of the project, a tool of it, or something to install. */

import type { Word } from "../shell/segment.ts";
import { judgeArguments } from "./arguments.ts";
import { type Draft, literal, reads, runs, under, use } from "./draft.ts";
import { applyForm } from "./form.ts";
import { nodeTools } from "./node-tools.ts";
import { parseOptions } from "./options.ts";
import { type Form, type HookContext, optionTable, textOf } from "./spec.ts";

/** Scripts that build or test by their name; one that also says it publishes is not. */
const BUILD_SCRIPT =
  /^(?:test|build|lint|check|typecheck|type-check|tsc|compile|format:check|format-check|fmt:check|prettier:check|unit|e2e|coverage)(?![a-z])/;
const PUBLISHES = /deploy|publish|release|upload|push/;

const tools = new Set([
  ...nodeTools.flatMap((spec) => spec.names),
  // Runners of scripts: no build, but no package to fetch either when they are installed.
  "tsx",
  "ts-node",
]);

/** What a sub-command of a package manager is. */
export type Kind =
  | "read"
  | "write"
  | "network"
  | "install"
  | "test"
  | "start"
  | "run"
  | "exec"
  | "download"
  | "refused";

export interface Manager {
  readonly options: Form;
  readonly commands: Readonly<Partial<Record<Kind, string>>>;
  /** Options may stand anywhere before `--`; else everything after the script's name is the script's. */
  readonly loose: boolean;
  /** What a word that is no command means: a script or tool of the project, or nothing. */
  readonly other: "run" | "refused";
  /** What it does without any command. */
  readonly bare: Kind;
  /** A command that names a package, after which the words go on as scripts. */
  readonly workspace?: string;
  /** `exec NAME` fetches NAME when it is not installed. */
  readonly fetches: boolean;
}

export function manager(config: Manager): NonNullable<Form["custom"]> {
  const kinds = new Map(
    Object.entries(config.commands).flatMap(([kind, names]) =>
      names.split(" ").map((name) => [name, kind as Kind] as const),
    ),
  );
  return (words, draft, context) => {
    const at: Place = { folder: null };
    const operands = options(words, config, draft, at);
    const [command, ...rest] = operands;
    if (command === undefined) return act(config.bare, rest, config, draft, context, at);
    const name = textOf(command) ?? "";
    if (config.workspace === name && rest.length > 1) {
      draft.form = `${draft.form} ${name}`;
      act("run", rest.slice(1), config, draft, context, at);
      return;
    }
    const kind = kinds.get(name) ?? config.other;
    if (!kinds.has(name) && kind === "run") return act("run", operands, config, draft, context, at);
    draft.form = `${draft.form} ${name}`;
    return act(
      kind,
      kind === "test" ? [literal("test"), ...rest] : rest,
      config,
      draft,
      context,
      at,
    );
  };
}

export interface Place {
  folder: Word | null;
}

/** Options that choose packages of the workspace, by name or by folder. */
const CHOOSES = /^(?:-w|--workspace|-F|--filter)$/;
const ELSEWHERE = /(?:^|[{/!])\.\.(?:[/}]|$)|^[!{]*[/~]/;

/** Reads the manager's own options; answers the words that are left. */
export function options(
  words: readonly Word[],
  config: Manager,
  draft: Draft,
  at: Place,
): readonly Word[] {
  const dashes = config.loose ? words.findIndex((word) => textOf(word) === "--") : -1;
  const own = dashes < 0 ? words : words.slice(0, dashes);
  const parsed = parseOptions(own, {
    table: optionTable(config.options),
    digits: false,
    strict: !config.loose,
    oneDash: false,
    anyArgs: false,
  });
  for (const problem of parsed.problems) draft.lifts.push(`${problem} of ${draft.form}`);
  for (const { name, value, def } of parsed.options) {
    if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
    if (value !== null && CHOOSES.test(name) && ELSEWHERE.test(textOf(value) ?? "..")) {
      draft.lifts.push(`${name} of ${draft.form} may choose a package elsewhere: ${value.text}`);
    }
    if (def.role !== "chdir" || value === null) continue;
    at.folder = under(at.folder, value);
    reads(draft, at.folder, name, { tree: true });
  }
  return dashes < 0 ? parsed.operands : [...parsed.operands, ...words.slice(dashes + 1)];
}

function act(
  kind: Kind,
  words: readonly Word[],
  config: Manager,
  draft: Draft,
  context: HookContext,
  at: Place,
): void {
  const here = { ...(at.folder === null ? { cwd: true } : { path: at.folder }), tree: true };
  switch (kind) {
    case "read":
      options(words, { ...config, loose: true }, draft, at);
      use(draft, "read", draft.form, here);
      return;
    case "write":
    case "network":
    case "install":
      use(draft, kind, draft.form, here);
      return;
    case "test":
      script(words, draft, context, at);
      return;
    case "start":
      use(draft, "run", draft.form, here);
      judgeArguments(words, draft, at.folder);
      return;
    case "run": {
      const rest = config.loose ? words : options(words, config, draft, at);
      if (rest.length === 0) use(draft, "read", draft.form, here);
      else script(rest, draft, context, at);
      return;
    }
    case "exec": {
      const rest = config.loose ? words : options(words, config, draft, at);
      tool(rest, draft, context, at, config.fetches);
      return;
    }
    case "download":
      draft.lifts.push(`${draft.form} fetches a package and runs it`);
      use(draft, "install", draft.form, here);
      return;
    case "refused":
      draft.lifts.push(`${draft.form} is not a form that is known to be safe`);
      use(draft, "unknown", draft.form, here);
  }
}

/** A script of the project by its name, with the arguments it is given. */
function script(words: readonly Word[], draft: Draft, context: HookContext, at: Place): void {
  const [word, ...rest] = words as [Word, ...Word[]];
  const name = textOf(word);
  const here = { ...(at.folder === null ? { cwd: true } : { path: at.folder }), tree: true };
  if (name === null) {
    draft.lifts.push(`the script ${word.text} of ${draft.form} is not known`);
    use(draft, "run", draft.form, here);
  } else if (/\.[cm]?[jt]sx?$/.test(name)) runs(draft, under(at.folder, word), "script");
  else if (tools.has(name)) {
    tool(words, draft, context, at, false);
    return;
  } else if (BUILD_SCRIPT.test(name) && !PUBLISHES.test(name)) use(draft, "build", name, here);
  else if (/[/]|\.\w+$/.test(name)) runs(draft, under(at.folder, word), "script");
  else use(draft, "run", name, here);
  judgeArguments(rest, draft, at.folder);
}

/** A tool of the project's own node_modules: passes as that tool, and only when nothing has to be fetched. */
export function tool(
  words: readonly Word[],
  draft: Draft,
  context: HookContext,
  at: Place,
  fetches: boolean,
): void {
  const [word, ...rest] = words;
  const name = textOf(word) ?? "";
  const here = { ...(at.folder === null ? { cwd: true } : { path: at.folder }), tree: true };
  const spec = tools.has(name) ? context.catalogue.get(name) : undefined;
  if (spec === undefined) {
    draft.lifts.push(`${draft.form} ${word?.text ?? ""} is not a known tool of the project`);
    use(draft, fetches ? "install" : "run", draft.form, here);
    return;
  }
  const local = context.localBins;
  if (fetches && !(local?.includes(name) || local?.includes("*"))) {
    draft.lifts.push(
      local === undefined
        ? `it is not known whether ${name} is installed in the project`
        : `${name} is not installed in the project: ${draft.form} would fetch it`,
    );
    use(draft, "install", draft.form, here);
  }
  draft.form = `${draft.form} ${name}`;
  // The program is the project's own, whatever its arguments make it do.
  use(draft, "build", draft.form, here);
  applyForm(spec, rest, draft, context, at.folder);
}
