/** Where the daemon runs a closing check: in the worktree's sandbox, looked after like a command of its session. */
import { RecintoError } from "../../errors.ts";
import type { Verdict } from "../../policy/types.ts";
import type { SandboxHandle } from "../../sandbox/sandboxes.ts";
import type { Profile, Project } from "../../settings/types.ts";
import type { Escort, EscortedCommand } from "../escort.ts";
import type { NewId } from "../ids.ts";
import type { Sessions } from "../sessions.ts";
import type { LedgerKey } from "./ledger-book.ts";

export type CheckSandbox = Pick<SandboxHandle, "id" | "confine" | "exec"> &
  Partial<Pick<SandboxHandle, "executor" | "privateGit">>;

export interface CheckPlace extends Pick<CheckSandbox, "id" | "confine" | "exec"> {
  /** What it does to protected files meanwhile is undone, like any command's: a check runs what agents wrote. */
  escorted<T>(work: () => Promise<T>): Promise<T>;
}

export interface CheckPlaceParts {
  readonly newId: NewId;
  readonly sessions: Sessions;
  readonly escort: Escort;
  readonly placeOf: (key: LedgerKey) => { readonly project: Project; readonly profile: Profile };
  readonly ensureSandbox: (
    project: Project,
    profile: Profile,
    worktree: string,
  ) => Promise<CheckSandbox>;
}

/** What a check is taken for: a run of project code. */
const RUNS: Verdict = {
  verdict: "allow",
  effects: ["run"],
  classes: ["run"],
  roots: [],
  segments: [],
  reason: "a closing check",
  bindTo: [],
};

/** Throws `unknown-session` where nobody works there any more, and what the engine throws. */
export async function checkPlace(parts: CheckPlaceParts, key: LedgerKey): Promise<CheckPlace> {
  const { sessions, escort, newId } = parts;
  const { project, profile } = parts.placeOf(key);
  const session = sessions
    .all()
    .find((each) => each.project === key.project && each.worktree === key.worktree);
  if (session === undefined) {
    throw new RecintoError("unknown-session", `no session works on ${key.worktree}`);
  }
  const sandbox = await parts.ensureSandbox(project, profile, key.worktree);
  return {
    id: sandbox.id,
    confine: (given) => sandbox.confine(given),
    exec: (spec) => sandbox.exec(spec),
    async escorted(work) {
      const action = newId("action");
      const approved = false;
      const command: EscortedCommand = {
        session,
        project,
        profile,
        action,
        sandbox,
        verdict: RUNS,
        approved,
      };
      await escort.before(command);
      try {
        return await work();
      } finally {
        await escort.after(command, false);
      }
    },
  };
}
