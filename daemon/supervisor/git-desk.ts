/** Keeps each sandbox's own git and the host's repository in step around its commands, on record both before and after. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import type { Journal, JournalEntry, NewEntry } from "../journal/types.ts";
import { GIT_POINTER_BYTES_MAX } from "../limits.ts";
import { matches } from "../policy/globs.ts";
import { type BytePath, fromBytePath } from "../worktree/byte-path.ts";
import {
  bringOut,
  finishImport,
  type ImportChange,
  type ImportOutcome,
  ownAfter,
  undoImport,
} from "../worktree/private-git/branches.ts";
import { handIn } from "../worktree/private-git/hand-in.ts";
import { clearQuarantine } from "../worktree/private-git/objects.ts";
import { hostHead, hostRefs } from "../worktree/private-git/prepare.ts";
import type { PrivateGit, PrivateGits } from "../worktree/private-git/private-gits.ts";
import { isObjectId, type RefMap } from "../worktree/private-git/refs.ts";
import { trustedStates } from "../worktree/private-git/trusted-tree.ts";
import { blobOf, type Difference } from "../worktree/protected/protected-files.ts";
import { type Escort, type EscortedCommand, type Note, note } from "./escort.ts";
import type { GitCalls, GitStatus } from "./git-calls.ts";
import { requireAdmin } from "./identity.ts";
import type { NewId } from "./ids.ts";
import { Lanes } from "./lanes.ts";
import type { Log } from "./ports.ts";
import { sandboxGit } from "./sandbox-git.ts";
import { readSmallFile } from "./small-file.ts";
import type { Caller } from "./types.ts";

export interface GitDeskParts {
  readonly journal: Journal;
  readonly gits: PrivateGits;
  readonly newId: NewId;
  readonly log: Log;
  /** Throws `unknown-project`. */
  readonly project: (id: string) => unknown;
}

const HEADS = "refs/heads/";

export class GitDesk implements Escort, GitCalls {
  readonly #parts: GitDeskParts;
  /** Two agents may commit to one repository at the same moment. */
  readonly #repositories = new Lanes();
  /** What a sandbox's HEAD and branch looked like when they were last brought out. */
  readonly #seen = new Map<string, string>();
  /** Why commits of a sandbox stay where they are: told once. */
  readonly #left = new Map<string, string>();

  constructor(parts: GitDeskParts) {
    this.#parts = parts;
  }

