/** What goes with a command: something to do right before it starts and right after it ended, told to the agent in notes. */
import type { Verdict } from "../policy/types.ts";
import type { SandboxHandle } from "../sandbox/sandboxes.ts";
import type { Profile, Project } from "../settings/types.ts";
import type { Session } from "./sessions.ts";
import type { RunEvent } from "./types.ts";

export type Note = Extract<RunEvent, { type: "note" }>;

export interface EscortedCommand {
  readonly session: Pick<Session, "id" | "project" | "uid" | "worktree">;
  readonly project: Project;
  readonly profile: Profile;
  readonly action: string;
  readonly sandbox: Pick<SandboxHandle, "exec"> &
    Partial<Pick<SandboxHandle, "privateGit" | "executor">>;
  readonly verdict: Verdict;
  /** A person approved exactly this command. */
  readonly approved: boolean;
}

/** Neither call rejects: the command ran, or will, whatever becomes of them. */
export interface Escort {
  before(command: EscortedCommand): Promise<readonly Note[]>;
  /** `goesOn`: the command itself ended, but left something running; it is called again when nothing of it is left. */
  after(command: EscortedCommand, goesOn: boolean): Promise<readonly Note[]>;
}

/** The same events, with what `after` has to tell before the exit. It is called once, also where there is no exit. */
export async function* withNotesAfter(
  events: AsyncIterable<RunEvent>,
  after: () => Promise<readonly Note[]>,
): AsyncGenerator<RunEvent> {
  for await (const event of events) {
    if (event.type === "exit") yield* await after();
    yield event;
  }
}

export function note(code: Note["code"], reason: string, paths: readonly string[] = []): Note {
  return { type: "note", code, paths, reason };
}

/** Several as one, one after another. */
export function together(escorts: readonly Escort[]): Escort {
  const all = async (step: (escort: Escort) => Promise<readonly Note[]>) => {
    const notes: Note[] = [];
    for (const escort of escorts) notes.push(...(await step(escort)));
    return notes;
  };
  return {
    before: (command) => all((escort) => escort.before(command)),
    after: (command, goesOn) => all((escort) => escort.after(command, goesOn)),
  };
}
