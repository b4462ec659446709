/** Policy files that lie where agents can write: found and read beneath their root without following a link. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { WORKTREE_POLICY_BYTES_MAX } from "../limits.ts";
import { checkRuleFile } from "../policy/rule-file-check.ts";
import type { Rule } from "../policy/types.ts";
import { openFile, openRoot } from "../worktree/safe-open.ts";

/** Ours, and the name that ChatCLI gives its file. */
export const WORKTREE_POLICY_NAMES = [".recinto/policy.yaml", "coder_policy.json"] as const;

/** A policy file as it is now. It counts for nothing by itself. */
export interface WorktreePolicy {
  readonly root: string;
  /** Below the root. */
  readonly name: string;
  readonly file: string;
  /** Of exactly the bytes that `rules` were read from, hex; "" when the file was not read. */
  readonly sha256: string;
  readonly rules: readonly Rule[];
  /** It says `merge: false`, which such a file may not. */
  readonly wantsAlone: boolean;
  /** Why it cannot be used, with line and column. */
  readonly problem: string | null;
}

export class WorktreePolicies {
  readonly #cache = new Map<string, { readonly tag: string; readonly policy: WorktreePolicy }>();

  /** All policy files of these roots, in their order; a root that cannot be opened has none. */
  find(roots: readonly string[]): readonly WorktreePolicy[] {
    return [...new Set(roots)].flatMap((root) => {
      // Most worktrees have none, and a look costs a hundredth of opening; one that appears right after is found next time.
      if (!WORKTREE_POLICY_NAMES.some((name) => mayBeThere(join(root, name)))) return [];
      const folder = openRoot(root);
      if (folder.fd === undefined) return [];
      try {
        return WORKTREE_POLICY_NAMES.flatMap((name) => this.#read(folder.fd, root, name) ?? []);
      } finally {
        closeSync(folder.fd);
      }
    });
  }

  #read(rootFd: number, root: string, name: string): WorktreePolicy | null {
    const file = join(root, name);
    const opened = openFile(rootFd, name);
    if (opened.fd === undefined) {
      this.#cache.delete(file);
      // A link is no policy file, and is worth telling: whoever made it believes that it is one.
      return opened.errno === "ELOOP"
        ? unusable({ root, name, file }, "a link is on the way, which is not followed")
        : null;
    }
    try {
      const stat = fstatSync(opened.fd, { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs } = stat;
      const tag = [dev, ino, size, mtimeNs, ctimeNs].join(":");
      const cached = this.#cache.get(file);
      if (cached?.tag === tag) return cached.policy;
      const policy = stat.isFile()
        ? readPolicy(opened.fd, { root, name, file })
        : unusable({ root, name, file }, "it is not a regular file");
      this.#cache.set(file, { tag, policy });
      return policy;
    } finally {
      closeSync(opened.fd);
    }
  }
}

/** A parent that is a file or a loop of links is for opening to judge: whatever an agent puts there must not throw. */
function mayBeThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

type Place = Pick<WorktreePolicy, "root" | "name" | "file">;

function unusable(place: Place, problem: string): WorktreePolicy {
  return { ...place, sha256: "", rules: [], wantsAlone: false, problem };
}

function readPolicy(fd: number, place: Place): WorktreePolicy {
  const buffer = Buffer.alloc(WORKTREE_POLICY_BYTES_MAX + 1);
  let length = 0;
  for (;;) {
    const read = readSync(fd, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  if (length > WORKTREE_POLICY_BYTES_MAX) {
    return unusable(place, `it has more than ${WORKTREE_POLICY_BYTES_MAX} bytes`);
  }
  const bytes = buffer.subarray(0, length);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { ...unusable(place, "it is not UTF-8 text"), sha256 };
  }
  const { rules, merge, problems } = checkRuleFile(
    text,
    "project",
    // Two files of one name have different rules under different ids, or the same under the same.
    `trusted/${place.name}@${sha256.slice(0, 8)}`,
  );
  const [first] = problems;
  return {
    ...place,
    sha256,
    rules: rules.map(({ match: _, notMatch: __, ...rule }) => rule),
    wantsAlone: !merge,
    problem:
      first === undefined ? null : `${place.name}:${first.line}:${first.column}: ${first.message}`,
  };
}
