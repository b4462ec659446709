/** Commands of sessions: who may run one, what it counts as, and what ends it besides itself. */
import type { Journal } from "../journal/types.ts";
import type { Approvals } from "./approvals.ts";
import type { AuthorityDesk } from "./authority/authority-desk.ts";
import type { DenialBook } from "./denial-book.ts";
import { couldApprove } from "./identity.ts";
import { notAvailable } from "./jobs/job.ts";
import type { JobDesk } from "./jobs/job-desk.ts";
import { joinSignals } from "./joined-signal.ts";
import type { SandboxPort, SupervisorDeps } from "./ports.ts";
import { type PreparedCommand, prepareCommand } from "./prepared-command.ts";
import type { RuleDesk } from "./rule-desk.ts";
import { runCommand } from "./run-command.ts";
import type { SessionDesk } from "./session-desk.ts";
import type { Sessions } from "./sessions.ts";
import { Shells } from "./shells.ts";
import type { Caller, RunEvent, RunRequest } from "./types.ts";

export interface RunDeskParts {
  readonly deps: Pick<SupervisorDeps, "adminWall" | "newId" | "now">;
  readonly journal: Journal;
  readonly approvals: Approvals;
  readonly denials: DenialBook;
  readonly sessions: Sessions;
  readonly desk: SessionDesk;
  readonly jobs: JobDesk;
  readonly authority: Pick<AuthorityDesk, "escort" | "uses">;
  readonly rules: Pick<RuleDesk, "tell">;
  readonly adopt: () => Promise<void>;
  readonly sandboxes: Pick<SandboxPort, "ensure" | "executor">;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
  readonly refuseWhenClosing: () => void;
}

export class RunDesk {
  readonly #parts: RunDeskParts;
  readonly #shells = new Shells();

  constructor(parts: RunDeskParts) {
    this.#parts = parts;
  }

  /** See `Supervisor.run`. */
  run(
    caller: Caller,
    session: string,
    request: RunRequest,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent> {
    return this.#parts.jobs.carry(request, signal, (until) =>
      this.#run(caller, session, request, until),
    );
  }

  async *#run(
    caller: Caller,
    id: string,
    request: RunRequest,
    signal: AbortSignal,
  ): AsyncGenerator<RunEvent> {
    const { approvals, authority, denials, desk, deps, jobs, journal, rules } = this.#parts;
    const { sandboxes, sessions } = this.#parts;
    this.#parts.refuseWhenClosing();
    const session = sessions.owned(caller, id);
    const { project, profile } = desk.place(session);
    const plain = sandboxes.executor(session, profile).kind === "plain";
    if (plain && request.tty !== undefined) throw notAvailable("a terminal");
    if (plain && request.shell !== undefined) throw notAvailable("a named shell");
    const { shell: name } = request;
    const shell = name === undefined ? undefined : this.#shells.enter(session, name);
    const prepare = () => {
      const asked = shell?.applied(request) ?? request;
      const prepared = prepareCommand(asked, session.worktree, profile);
      return shell === undefined ? prepared : { ...prepared, shell };
    };
    let command: PreparedCommand;
    let over: () => void;
    try {
      command = prepare();
      over = sessions.begin(session);
    } catch (error) {
      shell?.release();
      throw error;
    }
    const giveUp = joinSignals(signal, session.closed.signal, this.#parts.stopping);
    try {
      yield* runCommand(
        {
          journal,
          approvals,
          denials,
          escort: authority.escort,
          uses: authority.uses,
          egress: desk.egress,
          slots: desk.slots,
          jobs,
          now: deps.now,
          newId: deps.newId,
          judge: () => desk.judge(session, command.command, command.cwd, undefined, request),
          tell: (ignored) => rules.tell(project.id, ignored),
          ensureSandbox: async () => {
            await this.#parts.adopt();
            return sandboxes.ensure(project, profile, session.worktree);
          },
        },
        {
          session,
          project,
          profile,
          command,
          action: deps.newId("action"),
          agentCouldApprove: couldApprove(caller, deps.adminWall()),
          unreachable: (verdict) => desk.egress.unreachable(session, profile, verdict),
          signal: giveUp.signal,
        },
      );
    } finally {
      giveUp.release();
      over();
      shell?.release();
    }
  }
}