  /** Before a command that asks git: what changed on the host is there inside. */
  async before(command: EscortedCommand): Promise<readonly Note[]> {
    const { segments, classes } = command.verdict;
    const asksGit = segments.some(({ form }) => form === "git" || form.startsWith("git "));
    if (!asksGit && !classes.includes("git-write")) return [];
    return this.#with(command, async (git) => {
      const { gits } = this.#parts;
      const before = await gits.state(git);
      const { state, apart } = await handIn(git.repository, this.#inside(command, git), before);
      if (state !== before) await gits.keepState(git, state);
      return apart.map((ref) => {
        const name = ref.slice(HEADS.length);
        const reason = `${name} moved on the host and in the sandbox: the host's is at refs/recinto/host/${name}, to rebase onto or merge`;
        return note("git_apart", reason);
      });
    });
  }

  /** After a command that may have moved a branch: the worktree's own is brought to the host. */
  async after(command: EscortedCommand): Promise<readonly Note[]> {
    const { classes } = command.verdict;
    if (classes.every((cls) => cls === "read")) return [];
    return this.#with(command, async (git) => {
      const now = signature(git);
      if (!classes.includes("git-write") && this.#seen.get(git.key) === now) return [];
      const { state, outcome } = await this.#bringOut(command, git);
      await this.#parts.gits.keepState(git, state);
      this.#seen.set(git.key, now);
      return this.#tell(command, git, outcome);
    });
  }

  /**
   * At start, before anything runs: imports that were begun and not ended are finished or were never there. Returns
   * entries for the journal.
   */
  async recover(open: readonly JournalEntry[]): Promise<readonly NewEntry[]> {
    const { gits, log } = this.#parts;
    const cleared = new Set<string>();
    for (const { repository } of await gits.list()) {
      if (cleared.has(repository.commonDir)) continue;
      cleared.add(repository.commonDir);
      await clearQuarantine(repository).catch((error) =>
        log.warn({ error, repository: repository.commonDir }, "left-overs of an import stay"),
      );
    }
    const entries: NewEntry[] = [];
    for (const { project, session, data } of open) {
      const change = data as unknown as ImportRecord;
      const came = await this.#finish(change).catch((error) => {
        log.warn({ error, ref: change.ref }, "an import that was begun cannot be looked at");
        return false;
      });
      const reason =
        "the daemon ended before the host's branch moved; the commits are in the sandbox";
      entries.push(
        came
          ? { event: "git.imported", project, session, data: { ...data, recovered: true } }
          : { event: "git.left", project, session, data: { ...data, reason } },
      );
    }
    return entries;
  }

  /** Takes the import back that the journal has at `seq`. Throws `not-found` and `import-over`. */
  async undo(caller: Caller, seq: number): Promise<JournalEntry> {
    requireAdmin(caller);
    const { journal, gits } = this.#parts;
    const [entry] = journal.read({ afterSeq: seq - 1, limit: 1 });
    if (entry?.seq !== seq || entry.event !== "git.imported") {
      throw new RecintoError("not-found", `entry ${seq} of the journal is no git.imported`, {
        hint: "recinto events --event git.imported shows them with their numbers",
      });
    }
    const change = entry.data as unknown as ImportRecord;
    const git = await gits.find(change.key);
    if (git === null)
      throw new RecintoError("not-found", `${change.worktree} has no sandbox's git`);
    return this.#repositories.run(git.repository.commonDir, async () => {
      if (!(await undoImport(git.repository, change))) {
        throw new RecintoError("import-over", `${change.ref} is not at ${change.commit} any more`);
      }
      const { project } = entry;
      const { ref, old, commit, worktree } = change;
      const data = { of: seq, worktree, ref, old, commit };
      return journal.append({ event: "git.undone", project, uid: caller.uid, data });
    });
  }

  async status(caller: Caller, project?: string): Promise<readonly GitStatus[]> {
    requireAdmin(caller);
    if (project !== undefined) this.#parts.project(project);
    const all = await this.#parts.gits.list();
    const own = all.filter((git) => project === undefined || git.project === project);
    return Promise.all(
      own.map(async (git) => {
        const head = await hostHead(git.repository);
        const { own: branches } = await this.#parts.gits.state(git);
        return {
          project: git.project,
          worktree: git.repository.worktree,
          repository: git.repository.commonDir,
          host: head.ref?.slice(HEADS.length) ?? null,
          sandbox: headRef(git)?.slice(HEADS.length) ?? null,
          commit: head.commit,
          own: branches.map((ref) => ref.slice(HEADS.length)),
          left: this.#left.get(git.key) ?? null,
        };
      }),
    );
  }

  /** Which of these protected files are as in commits that no agent made: git may bring those without asking. */
  async fromOthers(
    worktree: string,
    differences: readonly Difference[],
  ): Promise<ReadonlySet<BytePath>> {
    const { gits } = this.#parts;
    const git = gits.ofWorktree(worktree);
    const found = new Set<BytePath>();
    if (git === null) return found;
    const { repository } = git;
    const states = await Promise.all(
      (await gits.list())
        .filter((each) => each.repository.commonDir === repository.commonDir)
        .map((each) => gits.state(each)),
    );
    const agents = new Set(states.flatMap(({ own, head }) => [...own, head?.ref ?? ""]));
    const refs = await hostRefs(repository);
    const inside = innerHeadCommit(git, refs);
    const heads = new Set(
      [inside, (await hostHead(repository)).commit].filter((id) => id !== null),
    );
    const paths = differences.map(({ path }) => fromBytePath(path));
    for (const head of heads) {
      const states = await trustedStates(repository, head, agents, paths);
      for (const { path, now } of differences) {
        const may = states.get(fromBytePath(path));
        if (may?.has(blobOf(worktree, path, now, head))) found.add(path);
      }
    }
    return found;
  }

  #inside({ sandbox, session }: EscortedCommand, { repository }: PrivateGit) {
    const gitDir = sandbox.privateGit?.gitDir ?? repository.gitDir;
    return sandboxGit(sandbox, { gitDir, worktree: session.worktree });
  }

  async #with(
    command: EscortedCommand,
    work: (git: PrivateGit) => Promise<readonly Note[]>,
  ): Promise<readonly Note[]> {
    const { privateGit } = command.sandbox;
    if (privateGit === null || privateGit === undefined) return [];
    try {
      const git = await this.#parts.gits.find(privateGit.key);
      if (git === null) return [];
      return await this.#repositories.run(git.repository.commonDir, () => work(git));
    } catch (error) {
      const { worktree } = command.session;
      this.#parts.log.warn({ worktree, error }, "git of a sandbox and its host are out of step");
      const reason =
        error instanceof RecintoError ? `${error.message}; ${error.hint}` : String(error);
      this.#record(command, "git.left", { worktree, reason });
      return [note("git_left", reason)];
    }
  }

  async #bringOut(command: EscortedCommand, git: PrivateGit) {
    const { gits, newId } = this.#parts;
    const { approved, profile } = command;
    const state = await gits.state(git);
    const globs = profile.policy.protectedBranches;
    return bringOut(git.repository, this.#inside(command, git), state, {
      intend: (change) => this.#record(command, "git.import.intended", recordOf(git, change)),
      id: () => newId("import"),
      isProtected: (ref) =>
        !approved && globs.some((glob) => matches(glob, ref.slice(HEADS.length))),
      mayTake: () => approved,
    });
  }

  #tell(command: EscortedCommand, git: PrivateGit, outcome: ImportOutcome): readonly Note[] {
    const { worktree } = command.session;
    if (outcome.kind !== "left") this.#left.delete(git.key);
    switch (outcome.kind) {
      case "nothing":
        return [];
      case "left": {
        if (this.#left.get(git.key) === outcome.reason) return [];
        this.#left.set(git.key, outcome.reason);
        this.#record(command, "git.left", { worktree, key: git.key, reason: outcome.reason });
        return [note("git_left", outcome.reason)];
      }
      case "imported": {
        const { kind: _, note: remark, ...change } = outcome;
        this.#record(command, "git.imported", { ...recordOf(git, change), note: remark });
        const name = change.ref.slice(HEADS.length);
        const where = `${name} is at ${change.commit.slice(0, 12)} on the host too`;
        return [note("git_imported", remark === null ? where : `${where}; ${remark}`)];
      }
    }
  }

  #record({ session, action }: EscortedCommand, event: NewEntry["event"], data: object): void {
    const { project, id, uid } = session;
    this.#parts.journal.append({ event, project, session: id, uid, data: { action, ...data } });
  }

  async #finish(change: ImportRecord): Promise<boolean> {
    const { gits } = this.#parts;
    const git = await gits.find(change.key);
    if (git === null || !(await finishImport(git.repository, change))) return false;
    const state = await gits.state(git);
    const { ref, commit } = change;
    await gits.keepState(git, {
      synced: new Map([...state.synced, [ref, commit]]),
      own: ownAfter(state, change),
      head: { ref, commit },
    });
    return true;
  }
}

