/** Sees that no command changes a protected file without approval: compared after each one, put aside and back. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Journal, NewEntry } from "../journal/types.ts";
import { PROTECTED_SETTLE_MS } from "../limits.ts";
import type { Profile, Project } from "../settings/types.ts";
import { type BytePath, fromBytePath, toBytePath } from "../worktree/byte-path.ts";
import { hostNamedPaths } from "../worktree/protected/host-named.ts";
import {
  below,
  type Difference,
  ProtectedFiles,
  type Restored,
} from "../worktree/protected/protected-files.ts";
import { approvedChange } from "./approved-change.ts";
import { type Escort, type EscortedCommand, type Note, note } from "./escort.ts";
import { Lanes } from "./lanes.ts";
import type { Log } from "./ports.ts";

export interface ProtectedDeskParts {
  readonly journal: Journal;
  /** Folder for the copies of all worktrees. */
  readonly folder: string;
  readonly log: Log;
  /** Resolves when what happened in the worktree so far was looked at. */
  readonly settled: (project: string, worktree: string) => Promise<void>;
  /** Which of these are as git has them in commits that no agent made. */
  readonly fromGit: (
    worktree: string,
    differences: readonly Difference[],
  ) => Promise<ReadonlySet<BytePath>>;
}

interface Book {
  readonly files: ProtectedFiles;
  readonly worktree: string;
  /** What the host's git config named in it. */
  readonly named: string;
  /** Is there while commands run: after a crash it tells that changes may be theirs. */
  readonly marker: string;
  readonly active: Set<EscortedCommand>;
  timer: NodeJS.Timeout | null;
}

/** Commands of these classes cannot change a file of the worktree. */
const HARMLESS = new Set(["read", "scratch", "loopback"]);

export class ProtectedDesk implements Escort {
  readonly #parts: ProtectedDeskParts;
  readonly #books = new Map<string, Book>();
  readonly #lanes = new Lanes();

  constructor(parts: ProtectedDeskParts) {
    this.#parts = parts;
  }

