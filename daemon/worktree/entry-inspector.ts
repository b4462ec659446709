/** Looks at one entry of a worktree and enters what is wrong with it into the hazard book. */
import { type Dirent, lstatSync, readlinkSync, type Stats } from "node:fs";
import {
  type BytePath,
  fromBytePath,
  isUtf8,
  joinBytes,
  sysPath,
  toBytePath,
} from "./byte-path.ts";
import { gitLayout } from "./git-dir.ts";
import { looksLikeGitFolder, readGitFolder, readGitPointer } from "./git-folder.ts";
import type { HazardBook } from "./hazard-book.ts";
import {
  type EntryType,
  entryFindings,
  type Finding,
  gitPointerFinding,
  linkFinding,
  nestedGitFinding,
} from "./hazard-rules.ts";
import { cachedLook } from "./real-paths.ts";
import { type Look, resolvePath } from "./resolve-path.ts";

export interface EntryInspector {
  /**
   * Looks at `name` in the folder at `folder` (absolute), which is open under `handle` (`/proc/self/fd/N`), so that the
   * look cannot be led elsewhere. Returns its type (null: gone) and whether it must be remembered.
   */
  inspect(
    folder: BytePath,
    handle: string,
    name: BytePath,
    known?: Dirent,
  ): { readonly type: EntryType | null; readonly marked: boolean };
  /** Forgets an entry and what was wrong with it. */
  forget(path: BytePath): void;
  /** Judges the folder at `path` as a git folder; `names` are its entries. */
  inspectGitFolder(path: BytePath, named: boolean, names: ReadonlySet<string>): void;
  forgetGitFolder(path: BytePath): void;
  /** Judges every known link again: one that was made or removed may have changed where others lead. */
  judgeLinks(): Generator<void>;
  /** From now on the modes of listed files are looked at too: one more system call for each file. */
  lookAtModes(): void;
  /** Links were made, changed or removed since `judgeLinks` began last. */
  readonly linksChanged: boolean;
}

/** Links judged between two chances for other work. */
const LINKS_AT_ONCE = 64;

export function createEntryInspector(options: {
  readonly rootFd: () => number;
  readonly worktree: BytePath;
  readonly roots: readonly string[];
  readonly book: HazardBook;
  readonly onEntry?: (path: BytePath, name: BytePath) => void;
}): EntryInspector {
  const { worktree, book } = options;
  const roots = options.roots.map(toBytePath);
  const links = new Map<BytePath, BytePath>();
  let linksChanged = false;
  let modes = false;

  const below = (path: BytePath) => path.slice(worktree.length + 1) as BytePath;

  /** The folder of a link that was just seen is a real one, so only what the link says needs to be followed. */
  function judgeLink(path: BytePath, target: BytePath, look: Look): Finding | null {
    const start = target.startsWith("/")
      ? target
      : `${path.slice(0, path.lastIndexOf("/"))}/${target}`;
    const resolution = resolvePath(start, roots, look);
    const finding = linkFinding(target, { ...resolution, links: resolution.links + 1 }, roots);
    return finding === null ? null : spelledOut(finding);
  }

  function pointerFinding(folder: BytePath, path: BytePath): Finding | null {
    const pointer = readGitPointer(options.rootFd(), below(path));
    if (pointer === null) return null;
    const target = pointer.startsWith("/") ? pointer : joinBytes(folder, pointer);
    const finding = gitPointerFinding(pointer, resolvePath(target, roots, cachedLook()), roots);
    return finding === null ? null : spelledOut(finding);
  }

  /** The next plain `git status` of a person on the host believes the worktree's own `.git`. */
  function ownPointerFinding(): Finding | null {
    const layout = gitLayout(fromBytePath(worktree));
    return layout.kind === "untrusted" ? { kind: "nested-git", reason: layout.reason } : null;
  }

  function forget(path: BytePath): void {
    if (links.delete(path)) linksChanged = true;
    book.set(path, "entry", []);
  }

  return {
    forget,
    lookAtModes() {
      modes = true;
    },
    forgetGitFolder: (path) => book.set(path, "content", []),
    get linksChanged() {
      return linksChanged;
    },
    inspect(folder, handle, name, known) {
      const path = joinBytes(folder, name);
      options.onEntry?.(path, name);
      const at = sysPath(`${handle}/${name}` as BytePath);
      // Only a file's mode can be a hazard; the type of all else came with the folder's listing.
      const enough = known !== undefined && !(modes && known.isFile());
      const entry = enough ? known : lstat(at);
      const target = entry?.isSymbolicLink() ? readlink(at) : null;
      if (entry === null || (entry.isSymbolicLink() && target === null)) {
        forget(path);
        return { type: null, marked: false };
      }
      const type = typeOf(entry);
      const findings = [...entryFindings(nameOf(path), type, "mode" in entry ? entry.mode : 0)];
      if (target !== null) {
        if (links.get(path) !== target) linksChanged = true;
        links.set(path, target);
        const escaping = judgeLink(path, target, cachedLook());
        if (escaping !== null) findings.push(escaping);
      } else if (links.delete(path)) linksChanged = true;
      if (name === ".git" && type !== "folder") {
        const pointer = folder === worktree ? ownPointerFinding() : pointerFinding(folder, path);
        if (pointer !== null) findings.push(pointer);
      }
      book.set(path, "entry", findings);
      return { type, marked: target !== null || findings.length > 0 };
    },
    inspectGitFolder(path, named, names) {
      const is = named || looksLikeGitFolder(names);
      const finding = is ? nestedGitFinding(readGitFolder(options.rootFd(), below(path))) : null;
      book.set(path, "content", finding === null ? [] : [finding]);
    },
    *judgeLinks() {
      linksChanged = false;
      let look = cachedLook();
      let judged = 0;
      for (const [path, target] of [...links]) {
        // Removed or changed meanwhile: its own event has seen to it.
        if (links.get(path) !== target) continue;
        const finding = judgeLink(path, target, look);
        const others = entryFindings(nameOf(path), "link", 0);
        book.set(path, "entry", finding === null ? others : [...others, finding]);
        judged += 1;
        if (judged % LINKS_AT_ONCE !== 0) continue;
        yield;
        look = cachedLook();
      }
    },
  };
}

function nameOf(path: BytePath): { readonly text: string; readonly utf8: boolean } {
  const name = path.slice(path.lastIndexOf("/") + 1) as BytePath;
  return { text: fromBytePath(name), utf8: isUtf8(name) };
}

function typeOf(entry: Dirent | Stats): EntryType {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  return entry.isFile() ? "file" : "device";
}

/** A hazard is shown to people and programs: its paths as text. */
function spelledOut(finding: Finding): Finding {
  const { target, resolved } = finding;
  return {
    ...finding,
    reason: fromBytePath(finding.reason as BytePath),
    ...(target !== undefined && { target: fromBytePath(target as BytePath) }),
    ...(typeof resolved === "string" && { resolved: fromBytePath(resolved as BytePath) }),
  };
}

function lstat(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function readlink(path: string | Buffer): BytePath | null {
  try {
    return readlinkSync(path, "latin1") as BytePath;
  } catch {
    return null;
  }
}
