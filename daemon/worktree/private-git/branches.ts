/** Brings the agent's own branch into the host's repository, takes that back, and finishes what a crash left half done. */
import { type GitState, innerHead } from "./hand-in.ts";
import { type HostRepository, hostGit, hostGitText } from "./host-git.ts";
import { clearQuarantine, importObjects, type StepHook } from "./objects.ts";
import { type HostHead, hostHead, hostRefs } from "./prepare.ts";
import { isBranchRef, isObjectId } from "./refs.ts";
import type { SandboxGit } from "./sandbox-git.ts";

/** A reference of the host that an import moves or makes. */
export interface ImportChange {
  readonly ref: string;
  /** null: it was not there. */
  readonly old: string | null;
  readonly commit: string;
  /** Where the host's worktree stood before. */
  readonly from: HostHead;
}

export type ImportOutcome =
  | { readonly kind: "nothing" }
  | ({ readonly kind: "imported"; readonly note: string | null } & ImportChange)
  /** The commits stay in the sandbox; why, and what to do. */
  | { readonly kind: "left"; readonly reason: string };

export interface ImportHooks {
  /** Called before the host's reference changes: an intent that is recorded before its effect. */
  readonly intend: (change: ImportChange) => void;
  readonly id: () => string;
  /** A branch (its full reference) that this command must not make or move on the host. */
  readonly isProtected: (ref: string) => boolean;
  /** Whether the worktree may go to this branch, which is the host's and not the sandbox's own; absent: none. */
  readonly mayTake?: (ref: string) => boolean;
  readonly step?: StepHook;
}

/**
 * Brings the branch that is checked out inside into the host's repository, when it is the worktree's own or one that the
 * sandbox made. Every other reference stays inside. `state` must be what handIn returned last. Throws `import-refused`
 * for objects that do not hold.
 */
export async function bringOut(
  repository: HostRepository,
  git: SandboxGit,
  state: GitState,
  hooks: ImportHooks,
): Promise<{ readonly state: GitState; readonly outcome: ImportOutcome }> {
  const unchanged = (outcome: ImportOutcome) => ({ state, outcome });
  const [head, refs] = await Promise.all([hostHead(repository), hostRefs(repository)]);
  const { ref, commit } = await innerHead(git);
  if (ref === "" || !isObjectId(commit)) {
    const detached = ref === "" && commit !== "" && commit !== head.commit;
    return unchanged(detached ? left(DETACHED) : { kind: "nothing" });
  }
  const old = refs.get(ref) ?? null;
  if (old === commit && ref === head.ref) return unchanged({ kind: "nothing" });
  const why = await whyNot(repository, { ref, commit, old, head }, state, hooks);
  if (why !== null) return unchanged(left(why));

  const change: ImportChange = { ref, old, commit, from: head };
  if (old !== commit) {
    const known = old === null ? [...new Set(refs.values())] : [old];
    await importObjects(repository, git, commit, known, {
      id: hooks.id(),
      ...(hooks.step && { step: hooks.step }),
    });
  }
  hooks.intend(change);
  hooks.step?.("intended");
  if (old !== commit) {
    // Compare and set: whoever moved it in between wins, and nothing is lost on either side.
    const message = ["-m", "recinto: brought out of the sandbox"];
    const words = ["update-ref", "--create-reflog", ...message, ref, commit, old ?? ""];
    const updated = await hostGit(repository, words);
    if (updated.exitCode !== 0)
      return unchanged(left(`${ref} could not be moved on the host: ${updated.stderr.trim()}`));
    hooks.step?.("moved");
  }
  const note = await standOn(repository, change, "recinto: switched in the sandbox", hooks.step);
  return {
    state: {
      synced: new Map([...state.synced, [ref, commit]]),
      own: ownAfter(state, change),
      head: { ref, commit },
    },
    outcome: { kind: "imported", ...change, note },
  };
}

/** Switching from one own branch to another loses neither. */
export function ownAfter(
  { own }: Pick<GitState, "own">,
  { ref, from }: ImportChange,
): readonly string[] {
  const both = from.ref === null ? [ref] : [from.ref, ref];
  return ref === from.ref ? own : [...new Set([...own, ...both])];
}

