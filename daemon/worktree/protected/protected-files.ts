/** The daemon's own copies of a worktree's protected files: what changed since, and how it was. */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  ASIDE_BYTES_MAX,
  ASIDE_KEPT_MAX,
  PROTECTED_DEPTH_MAX,
  PROTECTED_FILES_MAX,
} from "../../limits.ts";
import { isProtectedFile, isProtectedFolder, protectedName } from "../../policy/protected-names.ts";
import { type BytePath, fromBytePath, toBytePath } from "../byte-path.ts";
import { blobName } from "../private-git/trusted-tree.ts";
import { openFolder, openRoot } from "../safe-open.ts";
import { contentOf, type FileState, hashOf, stateOf } from "./file-state.ts";
import { type Owner, putAside, putBackFile, putBackLink } from "./put-back.ts";

/** As the owner left it. */
export type Kept =
  | (Owner & {
      readonly kind: "file";
      readonly stamp: string;
      /** null: longer than is kept. */
      readonly hash: string | null;
      readonly mode: number;
    })
  | { readonly kind: "link"; readonly stamp: string; readonly target: string };

export interface Difference {
  /** Below the worktree. */
  readonly path: BytePath;
  readonly kept: Kept | null;
  readonly now: FileState;
}

export interface Restored {
  /** Below the worktree, as text. */
  readonly path: string;
  readonly change: "new" | "changed" | "removed";
  /** Name among what was put aside; null: nothing to keep, or more than is kept. */
  readonly aside: string | null;
  /** false: its copy was too long to keep, or somebody was faster each time. */
  readonly restored: boolean;
}

export interface ProtectedOptions {
  /** Absolute, real. */
  readonly worktree: string;
  /** Folder of the daemon's alone for this worktree's copies. */
  readonly home: string;
  /** Globs of the profile, and what the host's git config names. */
  readonly extra: readonly string[];
  readonly owner: Owner;
}

const INDEX = "index.json";
/** Of a nested repository only what a git on the host would go by. */
const GIT_FOLDER = /(?:^|\/)\.git\/(?:config|config\.worktree|commondir|gitdir|hooks(?:\/|$))/i;

export class ProtectedFiles {
  readonly #options: ProtectedOptions;
  readonly #kept = new Map<BytePath, Kept>();
  readonly #candidates = new Set<BytePath>();
  /** A folder of this name is the owner's repository, which is mounted over. */
  #ownGit = false;
  #stored: boolean;

  constructor(options: ProtectedOptions) {
    this.#options = options;
    mkdirSync(join(options.home, "copies"), { recursive: true, mode: 0o700 });
    this.#stored = this.#load();
  }

  /** It was looked at before, in this life of the daemon or an earlier one. */
  get known(): boolean {
    return this.#stored;
  }

  /** Whether an entry with this name, below the worktree, has to be compared; cheap, for every name of a large tree. */
  concerns(path: BytePath, name: BytePath): boolean {
    const text = fromBytePath(name);
    if (isProtectedFile(text) || isProtectedFolder(text)) return true;
    const { extra } = this.#options;
    return extra.length > 0 && protectedName(`/${fromBytePath(path)}`, false, extra, "") !== null;
  }

  /** Something of that name was seen; what it is says the next comparison. */
  note(path: BytePath): void {
    if (!this.#kept.has(path) && this.#candidates.size < PROTECTED_FILES_MAX) {
      this.#candidates.add(path);
    }
  }

