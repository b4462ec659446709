/** Holds the journal against the world: what happened, what clients were told, and what must still be open. */
import type { JournalEntry } from "../../daemon/journal/types.ts";
import type { Heard } from "./heard.ts";

interface Exec {
  readonly seq: number;
  readonly action: string;
  outcomes: { readonly event: string; readonly exitCode: unknown }[];
}

export interface OpenQuestion {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly command: string;
}

/** What the journal says, entry after entry. */
export class Record {
  readonly #commands = new Map<string, string>();
  readonly #execs = new Map<string, Exec>();
  readonly #execsOf = new Map<string, number>();
  readonly #approvedOf = new Map<string, number>();
  readonly #questions = new Map<string, JournalEntry>();
  readonly #pending = new Map<string, OpenQuestion>();
  readonly #sessions = new Set<string>();
  #lastStart = 0;
  #seq = 0;
  lost = 0;

  get seq(): number {
    return this.#seq;
  }

  take(entries: readonly JournalEntry[]): void {
    for (const entry of entries) this.#one(entry);
  }

  /** Questions that nobody has answered and whose time is not over. */
  pending(): readonly OpenQuestion[] {
    return [...this.#pending.values()];
  }

  sessions(): ReadonlySet<string> {
    return this.#sessions;
  }

  /** An effect without its intent on record, or more effects than starts. `effects`: the ids as they were written. */
  unrecorded(effects: readonly string[]): string[] {
    const counts = new Map<string, number>();
    for (const id of effects) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].flatMap(([id, count]) => {
      const starts = this.#execsOf.get(id) ?? 0;
      return count > starts ? [`${id} happened ${count} times and was recorded ${starts}`] : [];
    });
  }

  /** What was asked about and happened more often than a person approved it. */
  unapproved(effects: readonly string[], asked: ReadonlySet<string>): string[] {
    const counts = new Map<string, number>();
    for (const id of effects) if (asked.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].flatMap(([id, count]) => {
      const approved = this.#approvedOf.get(id) ?? 0;
      return count > approved ? [`${id} happened ${count} times, approved ${approved}`] : [];
    });
  }

  /** What a client was told and nobody recorded. */
  forgotten(heard: readonly Heard[]): string[] {
    return heard.flatMap((one) => {
      if (one.type === "action" && !this.#commands.has(one.action)) return [`action ${one.action}`];
      if (one.type === "pending" && !this.#questions.has(one.approval)) {
        return [`question ${one.approval}`];
      }
      if (one.type === "started" && !this.#execs.has(one.exec)) return [`start of ${one.exec}`];
      if (one.type !== "exit") return [];
      const outcomes = this.#execs.get(one.exec)?.outcomes ?? [];
      const same = outcomes.some(
        ({ event, exitCode }) => event === "exec.exited" && exitCode === one.exitCode,
      );
      return same ? [] : [`exit of ${one.exec}`];
    });
  }

  /** Commands from before this entry, or of former daemons, that do not have exactly one outcome. */
  silent(before = this.#lastStart): string[] {
    return [...this.#execs].flatMap(([id, { seq, outcomes }]) =>
      seq < before && outcomes.length !== 1 ? [`${id}: ${outcomes.length} outcomes`] : [],
    );
  }

  #one(entry: JournalEntry): void {
    const { event, data, seq, session } = entry;
    this.#seq = seq;
    switch (event) {
      case "daemon.started":
        this.#lastStart = seq;
        break;
      case "session.opened":
        this.#sessions.add(session as string);
        break;
      case "session.closed":
        this.#sessions.delete(session as string);
        break;
      case "proposed_action.created":
        this.#commands.set(data.action as string, idIn(data.command as string));
        break;
      case "exec.started": {
        const action = data.action as string;
        this.#execs.set(data.exec as string, { seq, action, outcomes: [] });
        add(this.#execsOf, this.#commands.get(action));
        break;
      }
      case "exec.lost":
      case "exec.exited":
        if (event === "exec.lost") this.lost += 1;
        this.#execs.get(data.exec as string)?.outcomes.push({ event, exitCode: data.exitCode });
        break;
      case "approval.requested": {
        const id = data.approval as string;
        this.#questions.set(id, entry);
        const { command, createdAt, expiresAt } = data as unknown as OpenQuestion;
        this.#pending.set(id, { id, createdAt, expiresAt, command });
        break;
      }
      case "approval.answered":
        this.#pending.delete(data.approval as string);
        if (data.answer === "approve") {
          const command = this.#questions.get(data.approval as string)?.data.command;
          add(this.#approvedOf, idIn(command as string));
        }
        break;
      case "approval.timed_out":
      case "approval.cancelled":
        this.#pending.delete(data.approval as string);
        break;
    }
  }
}

function add(counts: Map<string, number>, key: string | undefined): void {
  if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Every command of the load names its id after `echo ` or `# `. */
function idIn(command: string): string {
  return /(?:echo|#) ([a-z]+-\d+)/.exec(command)?.[1] ?? command;
}
