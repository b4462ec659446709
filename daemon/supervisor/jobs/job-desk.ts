/** The jobs of all sessions: listed while they run and for a while after, reached by their session's owner alone. */
import { RecintoError } from "../../errors.ts";
import type { Journal, JournalEvent } from "../../journal/types.ts";
import {
  JOB_ENDED_KEPT_MS,
  JOB_HISTORIES_BYTES_MAX,
  JOB_LIFE_DEFAULT_MS,
  JOBS_BACKGROUND_MAX,
  JOBS_ENDED_KEPT_MAX,
} from "../../limits.ts";
import { joinSignals } from "../joined-signal.ts";
import type { Log } from "../ports.ts";
import { actionEntry, type RunContext } from "../run-context.ts";
import type { Session, Sessions } from "../sessions.ts";
import type { Caller, RunEvent, RunRequest, TerminalSize } from "../types.ts";
import { Job, type JobAbout } from "./job.ts";
import type { JobCalls, JobEvent, JobInfo, OutputRequest, RunnerSignal } from "./job-calls.ts";

export interface JobDeskParts {
  readonly journal: Journal;
  readonly sessions: Sessions;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

export class JobDesk implements JobCalls {
  readonly #parts: JobDeskParts;
  readonly #jobs = new WeakMap<Session, Map<string, Job>>();
  /** Ended ones whose output is kept, of all live sessions, in the order in which they ended. */
  readonly #ended = new Set<Job>();
  #keptBytes = 0;

  constructor(parts: JobDeskParts) {
    this.#parts = parts;
  }

  /** A job that is about to be started; it is listed once it runs. */
  begin(context: RunContext, about: Pick<JobAbout, "id" | "confinement" | "startedAt">): Job {
    const { session, action, command, profile } = context;
    const { journal, now, stopping } = this.#parts;
    const record = (event: JournalEvent, data: object) =>
      journal.appendSoon([actionEntry(context, event, { exec: about.id, ...data })]);
    const { backgroundMs = JOB_LIFE_DEFAULT_MS } = profile.limits;
    const job = new Job(
      {
        ...about,
        session: session.id,
        action,
        command: command.command,
        cwd: command.cwd,
        detached: command.detach,
      },
      command.tty,
      {
        now,
        ends: [
          [session.closed.signal, "session-closed"],
          [stopping, "daemon-stopped"],
        ],
        backgroundMs: session.background.size < JOBS_BACKGROUND_MAX ? backgroundMs : 0,
        onLeft: (left) => {
          session.background.add(job.gone);
          record("job.left", { left, command: command.command });
          // Of many that were begun at once more may leave something than may stay.
          if (session.background.size > JOBS_BACKGROUND_MAX) void job.kill();
        },
        onBackgroundEnd: (why) => {
          session.background.delete(job.gone);
          record("job.ended", { reason: why });
        },
        onEnd: () => this.#keep(session, job),
      },
    );
    return job;
  }

