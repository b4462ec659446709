/** Walks a worktree, folder by folder, and keeps its memory of it true: each folder listened to before it is listed. */
import { closeSync, type Dirent, readdirSync } from "node:fs";
import { WATCH_FOLDERS_MAX } from "../limits.ts";
import type { BytePath } from "./byte-path.ts";
import type { EntryInspector } from "./entry-inspector.ts";
import { absolutePath, createNode, type FolderNode, relativePath, subtree } from "./folder-node.ts";
import { GIT_FILES } from "./git-folder.ts";
import { openFolder } from "./safe-open.ts";

/** How the tree hears of changes in one folder. */
export interface FolderNotifier {
  /**
   * Listens to the folder that is open under `handle` from now on; null when it cannot. Called again for a folder whose
   * first try failed.
   */
  attach(node: FolderNode, handle: string): (() => void) | null;
}

export interface FolderTree {
  readonly root: FolderNode;
  readonly folders: number;
  readonly watches: number;
  /** Folders that could not be opened, or are beyond WATCH_FOLDERS_MAX. */
  readonly blind: number;
  /** Lists the folder and enters what it holds; new folders in it go to `later`. Yields between pieces of work. */
  scan(node: FolderNode, later: (node: FolderNode) => void): Generator<void>;
  /** Looks at single names in a folder. */
  look(
    node: FolderNode,
    names: ReadonlySet<BytePath>,
    later: (node: FolderNode) => void,
  ): Generator<void>;
  /** Drops a folder and everything below it. */
  drop(node: FolderNode): void;
  /** Its notification broke; the next scan tries again. */
  silence(node: FolderNode): void;
  unwatched(): readonly FolderNode[];
}

/** Entries looked at between two chances for other work. */
const ENTRIES_AT_ONCE = 128;

export function createFolderTree(options: {
  readonly worktree: BytePath;
  /** The worktree lies below the project's root, and is not that root. */
  readonly linked: boolean;
  readonly rootFd: () => number;
  readonly inspector: EntryInspector;
  readonly notifier: FolderNotifier;
}): FolderTree {
  const { worktree, inspector, notifier } = options;
  const root = createNode("" as BytePath, null);
  const unwatched = new Set<FolderNode>();
  const blind = new Set<FolderNode>();
  let folders = 1;
  let watches = 0;

  function drop(node: FolderNode): void {
    const path = absolutePath(node, worktree);
    for (const name of node.marked ?? []) inspector.forget(`${path}/${name}` as BytePath);
    for (const child of node.children?.values() ?? []) drop(child);
    inspector.forgetGitFolder(path);
    node.marked = node.children = null;
    node.closed = true;
    unwatched.delete(node);
    blind.delete(node);
    if (node.unwatch !== null) watches -= 1;
    node.unwatch?.();
    node.unwatch = null;
    if (node.parent === null) return;
    node.parent.children?.delete(node.name);
    folders -= 1;
  }

  /** The handle of a folder, for as long as `use` runs; a folder that is gone is dropped. */
  function* opened(node: FolderNode, use: (handle: string) => Generator<void>): Generator<void> {
    const folder = openFolder(options.rootFd(), relativePath(node));
    if (folder.fd === undefined) {
      // Gone, or no folder any more: its parent's event says what stands there now.
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(folder.errno) && node !== root) drop(node);
      else blind.add(node);
      return;
    }
    blind.delete(node);
    try {
      yield* use(`/proc/self/fd/${folder.fd}`);
    } catch {
      // A folder that cannot be listed is counted, so that nobody takes silence for a clean tree.
      blind.add(node);
    } finally {
      closeSync(folder.fd);
    }
  }

  function listen(node: FolderNode, handle: string): void {
    if (node.unwatch !== null) return;
    node.unwatch = notifier.attach(node, handle);
    if (node.unwatch === null) unwatched.add(node);
    else {
      unwatched.delete(node);
      watches += 1;
    }
  }

  function enter(
    node: FolderNode,
    folder: BytePath,
    handle: string,
    name: BytePath,
    known: Dirent | undefined,
    later: (node: FolderNode) => void,
  ): void {
    const { type, marked } = inspector.inspect(folder, handle, name, known);
    if (marked) {
      node.marked ??= new Set();
      node.marked.add(name);
    } else node.marked?.delete(name);
    const child = node.children?.get(name);
    if (child !== undefined && (type !== "folder" || child.stale)) drop(child);
    if (type !== "folder" || (child !== undefined && !child.closed)) return;
    const added = createNode(name, node);
    if (folders >= WATCH_FOLDERS_MAX) {
      blind.add(node);
      return;
    }
    node.children ??= new Map();
    node.children.set(name, added);
    folders += 1;
    later(added);
  }

  /**
   * A `.git` folder at the top is the owner's repository, which runs what the owner configured, unless the worktree is
   * one of several: git makes a `.git` file there, and a folder in its place is someone else's work.
   */
  function judgeAsGitFolder(node: FolderNode, path: BytePath, names: ReadonlySet<string>): void {
    for (let at = node; at.parent !== null && !options.linked; at = at.parent) {
      if (at.name === ".git" && at.parent === root) return;
    }
    if (node !== root) inspector.inspectGitFolder(path, node.name === ".git", names);
  }

  /** A repository's hooks lie in a folder of their own. */
  function judgeWhatHooksBelongTo(node: FolderNode): void {
    const { parent } = node;
    if (node.name !== "hooks" || parent === null || parent.children === null) return;
    const names = new Set<string>(parent.children.keys()).add("HEAD");
    judgeAsGitFolder(parent, absolutePath(parent, worktree), names);
  }

  function namesIn(handle: string): ReadonlySet<string> {
    return new Set(readdirSync(handle, { encoding: "latin1" }));
  }

  return {
    root,
    get folders() {
      return folders;
    },
    get watches() {
      return watches;
    },
    get blind() {
      return blind.size;
    },
    drop,
    silence(node) {
      if (node.unwatch === null) return;
      node.unwatch = null;
      watches -= 1;
      unwatched.add(node);
    },
    unwatched: () => [...unwatched],
    *scan(node, later) {
      if (node.closed) return;
      yield* opened(node, function* (handle) {
        listen(node, handle);
        const path = absolutePath(node, worktree);
        const entries = readdirSync(handle, { encoding: "latin1", withFileTypes: true });
        const names = new Set<string>();
        for (const [index, entry] of entries.entries()) {
          names.add(entry.name);
          enter(node, path, handle, entry.name as BytePath, entry, later);
          if (index % ENTRIES_AT_ONCE !== ENTRIES_AT_ONCE - 1) continue;
          yield;
          if (node.closed) return;
        }
        for (const name of [...(node.marked ?? []), ...(node.children?.keys() ?? [])]) {
          if (!names.has(name)) enter(node, path, handle, name, undefined, later);
        }
        judgeAsGitFolder(node, path, names);
        judgeWhatHooksBelongTo(node);
      });
    },
    *look(node, names, later) {
      if (node.closed) return;
      yield* opened(node, function* (handle) {
        const path = absolutePath(node, worktree);
        let looked = 0;
        for (const name of names) {
          enter(node, path, handle, name, undefined, later);
          looked += 1;
          if (looked % ENTRIES_AT_ONCE !== 0) continue;
          yield;
          if (node.closed) return;
        }
        if ([...names].some((name) => GIT_FILES.has(name))) {
          judgeAsGitFolder(node, path, namesIn(handle));
        }
        judgeWhatHooksBelongTo(node);
      });
    },
  };
}

export function everyFolder(tree: FolderTree): readonly FolderNode[] {
  return [...subtree(tree.root)];
}
