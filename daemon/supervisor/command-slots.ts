/** How many commands run at once, for each session, each project and in all; the others wait, and the fewest run next. */
import { RecintoError } from "../errors.ts";
import { COMMANDS_PER_PROJECT_QUEUED_MAX, COMMANDS_QUEUED_MAX } from "../limits.ts";

/** As the session's profile says. */
export interface SlotLimits {
  readonly perSession: number;
  readonly perProject: number;
  /** Commands of one session that may wait; one more is refused. */
  readonly queued: number;
}

export interface SlotRequest {
  readonly project: string;
  readonly session: string;
  readonly limits: SlotLimits;
  /** A person has said yes to it: it is not refused for a full queue. Open questions have a bound of their own. */
  readonly approved?: boolean;
  /** Gives the place up while it waits. */
  readonly signal: AbortSignal;
}

export interface Slot {
  /** null: it may run now. Else resolves when its turn has come, or when its signal was aborted. */
  readonly turn: Promise<void> | null;
  /** Commands of the same session that wait before it. */
  readonly ahead: number;
  /** Gives the slot, or the place in the queue, to others; a second call does nothing. */
  release(): void;
}

interface Line {
  running: number;
  /** How many may run. */
  limit: number;
  waiting: number;
  /** When it was last given a slot, counted in slots given. */
  served: number;
}

interface SessionLine extends Line {
  readonly queue: (() => void)[];
}

interface ProjectLine extends Line {
  readonly sessions: Map<string, SessionLine>;
}

/**
 * A free slot goes to the project with the fewest running commands, there to the session with the fewest, and among equals
 * to the one that was served longest ago; within a session the first come is first. So whoever sends many waits behind
 * their own, and whoever sends one is next. Nothing here looks at a clock.
 */
export class CommandSlots {
  readonly #runningMax: number;
  readonly #projects = new Map<string, ProjectLine>();
  #running = 0;
  #waiting = 0;
  #served = 0;

  /** `runningMax`: commands in all projects together. */
  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Commands that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** A slot, or a place in the queue. Throws `queue-full`. */
  enter(request: SlotRequest): Slot {
    const { limits, signal } = request;
    const project = this.#project(request.project);
    const session = sessionOf(project, request.session);
    project.limit = limits.perProject;
    session.limit = limits.perSession;
    if (session.waiting === 0 && this.#free(project) && free(session)) {
      this.#start(project, session);
      return { turn: null, ahead: 0, release: once(() => this.#end(request, project, session)) };
    }
    try {
      if (request.approved !== true) this.#refuseWhenFull(request, project, session);
    } catch (error) {
      this.#forgetIdle(request, project, session);
      throw error;
    }
    const ahead = session.waiting;
    let running = false;
    let resume = () => {};
    const turn = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const start = () => {
      running = true;
      signal.removeEventListener("abort", release);
      resume();
    };
    const release = once(() => {
      signal.removeEventListener("abort", release);
      if (running) this.#end(request, project, session);
      else {
        session.queue.splice(session.queue.indexOf(start), 1);
        this.#count(project, session, -1);
        this.#forgetIdle(request, project, session);
      }
      resume();
    });
    session.queue.push(start);
    this.#count(project, session, 1);
    if (signal.aborted) release();
    else signal.addEventListener("abort", release, { once: true });
    // A limit that was raised since lets those before it go.
    this.#next();
    return { turn, ahead, release };
  }

  #start(project: ProjectLine, session: SessionLine): void {
    this.#served += 1;
    this.#running += 1;
    for (const line of [project, session]) {
      line.running += 1;
      line.served = this.#served;
    }
  }

  #end(request: SlotRequest, project: ProjectLine, session: SessionLine): void {
    this.#running -= 1;
    project.running -= 1;
    session.running -= 1;
    this.#forgetIdle(request, project, session);
    this.#next();
  }

  #next(): void {
    while (this.#waiting > 0 && this.#running < this.#runningMax) {
      const project = fewest(
        this.#projects,
        (line) => line.waiting > 0 && free(line) && fewest(line.sessions, mayStart) !== undefined,
      );
      const session = project && fewest(project.sessions, mayStart);
      if (project === undefined || session === undefined) return;
      const start = session.queue.shift();
      this.#count(project, session, -1);
      this.#start(project, session);
      start?.();
    }
  }

  #refuseWhenFull(request: SlotRequest, project: ProjectLine, session: SessionLine): void {
    const { limits } = request;
    if (session.waiting >= limits.queued) {
      throw full(`session ${request.session}`, session);
    }
    if (project.waiting >= COMMANDS_PER_PROJECT_QUEUED_MAX) {
      throw full(`project ${request.project}`, project);
    }
    if (this.#waiting >= COMMANDS_QUEUED_MAX) {
      throw full("recintod", { running: this.#running, waiting: this.#waiting });
    }
  }

  #free(project: ProjectLine): boolean {
    return this.#running < this.#runningMax && free(project);
  }

  #count(project: ProjectLine, session: SessionLine, change: 1 | -1): void {
    this.#waiting += change;
    project.waiting += change;
    session.waiting += change;
  }

  #project(id: string): ProjectLine {
    let line = this.#projects.get(id);
    if (line === undefined) {
      line = { running: 0, limit: 0, waiting: 0, served: 0, sessions: new Map() };
      this.#projects.set(id, line);
    }
    return line;
  }

  #forgetIdle(request: SlotRequest, project: ProjectLine, session: SessionLine): void {
    if (session.running + session.waiting > 0) return;
    project.sessions.delete(request.session);
    if (project.sessions.size === 0) this.#projects.delete(request.project);
  }
}

function sessionOf({ sessions }: ProjectLine, id: string): SessionLine {
  let line = sessions.get(id);
  if (line === undefined) {
    line = { running: 0, limit: 0, waiting: 0, served: 0, queue: [] };
    sessions.set(id, line);
  }
  return line;
}

function free({ running, limit }: Line): boolean {
  return running < limit;
}

function mayStart(line: SessionLine): boolean {
  return line.waiting > 0 && free(line);
}

function fewest<T extends Line>(
  lines: ReadonlyMap<string, T>,
  mayRun: (line: T) => boolean,
): T | undefined {
  let best: T | undefined;
  for (const line of lines.values()) {
    if (!mayRun(line)) continue;
    const before =
      best === undefined ||
      line.running < best.running ||
      (line.running === best.running && line.served < best.served);
    if (before) best = line;
  }
  return best;
}

function full(whose: string, { running, waiting }: Pick<Line, "running" | "waiting">) {
  return new RecintoError(
    "queue-full",
    `${whose} has ${running} commands running and ${waiting} waiting`,
  );
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}