  /** It runs. */
  add(session: Session, job: Job): void {
    const known = this.#jobs.get(session);
    if (known !== undefined) {
      known.set(job.id, job);
      return;
    }
    this.#jobs.set(session, new Map([[job.id, job]]));
    const { signal } = session.closed;
    signal.addEventListener("abort", () => this.#forgetAll(session), { once: true });
    if (signal.aborted) this.#forgetAll(session);
  }

  /**
   * The events of a run for who asked for it. Of a detached one they end with `started`, and it goes on by itself: until
   * then it is given up with its caller.
   */
  async *carry(
    request: RunRequest,
    signal: AbortSignal,
    run: (signal: AbortSignal) => AsyncGenerator<RunEvent>,
  ): AsyncGenerator<RunEvent> {
    if (request.detach !== true) {
      yield* run(signal);
      return;
    }
    const caller = joinSignals(signal);
    const events = run(caller.signal);
    let handedOver = false;
    try {
      for (let next = await events.next(); !next.done; next = await events.next()) {
        if (next.value.type === "started") {
          handedOver = true;
          caller.release();
          void this.#drive(events, this.#find(next.value.exec));
          yield next.value;
          return;
        }
        yield next.value;
      }
    } finally {
      caller.release();
      if (!handedOver) await events.return(undefined);
    }
  }

  list(caller: Caller, id: string): readonly JobInfo[] {
    const session = this.#parts.sessions.visible(caller, id);
    this.#forgetOld(session);
    return [...this.#of(session).values()].map((job) => job.info());
  }

  show(caller: Caller, session: string, id: string): JobInfo {
    return this.#visible(caller, session, id).info();
  }

  output(
    caller: Caller,
    session: string,
    id: string,
    request: OutputRequest,
    signal: AbortSignal,
  ): AsyncIterable<JobEvent> {
    return this.#visible(caller, session, id).events(request, signal);
  }

  async write(caller: Caller, session: string, id: string, data: Uint8Array): Promise<void> {
    await this.#owned(caller, session, id).write(data);
  }

  endInput(caller: Caller, session: string, id: string): void {
    this.#owned(caller, session, id).endInput();
  }

  signal(caller: Caller, session: string, id: string, signal: RunnerSignal, tree: boolean): void {
    const job = this.#owned(caller, session, id);
    job.signal(signal, tree);
    this.#record(caller, session, job, { signal, tree });
  }

  resize(caller: Caller, session: string, id: string, size: TerminalSize): void {
    this.#owned(caller, session, id).resize(size);
  }

  async kill(caller: Caller, session: string, id: string): Promise<JobInfo> {
    const job = this.#visible(caller, session, id);
    if (job.state !== "ended") this.#record(caller, session, job, { signal: "TERM", tree: true });
    await job.kill();
    return job.info();
  }

  /** What is told about a detached run after its start is kept with its job. */
  async #drive(events: AsyncGenerator<RunEvent>, job: Job | undefined): Promise<void> {
    try {
      for await (const event of events) if (event.type === "note") job?.note(event);
    } catch (error) {
      // Its outcome is on record; nobody is there who could be told.
      this.#parts.log.warn({ error, exec: job?.id }, "a detached command ended badly");
    }
  }

  #record(caller: Caller, id: string, job: Job, data: object): void {
    const { project } = this.#parts.sessions.visible(caller, id);
    const entry = { project, session: id, uid: caller.uid, data: { exec: job.id, ...data } };
    this.#parts.journal.appendSoon([{ event: "job.signalled", ...entry }]);
  }

  #visible(caller: Caller, session: string, id: string): Job {
    return this.#in(this.#parts.sessions.visible(caller, session), id);
  }

  #owned(caller: Caller, session: string, id: string): Job {
    return this.#in(this.#parts.sessions.owned(caller, session), id);
  }

  #in(session: Session, id: string): Job {
    const job = this.#of(session).get(id);
    if (job !== undefined) return job;
    throw new RecintoError("unknown-job", `session ${session.id} has no job ${JSON.stringify(id)}`);
  }

  #find(id: string): Job | undefined {
    for (const session of this.#parts.sessions.all()) {
      const job = this.#of(session).get(id);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  #of(session: Session): ReadonlyMap<string, Job> {
    return this.#jobs.get(session) ?? new Map();
  }

  /** Over the bytes for all, the output of whichever ended first goes; over a session's number, its oldest jobs. */
  #keep(session: Session, job: Job): void {
    if (session.closed.signal.aborted) return;
    this.#ended.add(job);
    this.#keptBytes += keptBytes(job);
    for (const oldest of this.#ended) {
      if (this.#keptBytes <= JOB_HISTORIES_BYTES_MAX) break;
      this.#letGo(oldest);
      oldest.output.clear();
    }
    this.#forgetOld(session);
  }

  #forgetOld(session: Session): void {
    const ended = [...this.#of(session).values()].filter(({ endedAt }) => endedAt !== null);
    const before = this.#parts.now() - JOB_ENDED_KEPT_MS;
    const surplus = ended.length - JOBS_ENDED_KEPT_MAX;
    for (const [index, job] of ended.entries()) {
      if (index < surplus || (job.endedAt ?? 0) < before) this.#forget(session, job);
    }
  }

  #forgetAll(session: Session): void {
    for (const job of this.#of(session).values()) this.#forget(session, job);
  }

  #forget(session: Session, job: Job): void {
    this.#jobs.get(session)?.delete(job.id);
    this.#letGo(job);
  }

  #letGo(job: Job): void {
    if (this.#ended.delete(job)) this.#keptBytes -= keptBytes(job);
  }
}

function keptBytes({ output }: Job): number {
  return output.to - output.from;
}