/** What the journal has of an import: enough to finish it and to take it back. */
interface ImportRecord extends ImportChange {
  readonly key: string;
  readonly worktree: string;
}

function recordOf(git: PrivateGit, change: ImportChange): ImportRecord {
  return { key: git.key, worktree: git.repository.worktree, ...change };
}

/** Where the sandbox says that it stands, as far as the host has that; its word decides only which commit is looked at. */
function innerHeadCommit(git: PrivateGit, refs: RefMap): string | null {
  const head = readSmallFile(join(git.folder, "HEAD"), GIT_POINTER_BYTES_MAX)?.trim() ?? "";
  return isObjectId(head) ? head : (refs.get(headRef(git) ?? "") ?? null);
}

/** The branch that is checked out inside; null: none. The file is the sandbox's to write: its word and no more. */
function headRef({ folder }: Pick<PrivateGit, "folder">): string | null {
  const head = readSmallFile(join(folder, "HEAD"), GIT_POINTER_BYTES_MAX);
  return /^ref: (refs\/heads\/[^\s\0]+)\n?$/.exec(head ?? "")?.[1] ?? null;
}

/** Changes whenever git moves HEAD or the branch it is on. */
function signature({ folder }: PrivateGit): string {
  const head = readSmallFile(join(folder, "HEAD"), GIT_POINTER_BYTES_MAX);
  const ref = headRef({ folder });
  const files = ref === null || ref.includes("..") ? ["packed-refs"] : ["packed-refs", ref];
  const stats = files.map((name) => {
    const stat = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
  });
  return JSON.stringify([head, ...stats]);
}
