/** Watches one worktree for hazards: a walk, one notification per folder, and a look at whatever moves. */
import { closeSync, type FSWatcher, watch } from "node:fs";
import { RecintoError } from "../errors.ts";
import { WATCH_SCAN_INTERVAL_MS, WATCH_SETTLE_MS, WATCH_SLICE_MS } from "../limits.ts";
import { type BytePath, toBytePath } from "./byte-path.ts";
import { createEntryInspector } from "./entry-inspector.ts";
import type { FolderNode } from "./folder-node.ts";
import { createFolderTree, everyFolder, type FolderNotifier } from "./folder-tree.ts";
import { createHazardBook } from "./hazard-book.ts";
import { openRoot } from "./safe-open.ts";
import type { Hazard, WatcherStatus, WorktreeWatcher } from "./types.ts";
import { processEventBurst, readWatchQuota } from "./watch-quota.ts";

export interface WatcherOptions {
  /** Absolute, real. */
  readonly worktree: string;
  /** Scope roots: what a link may lead to. Absolute, real; one of them holds the worktree. */
  readonly roots: readonly string[];
  readonly now: () => number;
  readonly onFound: (hazard: Hazard) => void;
  readonly onGone: (hazard: Hazard) => void;
  /** Called for every entry that is seen or changes, however often; `path` is absolute. Must be quick. */
  readonly onEntry?: (path: BytePath, name: BytePath) => void;
  /** Called when it stops or starts again to see everything at once: the reason, or null. */
  readonly onDegraded?: (reason: string | null) => void;
}

/** What a source of notifications may tell the watcher. */
export interface Changes {
  /** `name` in the folder changed; null: something did. */
  changed(node: FolderNode, name: BytePath | null): void;
  /** The folder itself was deleted or moved away from its name. */
  moved(node: FolderNode): void;
  /** The notification of this folder broke. */
  deaf(node: FolderNode): void;
  lookAtEverything(): void;
}

