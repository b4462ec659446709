/** The fallback by config: chokidar says where something moved, the same walk looks; slower, and larger in memory. */
import chokidar from "chokidar";
import { type BytePath, toBytePath } from "./byte-path.ts";
import { absolutePath, type FolderNode } from "./folder-node.ts";
import type { WorktreeWatcher } from "./types.ts";
import { type ChangeSource, type Changes, type WatcherOptions, watchWorktree } from "./watcher.ts";

export function watchWithChokidar(options: WatcherOptions): WorktreeWatcher {
  return watchWorktree(options, (changes, worktree) => chokidarSource(options, changes, worktree));
}

/** What chokidar does not report (FIFOs, modes, names that are not UTF-8) is found by the periodic scan of this mode. */
function chokidarSource(
  options: WatcherOptions,
  changes: Changes,
  worktree: BytePath,
): ChangeSource {
  const nodes = new Map<BytePath, FolderNode>();
  const watcher = chokidar.watch(options.worktree, {
    followSymlinks: false,
    ignoreInitial: true,
    persistent: true,
  });
  watcher.on("all", (_, path) => {
    const bytes = toBytePath(path);
    const slash = bytes.lastIndexOf("/");
    const folder = nodes.get(bytes.slice(0, slash) as BytePath);
    if (folder !== undefined) changes.changed(folder, bytes.slice(slash + 1) as BytePath);
    else if (bytes === worktree) changes.lookAtEverything();
  });
  watcher.on("error", () => changes.lookAtEverything());
  return {
    mode: "chokidar",
    ready: new Promise((resolve) => watcher.once("ready", () => resolve())),
    close: () => watcher.close(),
    attach(node) {
      const path = absolutePath(node, worktree);
      nodes.set(path, node);
      return () => {
        if (nodes.get(path) === node) nodes.delete(path);
      };
    },
  };
}
