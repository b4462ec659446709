/** What agents hand to a hook before they use a tool, and what they take for an answer. */
import { RecintoError } from "../errors.ts";

/** The one exit code besides 0 that these agents heed: the tool is not used, and standard error says why. */
export const EXIT_BLOCKS = 2;

export type HookAgent = "claude-code" | "codex";
export const HOOK_AGENTS: readonly HookAgent[] = ["claude-code", "codex"];

/** A use of a tool, as far as it can be judged. */
export type HookUse =
  | { readonly kind: "command"; readonly command: string }
  /** Reads a folder with all below it, as `command` does. */
  | { readonly kind: "search"; readonly command: string }
  | { readonly kind: "file"; readonly path: string; readonly access: "read" | "write" }
  /** Not judged: `why`, where it would be if it were not for that. */
  | { readonly kind: "other"; readonly tool: string; readonly why?: string };

export interface HookCall {
  readonly use: HookUse;
  readonly cwd: string;
  /** What the agent gave the tool. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether a person sits there whom the agent would ask. */
  readonly attended: boolean;
}

export interface HookDecision {
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  /** To be run in place of the command. */
  readonly command?: string;
}

/** Modes of Claude Code in which its own question reaches a person; of one that is not known here nothing is assumed. */
const ATTENDED = ["default", "plan", "acceptEdits"];

/** Throws `bad-json` for what is no PreToolUse call: it cannot be answered, only blocked. */
export function readHookCall(text: string): HookCall {
  const call = objectOf(parse(text));
  const { hook_event_name: event, tool_name: tool, cwd, permission_mode: mode } = call;
  if (event !== "PreToolUse") throw unreadable(`the event is ${JSON.stringify(event)}`);
  if (typeof tool !== "string" || tool === "") throw unreadable("there is no tool_name");
  if (typeof cwd !== "string" || !cwd.startsWith("/")) throw unreadable("cwd is no absolute path");
  const input = objectOf(call.tool_input);
  const attended = mode === undefined || ATTENDED.includes(String(mode));
  return { use: useOf(tool, input, cwd), cwd, input, attended };
}

function useOf(tool: string, input: HookCall["input"], cwd: string): HookUse {
  const text = (name: string): string => {
    const value = input[name];
    if (typeof value !== "string" || value === "") throw unreadable(`${tool} without ${name}`);
    return value;
  };
  const folder = () => quoted(input.path === undefined ? cwd : text("path"));
  const odd = unclear(tool, input);
  if (odd !== null) return { kind: "other", tool, why: odd };
  switch (tool) {
    case "Bash":
      return { kind: "command", command: text("command") };
    case "Read":
      return { kind: "file", path: text("file_path"), access: "read" };
    case "Edit":
    case "MultiEdit":
    case "Write":
      return { kind: "file", path: text("file_path"), access: "write" };
    case "NotebookEdit":
      return { kind: "file", path: text("notebook_path"), access: "write" };
    case "Glob":
      return { kind: "search", command: `find ${folder()}` };
    case "Grep":
      return { kind: "search", command: `grep -r x ${folder()}` };
    case "LS":
      return { kind: "search", command: `ls -- ${folder()}` };
    default:
      return { kind: "other", tool };
  }
}

/** Where each tool says which files it means: as a path, or as a pattern that may begin with one. */
const PLACES = ["file_path", "notebook_path", "path"] as const;

/**
 * What agents read as another path than stands there: they fill in a home folder, cut blanks off and compose characters,
 * each in its own way. Judged is only what has one reading. null: it has.
 */
function unclear(tool: string, input: HookCall["input"]): string | null {
  for (const name of PLACES) {
    const path = input[name];
    if (typeof path !== "string" || tool === "Bash") continue;
    const plain =
      path === path.trim() && path === path.normalize("NFC") && !/^~|[\0-\x1f\\]/.test(path);
    if (!plain) return `${JSON.stringify(path)} may be read as another path`;
  }
  return tool === "Glob" && leaves(input.pattern) ? "its pattern may lead out of the folder" : null;
}

/** Whether a pattern of file names may reach beyond its folder: from its beginning, by `..`, or by either spelled in a group. */
function leaves(pattern: unknown): boolean {
  if (typeof pattern !== "string") return false;
  const folders = pattern.slice(0, pattern.lastIndexOf("/") + 1);
  return (
    /^\s*(?:[/~]|[A-Za-z]:)|\.\.|\\/.test(pattern) ||
    /[{([][^})\]]*\//.test(pattern) ||
    (/[{([]/.test(folders) && folders.includes("."))
  );
}

/** The answer as JSON for standard output, with exit code 0. */
export function hookAnswer(agent: HookAgent, call: HookCall, given: HookDecision): string {
  return JSON.stringify(agent === "codex" ? forCodex(call, given) : forClaudeCode(call, given));
}

function forClaudeCode({ input, attended }: HookCall, given: HookDecision): object {
  const { decision, reason, command } = unasked(given, attended);
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: decision,
      permissionDecisionReason: reason,
      ...(command === undefined || decision === "deny"
        ? {}
        : { updatedInput: { ...input, command } }),
    },
  };
}

/**
 * Codex takes `deny`, and `allow` only with what is to run instead; anything else it calls a failed hook and goes on.
 * So a question is a refusal, and what passes is left to its own sandbox and approvals.
 */
function forCodex({ input }: HookCall, given: HookDecision): object {
  const { decision, reason, command } = unasked(given, false);
  if (decision !== "deny" && command === undefined) return {};
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      ...(decision === "deny"
        ? { permissionDecision: "deny", permissionDecisionReason: reason }
        : { permissionDecision: "allow", updatedInput: { ...input, command } }),
    },
  };
}

/** Where nobody can answer, a question is a refusal. */
function unasked(given: HookDecision, attended: boolean): HookDecision {
  if (given.decision !== "ask" || attended) return given;
  return {
    decision: "deny",
    reason: `a person would have to be asked, and here none is: ${given.reason} (the exec tool of recinto mcp waits for one)`,
  };
}

/** For any POSIX shell, zsh too. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw unreadable("it is no object");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable("it is no JSON");
  }
}

function unreadable(what: string): RecintoError {
  return new RecintoError("bad-json", `cannot judge what the agent handed over: ${what}`, {
    hint: "set it up as a PreToolUse hook: docs/integrations.md",
  });
}