const DETACHED =
  "HEAD is detached in the sandbox: make a branch (git switch -c NAME) to bring its commits to the host";

/** Why the branch stays inside; null: it may come out. */
async function whyNot(
  repository: HostRepository,
  { ref, commit, old, head }: { ref: string; commit: string; old: string | null; head: HostHead },
  state: GitState,
  { isProtected, mayTake = () => false }: ImportHooks,
): Promise<string | null> {
  if (!isBranchRef(ref)) return `${JSON.stringify(ref.slice(0, 80))} is not a branch name`;
  const own = ref === head.ref || state.own.includes(ref) || old === null;
  if (!own && !(old === commit && mayTake(ref)))
    return `${ref} is not this worktree's own branch: only that one is brought to the host`;
  if (old !== commit && isProtected(ref))
    return `${ref} is a protected name: that takes a person's approval of the git command; a branch of another name needs none`;
  if (old !== (state.synced.get(ref) ?? null))
    return `${ref} moved on the host meanwhile: the next git command gets it`;
  if (ref !== head.ref && (await checkedOutElsewhere(repository, ref)))
    return `${ref} is checked out in another worktree`;
  return null;
}

/** The host's worktree goes where the sandbox's is. Returns why its index was left as it is, or null. */
async function standOn(
  repository: HostRepository,
  { ref, commit, from }: ImportChange,
  message: string,
  step: StepHook = () => undefined,
): Promise<string | null> {
  if (ref !== from.ref) await hostGitText(repository, ["symbolic-ref", "-m", message, "HEAD", ref]);
  step("switched");
  const note = await followIndex(repository, from.commit, commit);
  step("followed");
  return note;
}

/** Takes an import back, when nothing was put on top since. False: the branch moved on. */
export async function undoImport(
  repository: HostRepository,
  { ref, old, commit, from }: ImportChange,
): Promise<boolean> {
  const words =
    old === null
      ? ["update-ref", "-d", ref, commit]
      : ["update-ref", "-m", "recinto: undone", ref, old, commit];
  const stood = await hostHead(repository);
  if ((await hostGit(repository, words)).exitCode !== 0) return false;
  if (stood.ref !== ref) return true;
  if (from.ref !== null && from.ref !== ref) {
    await hostGitText(repository, ["symbolic-ref", "-m", "recinto: undone", "HEAD", from.ref]);
  }
  const head = await hostHead(repository);
  if (head.commit !== null) await followIndex(repository, commit, head.commit);
  else await hostGit(repository, ["read-tree", "--empty"]);
  return true;
}

/**
 * After a crash: clears what was not brought in, and where the reference has moved already lets HEAD and index follow.
 * True: the import holds; false: it never came to it.
 */
export async function finishImport(
  repository: HostRepository,
  change: ImportChange,
): Promise<boolean> {
  await clearQuarantine(repository);
  if ((await hostRefs(repository)).get(change.ref) !== change.commit) return false;
  const head = await hostHead(repository);
  // Whoever switched the worktree since then knows better.
  if (head.ref === change.from.ref || head.ref === change.ref) {
    await standOn(repository, change, "recinto: switched in the sandbox");
  }
  return true;
}

function left(reason: string): ImportOutcome {
  return { kind: "left", reason };
}

async function checkedOutElsewhere(repository: HostRepository, ref: string): Promise<boolean> {
  const list = await hostGitText(repository, ["worktree", "list", "--porcelain", "-z"]);
  return list.split("\0\0").some((entry) => {
    const lines = entry.split("\0");
    return lines.includes(`branch ${ref}`) && !lines.includes(`worktree ${repository.worktree}`);
  });
}

/**
 * The host's index goes from one commit's tree to the other's, without looking at a single file of the worktree (an
 * attribute there could name a filter of the host); what a person staged stays, and git's own lock is respected. Returns
 * why it was left as it is, or null.
 */
async function followIndex(
  repository: HostRepository,
  from: string | null,
  to: string,
): Promise<string | null> {
  if (from === to) return null;
  const trees = from === null ? [to] : ["-m", "-i", from, to];
  const read = await hostGit(repository, ["read-tree", ...trees]);
  if (read.exitCode === 0) return null;
  return `the host's index was left as it is: ${read.stderr.trim().split("\n")[0]}`;
}
