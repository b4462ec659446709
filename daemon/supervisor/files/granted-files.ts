/** The folders that one file operation may reach, once it was judged: its paths as places below their descriptors. */
import { posix } from "node:path";
import { RecintoError } from "../../errors.ts";
import {
  type EvaluateFileInput,
  evaluateFile,
  type FileRequest,
  type FileVerb,
} from "../../policy/evaluate-file.ts";
import type { PolicySettings, Verdict } from "../../policy/types.ts";
import { toBytePath } from "../../worktree/byte-path.ts";
import { FileRoot } from "../../worktree/files/file-root.ts";
import { isBelowAny } from "../facts.ts";

export interface Place {
  readonly root: FileRoot;
  /** Relative to the root, as bytes; "" is the root itself. */
  readonly path: string;
}

/** Everything the policy was told, so that entries of an archive are judged by the same. */
export type JudgedBy = Omit<EvaluateFileInput, "request">;

export class GrantedFiles {
  readonly #verdict: Verdict;
  readonly #by: JudgedBy;
  readonly #fit: (verdict: Verdict) => Verdict;
  readonly #worktree: FileRoot;
  readonly #roots = new Map<string, FileRoot>();

  /** `fit`: what a contract leaves of a verdict. Throws `worktree-refused`, `file-…`. */
  constructor(verdict: Verdict, by: JudgedBy, fit: (verdict: Verdict) => Verdict = (each) => each) {
    this.#verdict = verdict;
    this.#fit = fit;
    this.#by = by;
    const { worktree } = by.settings;
    this.#worktree = FileRoot.open(worktree);
    this.#roots.set(worktree, this.#worktree);
    if (this.#worktree.owner.uid !== 0) return;
    this.close();
    throw new RecintoError("worktree-refused", `${worktree} is owned by root`);
  }

  close(): void {
    for (const root of this.#roots.values()) root.close();
    this.#roots.clear();
  }

  /** Where the path really leads, as it was judged: opened without following a link, or not at all. */
  place(path: string): Place {
    return this.#placeOf(realOf(this.#verdict, path));
  }

  /** The entry of that name in the folder that holds it, a link as itself. */
  entry(path: string): Place {
    const folder = this.place(posix.dirname(path));
    const name = toBytePath(posix.basename(path));
    return { ...folder, path: folder.path === "" ? name : `${folder.path}/${name}` };
  }

  /**
   * Why an entry below a granted folder is not to be touched, or null: judged by itself, it must pass, or ask for no
   * other reason than the whole that a person approved. Its path is a real one.
   */
  objection(verb: FileVerb, access: "read" | "write", path: string): string | null {
    const request = { verb, paths: [{ path, access }] };
    const [segment] = this.#fit(evaluateFile({ ...this.#by, request })).segments;
    if (segment?.verdict === "allow") return null;
    const answered = this.#verdict.segments.flatMap(({ matches }) =>
      matches.filter(({ decision }) => decision === "ask").map(({ rule }) => rule),
    );
    const open = segment?.matches.find(
      ({ decision, rule }) =>
        decision === "deny" || (decision === "ask" && !answered.includes(rule)),
    );
    if (open !== undefined) return `${open.reason} (${open.rule})`;
    return this.#verdict.verdict === "allow" ? (segment?.reason ?? "not judged") : null;
  }

  /** What the sandbox has at the same place as the host. */
  get scope(): readonly string[] {
    return servedRoots(this.#by.settings);
  }

  #placeOf(real: string): Place {
    const { settings } = this.#by;
    const at = servedRoot(real, settings);
    if (at === null) throw notServed(real, settings);
    let root = this.#roots.get(at);
    if (root === undefined) {
      root = FileRoot.open(at, this.#worktree.owner);
      this.#roots.set(at, root);
    }
    return { root, path: toBytePath(real.slice(at.length + 1)) };
  }
}

/** Where a path that was judged really leads. */
function realOf({ segments }: Verdict, path: string): string {
  const touched = segments.flatMap(({ paths }) => paths).find((each) => each.path === path);
  return touched?.real ?? path;
}

function servedRoots({ worktree, readable }: PolicySettings): readonly string[] {
  return [worktree, ...readable];
}

function servedRoot(real: string, settings: PolicySettings): string | null {
  if (isGitsOwn(real, settings.worktree)) return null;
  return servedRoots(settings).find((root) => isBelowAny(real, [root])) ?? null;
}

/** The worktree's own `.git`: the sandbox has another one there, without what only the host may know. */
function isGitsOwn(real: string, worktree: string): boolean {
  if (!real.startsWith(`${worktree}/`)) return false;
  return (
    real
      .slice(worktree.length + 1)
      .split("/", 1)[0]
      ?.toLowerCase() === ".git"
  );
}

/** Operations on an entry of a folder: a link of that name is what they are about, not where it leads. */
const ON_ENTRY: ReadonlySet<FileVerb> = new Set<FileVerb>(["move", "remove", "stat"]);

/** The first path that the file API does not reach: no answer of a person could change that. */
export function unserved(
  { verb, paths }: FileRequest,
  verdict: Verdict,
  settings: PolicySettings,
): RecintoError | null {
  const ways = new Set(paths.flatMap(({ path, way }) => (way === true ? [path] : [])));
  for (const { path, access } of paths) {
    const folder = posix.dirname(path);
    const real =
      ON_ENTRY.has(verb) && ways.has(folder)
        ? posix.join(realOf(verdict, folder), posix.basename(path))
        : realOf(verdict, path);
    const writable = access === "read" || isBelowAny(real, [settings.worktree]);
    if (servedRoot(real, settings) === null || !writable) return notServed(real, settings);
  }
  return null;
}

function notServed(real: string, settings: PolicySettings): RecintoError {
  if (isGitsOwn(real, settings.worktree)) {
    return new RecintoError("not-served", `${JSON.stringify(real)} is git's own`, {
      hint: "use git commands: git in the sandbox has a folder of its own there",
    });
  }
  return new RecintoError(
    "not-served",
    `${JSON.stringify(real)} is not where the file API reaches`,
  );
}
