/** The watcher's memory of a worktree: its folders, and of what they hold only the entries worth a second look. */
import { type BytePath, joinBytes } from "./byte-path.ts";

export interface FolderNode {
  readonly name: BytePath;
  readonly parent: FolderNode | null;
  /** Made when needed: most folders have none, and there may be very many. */
  children: Map<BytePath, FolderNode> | null;
  /** Names of entries that are links or have findings. */
  marked: Set<BytePath> | null;
  /** Stops the notification; null: nobody tells us about this folder. */
  unwatch: (() => void) | null;
  /** Its own folder was deleted or moved: what stands under its name now is another one. */
  stale: boolean;
  /** It is no longer part of the tree; events that still arrive for it mean nothing. */
  closed: boolean;
}

export function createNode(name: BytePath, parent: FolderNode | null): FolderNode {
  return {
    name,
    parent,
    children: null,
    marked: null,
    unwatch: null,
    stale: false,
    closed: false,
  };
}

/** Path below the worktree; "" for the worktree itself. */
export function relativePath(node: FolderNode): BytePath {
  if (node.parent === null) return "" as BytePath;
  const above = relativePath(node.parent);
  return (above === "" ? node.name : `${above}/${node.name}`) as BytePath;
}

export function absolutePath(node: FolderNode, worktree: BytePath): BytePath {
  return node.parent === null
    ? worktree
    : joinBytes(absolutePath(node.parent, worktree), node.name);
}

/** The node and everything below it, folders before what they hold. */
export function* subtree(node: FolderNode): Generator<FolderNode> {
  yield node;
  for (const child of node.children?.values() ?? []) yield* subtree(child);
}