  /** Everything that is not as it was kept. A file that was only touched is as it was. */
  differences(): readonly Difference[] {
    const found: Difference[] = [];
    this.#inRoot((rootFd) => {
      for (const [path, kept] of this.#kept) {
        const now = stateOf(rootFd, path);
        if ("stamp" in now && now.stamp === kept.stamp) continue;
        const stamp = sameAs(rootFd, path, kept, now);
        if (stamp === null) found.push({ path, kept, now });
        else this.#kept.set(path, { ...kept, stamp });
      }
      for (const path of this.#newPaths(rootFd)) {
        const now = stateOf(rootFd, path);
        if (now.kind !== "absent") found.push({ path, kept: null, now });
      }
    });
    return found;
  }

  /** What stands there now is what is kept from here on. */
  accept(differences: readonly Difference[]): void {
    this.#inRoot((rootFd) => {
      if (!this.#stored) {
        this.#ownGit = stateOf(rootFd, ".git" as BytePath).kind === "folder";
      }
      for (const { path } of differences) this.#take(rootFd, path);
    });
    this.#stored = true;
    this.#save();
  }

  /** Puts what stands there aside and the kept copy back. */
  restore(differences: readonly Difference[]): readonly Restored[] {
    const { home, owner } = this.#options;
    const asideDir = join(home, "aside");
    const restored: Restored[] = [];
    this.#inRoot((rootFd) => {
      for (const { path, kept, now } of differences) {
        const aside = now.kind === "absent" ? null : putAside(rootFd, path, asideDir, owner);
        const stamp = kept === null ? null : this.#putBack(rootFd, path, kept, asideDir);
        if (kept !== null && stamp !== null) this.#kept.set(path, { ...kept, stamp });
        const change = kept === null ? "new" : now.kind === "absent" ? "removed" : "changed";
        restored.push({
          path: fromBytePath(path),
          change,
          aside,
          restored: kept === null || stamp !== null,
        });
      }
    });
    this.#save();
    this.#pruneAside(asideDir);
    return restored;
  }

  /** The stamp of what stands there then; null: it could not be put back. */
  #putBack(rootFd: number, path: BytePath, kept: Kept, asideDir: string): string | null {
    if (kept.kind === "link") {
      return putBackLink(rootFd, path, kept.target, this.#options.owner, asideDir);
    }
    if (kept.hash === null) return null;
    return putBackFile(rootFd, path, readFileSync(this.#copy(kept.hash)), kept, asideDir);
  }

  #take(rootFd: number, path: BytePath): void {
    const now = stateOf(rootFd, path);
    this.#candidates.delete(path);
    if (now.kind === "file") {
      const content = contentOf(rootFd, path);
      const hash = content === null ? null : hashOf(content.bytes);
      if (content !== null && hash !== null) {
        writeFileSync(this.#copy(hash), content.bytes, { mode: 0o600 });
      }
      const { mode, uid, gid } = now;
      this.#kept.set(path, {
        kind: "file",
        stamp: content?.stamp ?? now.stamp,
        hash,
        mode,
        uid,
        gid,
      });
    } else if (now.kind === "link") {
      this.#kept.set(path, { kind: "link", stamp: now.stamp, target: now.target });
    } else this.#kept.delete(path);
  }

  /** Files behind the names that were seen, those inside of protected folders among them. */
  #newPaths(rootFd: number): readonly BytePath[] {
    const found = new Set<BytePath>();
    const add = (path: BytePath) => {
      if (!this.#kept.has(path) && found.size < PROTECTED_FILES_MAX) found.add(path);
    };
    for (const candidate of this.#candidates) {
      if (this.#isOwnGit(rootFd, candidate)) continue;
      const { kind } = stateOf(rootFd, candidate);
      if (kind === "absent") this.#candidates.delete(candidate);
      else if (kind !== "folder") add(candidate);
      else for (const path of filesIn(rootFd, candidate, PROTECTED_DEPTH_MAX)) add(path);
    }
    return [...found];
  }

  #isOwnGit(rootFd: number, path: BytePath): boolean {
    if (path !== ".git") return false;
    return this.#stored ? this.#ownGit : stateOf(rootFd, path).kind === "folder";
  }

  #copy(hash: string): string {
    return join(this.#options.home, "copies", hash);
  }

  #load(): boolean {
    try {
      const stored = JSON.parse(readFileSync(join(this.#options.home, INDEX), "utf8"));
      for (const [path, kept] of stored.files) this.#kept.set(path, kept);
      this.#ownGit = stored.ownGit;
      return true;
    } catch {
      return false;
    }
  }

  /** Beside its place and moved there: a crash leaves the one before. */
  #save(): void {
    const path = join(this.#options.home, INDEX);
    const text = JSON.stringify({ ownGit: this.#ownGit, files: [...this.#kept] });
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  #pruneAside(asideDir: string): void {
    const names = readNames(asideDir).sort();
    for (const [index, name] of names.entries()) {
      const path = join(asideDir, name);
      const old = index < names.length - ASIDE_KEPT_MAX;
      if (old || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > ASIDE_BYTES_MAX) {
        // By handles, as rm does it: a program may still have a folder in there open and swap what it holds.
        spawnSync("rm", ["-rf", "--", path]);
      }
    }
  }

  #inRoot(work: (rootFd: number) => void): void {
    const root = openRoot(this.#options.worktree);
    // A worktree that is gone has nothing to compare; the sandbox is refused then.
    if (root.fd === undefined) return;
    try {
      work(root.fd);
    } finally {
      closeSync(root.fd);
    }
  }
}

/** The stamp of what stands there when it is what was kept, only touched; null: it is not. */
function sameAs(rootFd: number, path: BytePath, kept: Kept, now: FileState): string | null {
  if (kept.kind === "link") {
    return now.kind === "link" && now.target === kept.target ? now.stamp : null;
  }
  if (now.kind !== "file" || kept.hash === null || now.mode !== kept.mode) return null;
  const content = contentOf(rootFd, path);
  return content !== null && hashOf(content.bytes) === kept.hash ? content.stamp : null;
}

function filesIn(rootFd: number, path: BytePath, depth: number): readonly BytePath[] {
  const folder = openFolder(rootFd, path);
  if (folder.fd === undefined || depth === 0) return [];
  const at = `/proc/self/fd/${folder.fd}`;
  const found: BytePath[] = [];
  try {
    for (const entry of readdirSync(at, { encoding: "latin1", withFileTypes: true })) {
      const inner = `${path}/${entry.name}` as BytePath;
      if (entry.isDirectory()) found.push(...filesIn(rootFd, inner, depth - 1));
      else found.push(inner);
      if (found.length >= PROTECTED_FILES_MAX) break;
    }
  } catch {
    // Removed meanwhile.
  } finally {
    closeSync(folder.fd);
  }
  const inGit = /(?:^|\/)\.git(?:\/|$)/i;
  return found.filter((file) => !inGit.test(file) || GIT_FOLDER.test(file));
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Name that git gives to what stands at a path; null: nothing; "": what git has no name for. `like` is one of its names. */
export function blobOf(
  worktree: string,
  path: BytePath,
  now: FileState,
  like: string,
): string | null {
  if (now.kind === "absent") return null;
  if (now.kind === "link") return blobName(Buffer.from(now.target, "latin1"), like);
  const root = openRoot(worktree);
  if (now.kind !== "file" || root.fd === undefined) return "";
  try {
    const content = contentOf(root.fd, path);
    return content === null ? "" : blobName(content.bytes, like);
  } finally {
    closeSync(root.fd);
  }
}

/** Path below a worktree; null: it is not below. */
export function below(worktree: string, path: string): BytePath | null {
  const [root, whole] = [toBytePath(worktree), toBytePath(path)];
  return whole.startsWith(`${root}/`) ? (whole.slice(root.length + 1) as BytePath) : null;
}