export interface ChangeSource extends FolderNotifier {
  readonly mode: "watch" | "chokidar";
  /** Resolves once changes are heard. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Above this many changed names a folder is listed anew. High, or one filled file by file would be listed all the time. */
const NAMES_MAX = 1_024;

/** Looks one after another until nothing is new; whoever makes files all the time is not waited for. */
const SETTLE_ROUNDS_MAX = 200;

/** Throws `worktree-refused` when the worktree cannot be opened without following a link. */
export function watchWorktree(
  options: WatcherOptions,
  makeSource: (changes: Changes, worktree: BytePath) => ChangeSource = folderWatches,
): WorktreeWatcher {
  const worktree = toBytePath(options.worktree);
  let rootFd = mustOpen(options.worktree);
  const book = createHazardBook(options);
  const inspector = createEntryInspector({ ...options, rootFd: () => rootFd, worktree, book });
  const toScan: FolderNode[] = [];
  const toScanAgain = new Set<FolderNode>();
  const changed = new Map<FolderNode, Set<BytePath> | "all">();
  let timer: NodeJS.Timeout | null = null;
  let timerDueAt = 0;
  let running = false;
  let closed = false;
  let isReady = false;
  let rootLost = false;
  let lastDegraded: string | null = null;
  let linksPassEndedAt = 0;
  let linksPassMs = 0;

  const changes: Changes = {
    changed(node, name) {
      if (closed || node.closed) return;
      const names = changed.get(node);
      if (name === null || (names instanceof Set && names.size >= NAMES_MAX)) {
        changed.set(node, "all");
      } else if (names === undefined) changed.set(node, new Set([name]));
      else if (names !== "all") names.add(name);
      schedule(WATCH_SETTLE_MS);
    },
    moved(node) {
      node.stale = true;
      if (node.parent !== null) changes.changed(node.parent, node.name);
      else {
        rootLost = true;
        schedule(WATCH_SETTLE_MS);
      }
    },
    deaf(node) {
      tree.silence(node);
      changes.changed(node, null);
    },
    lookAtEverything() {
      for (const node of everyFolder(tree)) changes.changed(node, null);
    },
  };
  const source = makeSource(changes, worktree);
  const tree = createFolderTree({
    worktree,
    linked: options.roots.some((root) => options.worktree.startsWith(`${root}/`)),
    rootFd: () => rootFd,
    inspector,
    notifier: source,
  });
  const unsubscribe = processEventBurst.subscribe(() => changes.lookAtEverything());

  function schedule(delayMs: number): void {
    const dueAt = performance.now() + delayMs;
    if (running || closed || (timer !== null && timerDueAt <= dueAt)) return;
    if (timer !== null) clearTimeout(timer);
    timerDueAt = dueAt;
    timer = setTimeout(() => {
      timer = null;
      void pump();
    }, delayMs);
  }

  /** Does what there is to do, in slices, until there is nothing more. One at a time. */
  async function pump(): Promise<void> {
    if (running || closed) return;
    running = true;
    let sliceEnd = performance.now() + WATCH_SLICE_MS;
    for (const _ of work()) {
      if (performance.now() < sliceEnd) continue;
      await new Promise((resume) => setImmediate(resume));
      if (closed) break;
      sliceEnd = performance.now() + WATCH_SLICE_MS;
    }
    running = false;
    if (closed) return;
    if (!rootLost) isReady = true;
    reportDegraded();
    if (changed.size > 0) schedule(WATCH_SETTLE_MS);
    else if (inspector.linksChanged) schedule(linksPassMs * 10);
    else if (needsScans()) scheduleScan();
  }

  /** New folders first, then names that changed, then folders to be listed again: news does not wait for routine. */
  function* work(): Generator<void> {
    if (rootLost) reopenRoot();
    const later = (node: FolderNode) => toScan.push(node);
    for (;;) {
      const fresh = toScan.pop();
      const [change] = changed;
      const [again] = toScanAgain;
      if (fresh !== undefined) yield* tree.scan(fresh, later);
      else if (change !== undefined) {
        const [node, names] = change;
        changed.delete(node);
        if (names === "all") toScanAgain.add(node);
        else yield* tree.look(node, names, later);
        if (changed.size === 0) yield* judgeLinksWhenDue();
      } else if (again !== undefined) {
        toScanAgain.delete(again);
        yield* tree.scan(again, later);
      } else break;
      yield;
    }
    yield* judgeLinksWhenDue();
  }

  /** Other links may lead elsewhere now. All are judged, but for no more than a tenth of the time. */
  function* judgeLinksWhenDue(): Generator<void> {
    const startedAt = performance.now();
    if (!inspector.linksChanged || startedAt - linksPassEndedAt < linksPassMs * 10) return;
    yield* inspector.judgeLinks();
    linksPassEndedAt = performance.now();
    linksPassMs = linksPassEndedAt - startedAt;
  }

  function reopenRoot(): void {
    const reopened = openRoot(options.worktree);
    if (reopened.fd === undefined) return;
    closeSync(rootFd);
    rootFd = reopened.fd;
    rootLost = false;
    tree.drop(tree.root);
    Object.assign(tree.root, { closed: false, stale: false });
    toScan.push(tree.root);
  }

  const needsScans = () => rootLost || tree.unwatched().length > 0 || source.mode === "chokidar";

  let scanTimer: NodeJS.Timeout | null = null;
  let scanMs = 0;
  function scheduleScan(): void {
    if (scanTimer !== null || closed) return;
    scanTimer = setTimeout(
      async () => {
        scanTimer = null;
        const startedAt = performance.now();
        lookAtWhatIsNotHeard();
        await pump();
        scanMs = performance.now() - startedAt;
        if (needsScans()) scheduleScan();
      },
      Math.max(WATCH_SCAN_INTERVAL_MS, scanMs * 10),
    );
  }

  function lookAtWhatIsNotHeard(): void {
    if (source.mode === "chokidar") changes.lookAtEverything();
    for (const node of tree.unwatched()) changes.changed(node, null);
  }

  function degraded(): string | null {
    if (rootLost) return "the worktree is gone or replaced: nothing is watched until it is back";
    const unwatched = tree.unwatched().length;
    const seconds = WATCH_SCAN_INTERVAL_MS / 1000;
    if (source.mode === "watch" && unwatched > 0) {
      return `${unwatched} of ${tree.folders} folders are scanned every ${seconds} s, not watched: the kernel gives no more inotify watches (fs.inotify.max_user_watches is ${readWatchQuota().watchesMax})`;
    }
    if (tree.blind > 0) return `${tree.blind} folders cannot be looked into or are too many`;
    if (book.dropped > 0) return `${book.dropped} hazards more than can be kept`;
    return null;
  }

  function reportDegraded(): void {
    const reason = degraded();
    if ((reason === null) !== (lastDegraded === null)) options.onDegraded?.(reason);
    lastDegraded = reason;
  }

  toScan.push(tree.root);
  // Links and folders first: files' modes would double the time until everything is watched.
  const ready = source.ready.then(pump).then(() => {
    inspector.lookAtModes();
    changes.lookAtEverything();
  });

  return {
    ready,
    hazards: () => book.all(),
    status(): WatcherStatus {
      const mode = source.mode === "watch" && tree.unwatched().length > 0 ? "scan" : source.mode;
      const { folders, watches } = tree;
      return { mode, ready: isReady, folders, watches, degraded: degraded() };
    },
    async settled() {
      for (let round = 0; round < SETTLE_ROUNDS_MAX && !closed; round++) {
        // The kernel's news is read between two turns of the loop.
        await new Promise((resume) => setImmediate(resume));
        await new Promise((resume) => setImmediate(resume));
        if (round === 0 && needsScans()) lookAtWhatIsNotHeard();
        if (running) continue;
        if (changed.size === 0 && toScan.length === 0 && toScanAgain.size === 0) return;
        if (timer !== null) clearTimeout(timer);
        timer = null;
        await pump();
      }
    },
    async close() {
      closed = true;
      unsubscribe();
      if (timer !== null) clearTimeout(timer);
      if (scanTimer !== null) clearTimeout(scanTimer);
      for (const node of everyFolder(tree)) node.unwatch?.();
      await source.close();
      closeSync(rootFd);
    },
  };
}

/** One inotify watch for each folder. */
function folderWatches({ changed, moved, deaf }: Changes): ChangeSource {
  return {
    mode: "watch",
    ready: Promise.resolve(),
    close: async () => undefined,
    attach(node, handle) {
      let watcher: FSWatcher;
      try {
        // Through the open handle, so that a folder swapped for a link is not what gets watched. The dot makes libuv
        // report what happens to the folder itself under a name that no entry can have.
        watcher = watch(`${handle}/.`, { encoding: "latin1" as BufferEncoding });
      } catch {
        return null;
      }
      watcher.on("change", (event, name) => {
        processEventBurst.note();
        if (name === ".") {
          if (event === "rename") moved(node);
        } else changed(node, name as BytePath | null);
      });
      watcher.on("error", () => {
        watcher.close();
        deaf(node);
      });
      return () => watcher.close();
    },
  };
}

function mustOpen(worktree: string): number {
  const root = openRoot(worktree);
  if (root.fd !== undefined) return root.fd;
  throw new RecintoError("worktree-refused", `${worktree} cannot be opened (${root.errno})`, {
    hint: "name the real folder of the worktree: no part of its path may be a link",
  });
}
