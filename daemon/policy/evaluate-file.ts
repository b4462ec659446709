/** The decision on a file operation: the same ladder, facts and rules as for commands. Pure. */
import type { Description, Use } from "./catalogue/description.ts";
import { insteadOf } from "./instead.ts";
import { judgeSegment, viewOf } from "./judge.ts";
import { authorisingRoots } from "./permission.ts";
import { scopeOf } from "./scope.ts";
import { hiddenCharacters } from "./shell/characters.ts";
import type { Segment, Word } from "./shell/segment.ts";
import type { EvaluateInput, Match, Rule, SegmentVerdict, Verdict } from "./types.ts";

export type FileVerb =
  | "read"
  | "list"
  | "stat"
  | "write"
  | "append"
  | "mkdir"
  | "remove"
  | "move"
  | "patch"
  | "pack"
  | "unpack";

export interface FileRequest {
  readonly verb: FileVerb;
  /** What is touched, in the order that a person would name it. Absolute and lexically normalised. */
  readonly paths: readonly FilePath[];
  /** Removes a folder with all it holds. */
  readonly recursive?: boolean;
}

export interface FilePath {
  readonly path: string;
  readonly access: "read" | "write";
  /** Everything below it too. */
  readonly tree?: boolean;
  /** Only on the way to another path: the folder that holds it. */
  readonly way?: boolean;
}

export interface EvaluateFileInput extends Omit<EvaluateInput, "request"> {
  readonly request: FileRequest;
}

/**
 * Judges a file operation as one segment. Rules of the tools `read` and `write` hold; so do rules that ask about or deny
 * the command that does the same (`rm *` for remove), but none that allows it. Never throws: what goes wrong is an ask.
 */
export function evaluateFile(input: EvaluateFileInput): Verdict {
  const text = fileText(input.request, input.settings.worktree);
  try {
    return judge(input, text);
  } catch (error) {
    return verdictOf(failed(text, error), input, []);
  }
}

/** What people and the journal see: `files write src/a.ts`. Paths of the worktree are relative to it. */
export function fileText({ verb, paths, recursive }: FileRequest, worktree: string): string {
  const named = paths.filter(({ way }) => way !== true).map(({ path }) => short(path, worktree));
  return ["files", verb, ...(recursive === true ? ["-r"] : []), ...named].join(" ");
}

function short(path: string, worktree: string): string {
  const below = path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : path;
  const name = path === worktree ? "." : below;
  return /^[\w./@%+=:,~-]+$/.test(name) ? name : JSON.stringify(name);
}

/** The command that does the same, by which safety patterns and rules of commands know it. */
function equivalent({ verb, paths, recursive }: FileRequest): readonly string[] {
  const named = paths.filter(({ way }) => way !== true).map(({ path }) => path);
  const words: Readonly<Record<FileVerb, readonly string[]>> = {
    read: ["cat"],
    list: ["ls"],
    stat: ["stat"],
    write: ["tee"],
    append: ["tee", "-a"],
    mkdir: ["mkdir", "-p"],
    remove: recursive === true ? ["rm", "-r"] : ["rm"],
    move: ["mv", "-T"],
    patch: ["patch"],
    pack: ["tar", "-c"],
    unpack: ["tar", "-x"],
  };
  return [...words[verb], "--", ...named];
}

function judge(input: EvaluateFileInput, text: string): Verdict {
  const { request, facts } = input;
  // The daemon itself keeps to the paths that were judged, whatever the sandbox's kernel can do.
  const settings = { ...input.settings, kernelConfinement: true };
  const argv = equivalent(request);
  const segment: Segment = {
    index: 0,
    text,
    words: argv.map(literal),
    env: [],
    redirects: [],
    cwds: [settings.worktree],
    stdin: { kind: "null" },
    pipedTo: null,
    wrappers: [],
    context: [],
    problems: request.paths.flatMap(({ path }) => oddCharacters(path)),
  };
  const description: Description = {
    form: `files ${request.verb}`,
    uses: request.paths.map(useOf),
    lifts: [],
    known: true,
  };
  const scope = scopeOf(settings, facts);
  const view = viewOf(segment, [segment], description, scope);
  const evaluated: EvaluateInput = {
    ...input,
    settings,
    request: { command: text, cwd: settings.worktree },
    rules: { rules: input.rules.rules.filter(holdsForFiles) },
  };
  // The words are those of a command that does not run; a person is shown the operation.
  const { argv: _, ...verdict } = judgeSegment(view, evaluated, scope, [], []);
  return verdictOf(verdict, input, authorisingRoots(verdict, view, scope));
}

/** In a path, unlike in a command, a line break is as odd as any other control character. */
function oddCharacters(path: string) {
  const at = path.search(/[\n\t]/);
  const broken = { code: "control-character", message: `control character at ${at}`, at };
  return [...(at < 0 ? [] : [broken]), ...hiddenCharacters(path)];
}

function useOf({ path, access, tree }: FilePath): Use {
  return {
    effect: access,
    class: access,
    path: literal(path),
    via: "operand",
    tree: tree === true,
  };
}

function literal(text: string): Word {
  return { text, value: { kind: "literal", value: text }, quoted: true };
}

/** A rule of commands counts when it names the verb: `*` is about commands, not about files. */
function holdsForFiles({ tool, action, pattern }: Rule): boolean {
  return tool !== "exec" || (action !== "allow" && !/[*?[]/.test(pattern[0] ?? "*"));
}

function verdictOf(
  segment: SegmentVerdict,
  { settings, request, ...rest }: EvaluateFileInput,
  roots: readonly string[],
): Verdict {
  const { verdict, effects, classes, text, reason, rule, paths } = segment;
  const known = { ...rest, settings, request: { command: text, cwd: settings.worktree } };
  const instead = verdict === "allow" ? undefined : insteadOf(segment, known);
  const named = [...new Set(roots)];
  const changed = paths.filter(({ access }) => access === "write");
  const hidden = segment.matches
    .filter(({ rule: each }) => /^understand\/.*-character$/.test(each))
    .map(({ reason: each }) => /U\+.*$/.exec(each)?.[0] ?? each);
  return {
    verdict,
    effects,
    classes,
    roots: verdict === "allow" ? named : [],
    segments: [segment],
    reason:
      verdict === "allow"
        ? `every path stays in ${named.join(" and ")}`
        : `\`${text}\` ${reason} (${rule})`,
    ...(instead === undefined ? {} : { instead }),
    // An approval of a change is one of a change to what is there now.
    bindTo: [...new Set(changed.map(({ path, real }) => real ?? path))],
    ...(hidden.length === 0 ? {} : { hidden: [...new Set(hidden)] }),
  };
}

function failed(text: string, error: unknown): SegmentVerdict {
  const reason = `could not be judged: ${error instanceof Error ? error.message : String(error)}`;
  const found = { rung: "understand", rule: "understand/internal-error", reason } as const;
  const match: Match = { ...found, decision: "ask" };
  return {
    text,
    form: "",
    cwds: [],
    verdict: "ask",
    ...found,
    effects: ["unknown"],
    classes: ["unknown"],
    paths: [],
    matches: [match],
  };
}
