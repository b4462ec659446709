/** Which folders of a project are worktrees, and which one a name means. */
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { RecintoError } from "../errors.ts";
import { WORKTREE_LIST_DEPTH_MAX, WORKTREE_LIST_FOLDERS_MAX } from "../limits.ts";
import type { Project } from "./types.ts";

/** How many existing worktrees an error names. */
const NAMED_IN_ERRORS = 5;

/** Absolute paths of the folders that match the project's glob, sorted. Links are not folders. */
export function listWorktrees(project: Project): readonly string[] {
  if (project.worktrees === ".") return [project.root];
  const matches = matcherOf(project);
  const parts = project.worktrees.split("/");
  const depthMax = parts.includes("**") ? WORKTREE_LIST_DEPTH_MAX : parts.length;
  const found: string[] = [];
  let looked = 0;
  const look = (folder: string, depth: number): void => {
    for (const entry of foldersIn(folder)) {
      if (++looked > WORKTREE_LIST_FOLDERS_MAX) return;
      const path = join(folder, entry);
      if (matches(relative(project.root, path))) found.push(path);
      if (depth < depthMax && leads(parts, depth, entry)) look(path, depth + 1);
    }
  };
  look(project.root, 1);
  return found.sort();
}

/**
 * The absolute path of a worktree given by absolute path, by path below the root or by its last name where only one has
 * it. It matches the project's glob, exists, is a folder, and no link is on the way from the root. Throws
 * `unknown-worktree`.
 */
export function resolveWorktree(project: Project, nameOrPath: string): string {
  const direct = resolve(project.root, nameOrPath);
  if (isWorktree(project, direct)) return direct;
  const existing = listWorktrees(project);
  const named = existing.filter((path) => path.endsWith(`/${nameOrPath}`));
  const [only, second] = named;
  if (only !== undefined && second === undefined) return only;
  const asked = JSON.stringify(nameOrPath);
  if (named.length > 1) {
    throw new RecintoError("unknown-worktree", `${asked} names ${named.length} worktrees`, {
      hint: `name one by its path: ${some(named, project)}`,
    });
  }
  throw new RecintoError("unknown-worktree", `project ${project.id} has no worktree ${asked}`, {
    hint:
      existing.length === 0
        ? `make a folder that matches ${project.worktrees} below ${project.root}`
        : `there are: ${some(existing, project)}`,
  });
}

/** The worktree that a name means, as `resolveWorktree`; an absolute path may also be of something inside one. */
export function worktreeOf(project: Project, nameOrPath: string): string {
  const { root } = project;
  if (nameOrPath.startsWith("/")) {
    for (let at = resolve(nameOrPath); at.startsWith(`${root}/`) || at === root; at = dirname(at)) {
      if (isWorktree(project, at)) return at;
    }
  }
  return resolveWorktree(project, nameOrPath);
}

function isWorktree(project: Project, path: string): boolean {
  const below = relative(project.root, path);
  if (project.worktrees === ".") {
    if (below !== "") return false;
  } else if (below === "" || below.split("/")[0] === ".." || !matcherOf(project)(below)) {
    return false;
  }
  const parts = below.split("/").filter((part) => part !== "");
  return parts.every((_, index) => isFolder(join(project.root, ...parts.slice(0, index + 1))));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** By project object, which is another once its file changed: compiling a glob costs more than judging most commands. */
const matchers = new WeakMap<Project, (path: string) => boolean>();

function matcherOf(project: Project): (path: string) => boolean {
  const known = matchers.get(project);
  if (known !== undefined) return known;
  const made = makeMatcher(project);
  matchers.set(project, made);
  return made;
}

function makeMatcher(project: Project): (path: string) => boolean {
  const matches = picomatch(project.worktrees, { dot: true });
  // `trees/**` matches `trees` too, and that folder holds the worktrees: it is none.
  const holder = project.worktrees.replace(/(?:\/\*\*)+$/, "");
  return (path) => matches(path) && (path !== holder || holder === project.worktrees);
}

/** Whether a folder at this depth can be on the way to a match, so that `.worktrees/*` reads two folders and no more. */
function leads(parts: readonly string[], depth: number, name: string): boolean {
  const doubleStar = parts.indexOf("**");
  if (doubleStar !== -1 && depth > doubleStar) return true;
  const part = parts[depth - 1];
  return part !== undefined && picomatch.isMatch(name, part, { dot: true });
}

function some(paths: readonly string[], project: Project): string {
  const names = paths.slice(0, NAMED_IN_ERRORS).map((path) => relative(project.root, path) || ".");
  return names.join(", ") + (paths.length > NAMED_IN_ERRORS ? ", …" : "");
}
