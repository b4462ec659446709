/** Resources of grants: which path patterns can be held, and whether one resource lies within another. */
import { coversPath, matches } from "../policy/globs.ts";
import { coversHostPattern } from "../policy/host-patterns.ts";
import { isWithin } from "../policy/paths.ts";
import type { Resource } from "./types.ts";

export type ParsedPath =
  | { readonly path: string; readonly refused?: undefined }
  | { readonly refused: string };

/** What a writer of a contract may mean as a wildcard, braces included. */
const WILD = /[*?[{]|[+@!]\(/;

/** A path or glob relative to the worktree, normalised; never one that leaves it. */
export function parsePathPattern(text: string): ParsedPath {
  if (/[\0-\x1f\x7f]/.test(text)) return { refused: "holds control characters" };
  if (text.startsWith("/")) return { refused: "is absolute: name it from the worktree down" };
  const kept: string[] = [];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length === 0 || WILD.test(kept.at(-1) ?? "")) {
      return { refused: "leaves the worktree: name something inside it" };
    } else kept.pop();
  }
  if (kept.length === 0) return { refused: "names the worktree itself: write ** for all of it" };
  if (text.endsWith("/")) return { refused: `names a folder: write ${kept.join("/")}/**` };
  return { path: kept.join("/") };
}

/** `dir/**`, `**` and single files: what the kernel can hold a command to. Others are refused with the nearest of these. */
export function parseWritePath(text: string): ParsedPath {
  const parsed = parsePathPattern(text);
  if (parsed.refused !== undefined) return parsed;
  const folder = folderOf(parsed.path);
  if (parsed.path === "**" || !WILD.test(folder ?? parsed.path)) return parsed;
  const parts = parsed.path.split("/");
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => WILD.test(part)),
  );
  const nearest = [...fixed, "**"].join("/");
  return {
    refused: `cannot be enforced for writing: name single files, or the folder: ${nearest}`,
  };
}

/** `dir` of `dir/**`, "" of `**`, null of anything else. */
export function folderOf(pattern: string): string | null {
  if (pattern === "**") return "";
  return pattern.endsWith("/**") ? pattern.slice(0, -3) : null;
}

/** Whether everything the narrow pattern names is surely named by the wide one. Both relative to the worktree. */
export function coversPathPattern(wide: string, narrow: string): boolean {
  const inside = folderOf(wide);
  if (inside === "" || wide === narrow) return true;
  const folder = folderOf(narrow);
  const at = folder ?? narrow;
  if (WILD.test(at)) return false;
  if (inside !== null && !WILD.test(inside)) return isWithin(at, inside);
  return folder === null && coversPath(wide, narrow);
}

export function coversCommand(wide: readonly string[], narrow: readonly string[]): boolean {
  return wide.length <= narrow.length && wide.every((word, i) => word === narrow[i]);
}

/** Whether an absolute path is named by one of the globs of a worktree. */
export function namesPath(globs: readonly string[], worktree: string, path: string): boolean {
  return globs.some((glob) =>
    absoluteGlobs([glob], worktree).some((each) => coversPath(each, path)),
  );
}

/**
 * Globs below the worktree as absolute ones. None for a worktree whose own name would be read as a wildcard: a grant
 * that reaches further than it says is worse than one that reaches nothing.
 */
export function absoluteGlobs(globs: readonly string[], worktree: string): readonly string[] {
  if (/[*?[]|[+@!]\(/.test(worktree)) return [];
  const base = worktree === "/" ? "" : worktree;
  return globs.map((glob) => `${base}/${glob}`);
}

/** What of a resource is not within another: one sentence, or null when all of it is. */
export function beyond(narrow: Resource, wide: Resource): string | null {
  const list = (all: readonly string[]) => all.join(", ") || "nothing of that kind";
  const path = narrow.paths.find((each) => !wide.paths.some((w) => coversPathPattern(w, each)));
  if (path !== undefined) return `the path ${path} is beyond ${list(wide.paths)}`;
  const host = narrow.hosts.find((each) => !wide.hosts.some((w) => coversHostPattern(w, each)));
  if (host !== undefined) return `the host ${host} is beyond ${list(wide.hosts)}`;
  const command =
    wide.commands.length === 0
      ? undefined
      : narrow.commands.find((each) => !wide.commands.some((w) => coversCommand(w, each)));
  if (command === undefined) return null;
  return `the command ${command.join(" ")} begins with none of ${list(wide.commands.map((c) => c.join(" ")))}`;
}

/** What of a resource G denies as a whole, one sentence, or null. A part of a folder is denied when it is used. */
export function deniedBy(resource: Resource, deny: Resource): string | null {
  const path = resource.paths.find((each) => deny.paths.some((glob) => deniesPath(glob, each)));
  if (path !== undefined) return `the contract denies the path ${path}`;
  const host = resource.hosts.find((each) => deny.hosts.some((d) => coversHostPattern(d, each)));
  if (host !== undefined) return `the contract denies the host ${host}`;
  const command = resource.commands.find((each) =>
    deny.commands.some((prefix) => coversCommand(prefix, each)),
  );
  return command === undefined ? null : `the contract denies the command ${command.join(" ")}`;
}

function deniesPath(glob: string, path: string): boolean {
  if (coversPathPattern(glob, path)) return true;
  // `**/secrets` denies the folder, and with it what is asked for below it.
  const folder = folderOf(path);
  return folder !== null && folder !== "" && matches(glob, folder);
}