  /** Call before the worktree is watched. */
  open(project: Project, profile: Profile, worktree: string): void {
    const key = createHash("sha256").update(`${project.id}\0${worktree}`).digest("hex");
    const home = join(this.#parts.folder, key.slice(0, 16));
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const owner = lstatSync(worktree, { throwIfNoEntry: false });
    // Whoever watches or mounts it says that it is gone.
    if (owner === undefined) return;
    const named = hostNamedPaths(worktree);
    const extra = [
      ...profile.policy.protectedFiles,
      ...named.flatMap((path) => [path, `${path}/**`]),
    ];
    const files = new ProtectedFiles({ worktree, home, extra, owner });
    for (const path of named) files.note(toBytePath(path));
    const marker = join(home, "running");
    const active = this.#books.get(worktree)?.active ?? new Set();
    this.#books.set(worktree, {
      files,
      worktree,
      named: named.join("\n"),
      marker,
      active,
      timer: null,
    });
  }

  /** From the watcher: something of this name was seen. */
  onEntry(worktree: string, path: BytePath, name: BytePath): void {
    const book = this.#books.get(worktree);
    if (book === undefined) return;
    const inner = below(worktree, fromBytePath(path));
    if (inner === null || !book.files.concerns(inner, name)) return;
    book.files.note(inner);
    if (book.active.size > 0) this.#lookSoon(book);
  }

  /** What changed while nothing ran is the owner's doing: kept as it is now. */
  async before(command: EscortedCommand): Promise<readonly Note[]> {
    const { project, profile, session } = command;
    const opened = this.#books.get(session.worktree);
    // The owner may have pointed git at a file of the worktree since.
    if (opened?.active.size === 0 && opened.named !== hostNamedPaths(session.worktree).join("\n")) {
      this.open(project, profile, session.worktree);
    }
    return this.#with(command, async (book) => {
      const { files, active, marker } = book;
      const differences = active.size === 0 ? await this.#differences(book, command) : [];
      // Under plain docker exec a program may outlive its command, so nobody can tell whose doing it was.
      const { executor } = command.sandbox;
      const owners = !files.known || !(existsSync(marker) || executor?.kind === "plain");
      const first = !files.known;
      active.add(command);
      writeFileSync(marker, "", { mode: 0o600 });
      if (!owners) return this.#settle(book, command, differences);
      if (first || differences.length > 0) files.accept(differences);
      if (!first && differences.length > 0) {
        this.#record(command, "protected.accepted", { by: "host", paths: namesOf(differences) });
      }
      return [];
    });
  }

  /** What it left running is still at work: nobody can tell its doing from the owner's. */
  async after(command: EscortedCommand, goesOn: boolean): Promise<readonly Note[]> {
    return this.#with(command, async (book) => {
      if (!book.active.has(command)) return [];
      try {
        return await this.#settle(book, command, await this.#differences(book, command));
      } finally {
        if (!goesOn) book.active.delete(command);
        if (book.active.size === 0) rmSync(book.marker, { force: true });
      }
    });
  }

  close(): void {
    for (const { timer } of this.#books.values()) if (timer !== null) clearTimeout(timer);
  }

  async #differences(book: Book, { session }: EscortedCommand): Promise<readonly Difference[]> {
    await this.#parts.settled(session.project, book.worktree);
    return book.files.differences();
  }

  /** Accepts what a person approved or git brought from others' commits; the rest is put back. */
  async #settle(
    book: Book,
    command: EscortedCommand,
    differences: readonly Difference[],
  ): Promise<readonly Note[]> {
    if (differences.length === 0) return [];
    // With another command at work nobody can tell which of the two wrote it.
    const alone = book.active.size <= 1;
    const approved = differences.filter(
      ({ path }) => alone && approvedChange(command, `${book.worktree}/${fromBytePath(path)}`),
    );
    const rest = differences.filter((each) => !approved.includes(each));
    const git = rest.length === 0 ? new Set() : await this.#parts.fromGit(book.worktree, rest);
    const brought = rest.filter(({ path }) => git.has(path));
    if (approved.length > 0) {
      this.#record(command, "protected.accepted", { by: "approval", paths: namesOf(approved) });
    }
    if (approved.length + brought.length > 0) book.files.accept([...approved, ...brought]);
    return this.#restore(
      book,
      command,
      rest.filter((each) => !brought.includes(each)),
    );
  }

  #restore(book: Book, command: EscortedCommand, unapproved: readonly Difference[]): Note[] {
    if (unapproved.length === 0) return [];
    const restored = book.files.restore(unapproved);
    for (const each of restored) this.#record(command, "protected.restored", { ...each });
    const paths = restored.map(({ path }) => `${book.worktree}/${path}`);
    return [note("protected_restored", reasonOf(restored), paths)];
  }

  /** A program that runs for hours must not work under instructions that it wrote itself. */
  #lookSoon(book: Book): void {
    if (book.timer !== null) return;
    book.timer = setTimeout(() => {
      book.timer = null;
      void this.#lanes.run(book.worktree, async () => {
        const [command] = book.active;
        const busy = [...book.active].some(
          ({ approved, verdict }) => approved || verdict.classes.includes("git-write"),
        );
        // Git changes files before its HEAD, and an approved command is in the middle of it: both are looked at after.
        if (command === undefined || busy) return;
        const differences = book.files.differences().filter(({ path }) => !IN_GIT.test(path));
        this.#restore(book, command, differences);
      });
    }, PROTECTED_SETTLE_MS);
  }

  async #with(
    command: EscortedCommand,
    work: (book: Book) => Promise<readonly Note[]>,
  ): Promise<readonly Note[]> {
    if (command.verdict.classes.every((cls) => HARMLESS.has(cls))) return [];
    const { worktree } = command.session;
    const book = this.#books.get(worktree);
    if (book === undefined) return [];
    try {
      return await this.#lanes.run(worktree, () => work(book));
    } catch (error) {
      this.#parts.log.error({ worktree, error }, "protected files could not be compared");
      return [
        note("protected_restored", `protected files could not be compared: ${String(error)}`),
      ];
    }
  }

  #record({ session, action }: EscortedCommand, event: NewEntry["event"], data: object): void {
    const { project, id, uid, worktree } = session;
    const entry = { event, project, session: id, uid, data: { action, worktree, ...data } };
    this.#parts.journal.append(entry);
  }
}

/** A program may well make repositories of its own while it runs; they are looked at when it is over. */
const IN_GIT = /(?:^|\/)\.git(?:\/|$)/i;

function namesOf(differences: readonly Difference[]): readonly string[] {
  return differences.map(({ path }) => fromBytePath(path));
}

function reasonOf(restored: readonly Restored[]): string {
  const lost = restored.filter((each) => !each.restored).map(({ path }) => path);
  const many = restored.length === 1 ? "a protected file was" : "protected files were";
  const back = `${many} changed without approval and put back as before; the change is kept for an admin. Ask for it by a command that names the file`;
  return lost.length === 0
    ? back
    : `${back}. Not put back, since no copy could be kept: ${lost.join(", ")}`;
}
