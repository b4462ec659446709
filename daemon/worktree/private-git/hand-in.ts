/** Hands the host's changes into the private git dir: other branches as they are now, the own one where nobody moved it. */
import type { HostRepository } from "./host-git.ts";
import { type HostHead, hostHead, hostRefs } from "./prepare.ts";
import { parseRefs, type RefMap } from "./refs.ts";
import { type SandboxGit, sandboxGitText } from "./sandbox-git.ts";

/** What the daemon remembers between two commands; kept in its own state, never inside. */
export interface GitState {
  /** The host's references as they were last handed in. */
  readonly synced: RefMap;
  /** The sandbox's own besides the one its worktree is on: those it made, and those it left for one of them. */
  readonly own: readonly string[];
  /** Where the host's worktree stood then. */
  readonly head?: HostHead;
}

/** Where HEAD is inside: on a branch ("" when detached), at a commit ("" before the first one). */
interface InnerHead {
  readonly ref: string;
  readonly commit: string;
}

export async function innerHead(git: SandboxGit): Promise<InnerHead> {
  const ref = (await git.run(["symbolic-ref", "-q", "HEAD"])).stdout.toString().trim();
  const commit = await git.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"]);
  return { ref, commit: commit.exitCode === 0 ? commit.stdout.toString().trim() : "" };
}

/**
 * A branch moved on both sides stays as it is inside; the host's value is then at `refs/recinto/host/NAME`, to merge or
 * rebase onto. Where the owner switched the worktree to another branch, the sandbox follows unless it moved itself.
 * Returns the new state and the branches that went apart. What cannot be done now (git is busy inside) is done next time.
 */
export async function handIn(
  repository: HostRepository,
  git: SandboxGit,
  state: GitState,
): Promise<{ readonly state: GitState; readonly apart: readonly string[] }> {
  const [now, head] = await Promise.all([hostRefs(repository), hostHead(repository)]);
  const changed = [...new Set([...now.keys(), ...state.synced.keys()])].filter(
    (ref) => now.get(ref) !== state.synced.get(ref),
  );
  const switched = state.head !== undefined && !sameHead(state.head, head);
  if (changed.length === 0 && !switched)
    return { state: state.head === undefined ? { ...state, head } : state, apart: [] };

  const format = "--format=%(objectname) %(refname)";
  const inside = parseRefs(await sandboxGitText(git, ["for-each-ref", format]));
  const here = await innerHead(git);
  const apart: string[] = [];
  const updates = new Map<string, string | null>();
  for (const ref of changed) {
    const target = now.get(ref);
    const value = inside.get(ref);
    if (value === target) continue;
    if (value !== state.synced.get(ref) && ref.startsWith("refs/heads/")) {
      apart.push(ref);
      const name = `refs/recinto/host/${ref.slice("refs/heads/".length)}`;
      if (target !== undefined) updates.set(name, target);
    } else updates.set(ref, target ?? null);
  }

  const follows = switched && here.ref === (state.head?.ref ?? "") && !apart.includes(here.ref);
  const to = follows ? head.commit : (updates.get(here.ref) ?? null);
  // The index first: files of the worktree are as the host has them, and a HEAD without its index would undo them.
  if (to !== null && to !== here.commit && !(await moveIndex(git, here.commit, to))) {
    const synced = new Map(now);
    for (const ref of changed) restore(synced, ref, state.synced.get(ref));
    return { state: { ...state, synced }, apart: [] };
  }
  if (follows) {
    const words =
      head.ref === null
        ? ["update-ref", "--no-deref", "HEAD", head.commit ?? ""]
        : ["symbolic-ref", "HEAD", head.ref];
    await sandboxGitText(git, words);
  }
  await updateRefs(git, updates);
  return { state: { ...state, synced: now, head }, apart };
}

/** What the agent had staged is kept where git can keep it; false: git could not. */
async function moveIndex(git: SandboxGit, from: string, to: string): Promise<boolean> {
  const trees = from === "" ? [to] : ["-m", "-i", from, to];
  if ((await git.run(["read-tree", ...trees])).exitCode !== 0) return false;
  await git.run(["update-index", "-q", "--refresh"]);
  return true;
}

/** Deleted ones first: `a` has to go before there can be `a/b`. */
async function updateRefs(
  git: SandboxGit,
  updates: ReadonlyMap<string, string | null>,
): Promise<void> {
  for (const deletes of [true, false]) {
    const lines = [...updates]
      .filter(([, target]) => (target === null) === deletes)
      .map(([ref, target]) => (target === null ? `delete ${ref}\n` : `update ${ref} ${target}\n`));
    if (lines.length > 0) await sandboxGitText(git, ["update-ref", "--stdin"], lines.join(""));
  }
}

function restore(refs: Map<string, string>, ref: string, value: string | undefined): void {
  if (value === undefined) refs.delete(ref);
  else refs.set(ref, value);
}

/** A branch that moved is still the same place to stand. */
function sameHead(one: HostHead, other: HostHead): boolean {
  return one.ref === other.ref && (one.ref !== null || one.commit === other.commit);
}
