/** What in a worktree counts as a hazard, and why. Pure: facts about one entry in, findings out. */
import { executingKeys } from "./git-config.ts";
import { isWithin, type Resolution } from "./resolve-path.ts";
import type { HazardKind } from "./types.ts";

/** What is wrong with one entry; the path is the entry's own. */
export interface Finding {
  readonly kind: HazardKind;
  readonly reason: string;
  /** For links: text and end, as in Hazard. */
  readonly target?: string;
  readonly resolved?: string | null;
}

export type EntryType = "file" | "folder" | "link" | "fifo" | "socket" | "device";

const SETUID = 0o4000;
const SETGID = 0o2000;
const GROUP_EXECUTE = 0o010;

/** A link that, followed as the sandbox would, stands outside the scope roots at its end or on its way. */
export function linkFinding(
  target: string,
  resolution: Resolution,
  roots: readonly string[],
): Finding | null {
  if (resolution.found === "loop") return null;
  if (!resolution.left && isWithin(resolution.path, roots)) return null;
  const resolved = resolution.found === "no" ? null : resolution.path;
  const chain = resolution.links > 1 ? ` through ${resolution.links - 1} more links` : "";
  return {
    kind: "escaping-link",
    reason: `the link leads out of the project${chain}, to ${resolution.path}`,
    target,
    resolved,
  };
}

/**
 * What the type, mode and name of an entry say by themselves. `mode` is needed for files only; `utf8`: the bytes of the
 * name are the text given.
 */
export function entryFindings(
  name: { readonly text: string; readonly utf8: boolean },
  type: EntryType,
  mode: number,
): readonly Finding[] {
  const findings: Finding[] = [];
  const odd = name.utf8 ? oddName(name.text) : "the name is not UTF-8 text";
  if (odd !== null) findings.push({ kind: "odd-name", reason: odd });
  if (type === "fifo") {
    findings.push({ kind: "fifo", reason: "a program on the host that opens this FIFO hangs" });
  } else if (type === "socket") {
    findings.push({
      kind: "socket",
      reason: "a program on the host that connects to this socket talks to the sandbox",
    });
  } else if (type === "device") {
    findings.push({ kind: "device", reason: "a device node reaches the machine's own devices" });
  } else if (type === "file" && (mode & SETUID) !== 0) {
    findings.push({ kind: "setuid", reason: "a setuid file runs as its owner, whoever starts it" });
  } else if (type === "file" && (mode & SETGID) !== 0 && (mode & GROUP_EXECUTE) !== 0) {
    findings.push({ kind: "setuid", reason: "a setgid file runs as its group, whoever starts it" });
  }
  return findings;
}

function oddName(name: string): string | null {
  const control = /[\0-\x1f\x7f-\x9f]/.exec(name);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(2, "0");
    return `the name holds a control character (0x${code}) that terminals and line-based tools act on`;
  }
  const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.exec(name);
  if (hidden === null) return null;
  const code = hidden[0].charCodeAt(0).toString(16).toUpperCase();
  return `the name holds U+${code}, which does not show or turns the text around`;
}

/** What is known about a nested repository. null texts: no such file. */
export interface GitFolderFacts {
  /** Texts of `config` and `config.worktree`; "unreadable" for a link or an over-long file. */
  readonly configs: readonly (string | { readonly unreadable: string })[];
  /** Names in `hooks/` that git would run. */
  readonly hooks: readonly string[];
}

/** A repository inside the worktree whose config or hooks run programs when someone uses git there on the host. */
export function nestedGitFinding({ configs, hooks }: GitFolderFacts): Finding | null {
  const says: string[] = [];
  for (const config of configs) {
    if (typeof config === "string") says.push(...executingKeys(config));
    else says.push(config.unreadable);
  }
  if (hooks.length > 0) says.push(`hooks ${hooks.join(", ")}`);
  if (says.length === 0) return null;
  return {
    kind: "nested-git",
    reason: `git on the host would run what this repository says: ${says.slice(0, 8).join(", ")}`,
  };
}

/** A nested `.git` file that points out of the project: what it points to decides what git on the host runs. */
export function gitPointerFinding(
  pointer: string,
  resolution: Resolution,
  roots: readonly string[],
): Finding | null {
  if (!resolution.left && isWithin(resolution.path, roots)) return null;
  return {
    kind: "nested-git",
    reason: `this .git file points out of the project, to ${pointer}`,
    target: pointer,
    resolved: resolution.found === "no" || resolution.found === "loop" ? null : resolution.path,
  };
}

const HOOK_NAMES =
  /^(?:applypatch-msg|commit-msg|fsmonitor-watchman|p4-.*|post-.*|pre-.*|prepare-commit-msg|proc-receive|push-to-checkout|reference-transaction|sendemail-validate|update)$/;

/** Whether git runs a file of this name in `hooks/`. */
export function isHook(name: string): boolean {
  return HOOK_NAMES.test(name) && !name.endsWith(".sample");
}
