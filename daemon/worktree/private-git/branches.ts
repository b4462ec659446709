/** Keeps the agent's own branch and the host's repository in step, both ways. */
import { type HostRepository, hostGit, hostGitText } from "./host-git.ts";
import { clearQuarantine, importObjects } from "./objects.ts";
import { hostHead, hostRefs } from "./prepare.ts";
import { isBranchRef, isObjectId, parseRefs, type RefMap } from "./refs.ts";
import { type SandboxGit, sandboxGitText } from "./sandbox-git.ts";

/** What the daemon remembers between two commands; kept in its own state, never inside. */
export interface GitState {
  /** The host's references as they were last handed in. */
  readonly synced: RefMap;
  /** Branches that this sandbox made and that were imported: its own, besides the worktree's. */
  readonly made: readonly string[];
}

export type ImportOutcome =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "imported";
      readonly ref: string;
      readonly old: string | null;
      readonly commit: string;
      readonly note: string | null;
    }
  /** The commits stay in the sandbox; why, and what to do. */
  | { readonly kind: "left"; readonly reason: string };

export interface ImportHooks {
  /** Called before the host's reference changes: an intent that is recorded before its effect. */
  readonly intend: (change: { ref: string; old: string | null; commit: string }) => void;
  readonly id: () => string;
  /** A branch (its full reference) that no sandbox may make on the host. */
  readonly isProtected: (ref: string) => boolean;
}

const NO_OBJECT = "0".repeat(40);

/**
 * Hands the host's changes in: other branches, remotes and tags as they are now, and the own branch where the agent has
 * not moved it. A branch moved on both sides stays as it is inside; the host's value is then at
 * `refs/recinto/host/NAME`, to merge or rebase onto. Returns the new state and the branches that went apart.
 */
export async function handIn(
  repository: HostRepository,
  git: SandboxGit,
  state: GitState,
): Promise<{ readonly state: GitState; readonly apart: readonly string[] }> {
  const now = await hostRefs(repository);
  const changed = [...new Set([...now.keys(), ...state.synced.keys()])].filter(
    (ref) => now.get(ref) !== state.synced.get(ref),
  );
  if (changed.length === 0) return { state, apart: [] };

  const inside = parseRefs(
    await sandboxGitText(git, ["for-each-ref", "--format=%(objectname) %(refname)"]),
  );
  const head = (await git.run(["symbolic-ref", "-q", "HEAD"])).stdout.toString().trim();
  const apart: string[] = [];
  const commands: string[] = [];
  for (const ref of changed) {
    const target = now.get(ref);
    const here = inside.get(ref);
    if (here === target) continue;
    if (here !== state.synced.get(ref) && ref.startsWith("refs/heads/")) {
      apart.push(ref);
      const name = `refs/recinto/host/${ref.slice("refs/heads/".length)}`;
      if (target !== undefined) commands.push(`update ${name} ${target}`);
    } else {
      commands.push(target === undefined ? `delete ${ref}` : `update ${ref} ${target}`);
    }
  }
  // The index follows the branch that is checked out; what the agent had staged is kept where git can keep it.
  const moved =
    changed.includes(head) && !apart.includes(head) ? [inside.get(head), now.get(head)] : [];
  if (commands.length > 0)
    await sandboxGitText(git, ["update-ref", "--stdin"], `${commands.join("\n")}\n`);
  const [from, to] = moved;
  if (from !== undefined && to !== undefined) {
    await git.run(["read-tree", "-m", "-i", from, to]);
    await git.run(["update-index", "-q", "--refresh"]);
  }
  return { state: { ...state, synced: now }, apart };
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
  const [head, refs] = [await hostHead(repository), await hostRefs(repository)];
  const ref = (await git.run(["symbolic-ref", "-q", "HEAD"])).stdout.toString().trim();
  const commit = (await git.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"])).stdout
    .toString()
    .trim();
  if (ref === "" || !isObjectId(commit)) {
    const detached = commit !== "" && commit !== head.commit;
    return unchanged(
      detached
        ? left(
            "HEAD is detached in the sandbox: make a branch (git switch -c NAME) to keep its commits",
          )
        : { kind: "nothing" },
    );
  }
  if (!isBranchRef(ref))
    return unchanged(left(`${JSON.stringify(ref.slice(0, 80))} is not a branch name`));

  const old = refs.get(ref) ?? null;
  const own = ref === head.ref || state.made.includes(ref) || old === null;
  if (old === commit && ref === head.ref) return unchanged({ kind: "nothing" });
  if (!own && old !== commit)
    return unchanged(
      left(`${ref} is not this worktree's own branch: only that one is brought out`),
    );
  if (old === null && hooks.isProtected(ref))
    return unchanged(left(`${ref} is a protected name: a person makes that branch`));
  if (old !== (state.synced.get(ref) ?? null))
    return unchanged(left(`${ref} moved on the host meanwhile`));
  const elsewhere = ref !== head.ref && (await checkedOutElsewhere(repository, ref));
  if (elsewhere) return unchanged(left(`${ref} is checked out in another worktree`));

  if (old !== commit) {
    await importObjects(
      repository,
      git,
      commit,
      old === null ? [...new Set(refs.values())] : [old],
      hooks.id(),
    );
    hooks.intend({ ref, old, commit });
    // Compare and set: whoever moved it in between wins, and nothing is lost on either side.
    const words = [
      "update-ref",
      "--create-reflog",
      "-m",
      "recinto: brought out of the sandbox",
      ref,
      commit,
      old ?? NO_OBJECT,
    ];
    const updated = await hostGit(repository, words);
    if (updated.exitCode !== 0)
      return unchanged(left(`${ref} could not be moved on the host: ${updated.stderr.trim()}`));
  }
  if (ref !== head.ref)
    await hostGitText(repository, [
      "symbolic-ref",
      "-m",
      "recinto: switched in the sandbox",
      "HEAD",
      ref,
    ]);
  const note = await followIndex(repository, head.commit, commit);
  const made = old === null && ref !== head.ref ? [...state.made, ref] : state.made;
  return {
    state: { synced: new Map([...state.synced, [ref, commit]]), made },
    outcome: { kind: "imported", ref, old, commit, note },
  };
}

/** Takes an import back, when nothing was put on top since. False: the branch moved on. */
export async function undoImport(
  repository: HostRepository,
  change: { readonly ref: string; readonly old: string | null; readonly commit: string },
): Promise<boolean> {
  const words =
    change.old === null
      ? ["update-ref", "-d", change.ref, change.commit]
      : ["update-ref", "-m", "recinto: undone", change.ref, change.old, change.commit];
  const undone = await hostGit(repository, words);
  if (undone.exitCode !== 0) return false;
  const head = await hostHead(repository);
  if (head.ref === change.ref && head.commit !== null)
    await followIndex(repository, change.commit, head.commit);
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
  const trees = from === null ? [to] : ["-m", "-i", from, to];
  const read = await hostGit(repository, ["read-tree", ...trees]);
  if (read.exitCode === 0) return null;
  return `the host's index was left as it is: ${read.stderr.trim().split("\n")[0]}`;
}

/** After a crash between the reference and the index: what an import left half done. */
export async function finishImport(
  repository: HostRepository,
  change: { readonly old: string | null; readonly commit: string },
): Promise<void> {
  await clearQuarantine(repository);
  const head = await hostHead(repository);
  if (head.commit === change.commit) await followIndex(repository, change.old, change.commit);
}
