/** A supervisor with everything real but the container: policy, journal, settings and watchers on folders of its own. */
import { chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { Egress, type EgressOptions } from "../../daemon/egress/egress.ts";
import { RecintoError } from "../../daemon/errors.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { Journal, JournalEvent } from "../../daemon/journal/types.ts";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import type { ExecExit, ExecProcess } from "../../daemon/sandbox/engine.ts";
import type { SandboxCommand } from "../../daemon/sandbox/sandboxes.ts";
import { createRegistry } from "../../daemon/settings/registry.ts";
import type { DaemonConfig } from "../../daemon/settings/types.ts";
import { randomId } from "../../daemon/supervisor/ids.ts";
import type { SandboxPort, SupervisorDeps } from "../../daemon/supervisor/ports.ts";
import { createSupervisor } from "../../daemon/supervisor/supervisor.ts";
import type { Supervisor } from "../../daemon/supervisor/supervisor-interface.ts";
import type { Caller, RunEvent, RunRequest } from "../../daemon/supervisor/types.ts";
import { PrivateGits } from "../../daemon/worktree/private-git/private-gits.ts";
import { watchWorktree } from "../../daemon/worktree/watcher.ts";

/** Uids of nobody on any machine. */
export const AGENT = 61_001;
export const OTHER_AGENT = 61_002;
export const OWNER = 61_003;
export const PERSON = 61_009;
export const ADMIN_GROUP = 61_100;

export const agent = (project = "web", uid = AGENT): Caller => ({
  uid,
  gid: uid,
  pid: 1,
  groups: [],
  socket: { kind: "agent", project },
});

export const admin = (uid = PERSON): Caller => ({
  uid,
  gid: uid,
  pid: 1,
  groups: [ADMIN_GROUP],
  socket: { kind: "admin" },
});

/** What a pretended program does: writes, then ends with an exit code; it may wait for a signal. */
export type Program = (io: {
  readonly stdin: PassThrough | null;
  /** For a program that waits while nobody reads. */
  readonly stdout: PassThrough;
  readonly out: (text: string) => void;
  readonly killed: Promise<string>;
  /** It leaves something running, until this settles. */
  readonly leave: (gone: Promise<unknown>) => void;
}) => Promise<number> | number;

export class World {
  readonly folder = mkdtempSync("/var/tmp/recinto-world-");
  readonly programs = new Map<string, Program>();
  /** Command texts that reached a sandbox, in order. */
  readonly ran: SandboxCommand[] = [];
  readonly sandboxCalls: string[] = [];
  engineAway = false;
  /** What the environment or the config say over the profile (B2). */
  denialLimits: Partial<Pick<DaemonConfig, "maxConsecutiveDenials" | "maxTotalDenials">> = {};
  agentsShareApproverUid = false;
  now = () => Date.now();
  journal: Journal | null = null;
  /** Stands between the supervisor and the journal, to make it fail. */
  wrapJournal: (journal: Journal) => Journal = (journal) => journal;
  readonly gits = new PrivateGits(join(this.folder, "state", "git"), () => randomId("git"));
  /** Real ones, for tests with an engine. */
  openSandboxes: SupervisorDeps["openSandboxes"] | null = null;
  /** What commands reach: nothing, unless a test says otherwise. */
  egress: Pick<EgressOptions, "network" | "interception"> = {
    network: {
      resolve: async () => [],
      dial: async () => Promise.reject(new Error("nothing is dialled here")),
      own: () => [],
      allowed: [],
    },
    interception: null,
  };
  supervisor!: Supervisor;

  get root(): string {
    return join(this.folder, "web");
  }

  worktree(name = "one"): string {
    return join(this.root, ".worktrees", name);
  }

  /** Writes a file that belongs to the worktrees' owner. */
  write(path: string, text: string): void {
    const missing: string[] = [];
    for (let at = dirname(path); lstatSync(at, { throwIfNoEntry: false }) === undefined; ) {
      missing.push(at);
      at = dirname(at);
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (process.getuid?.() === 0) {
      for (const made of [path, ...missing]) chownSync(made, OWNER, OWNER);
    }
  }

  async start(): Promise<Supervisor> {
    for (const name of ["one", "two"]) this.write(join(this.worktree(name), "file.txt"), "text\n");
    this.write(join(this.root, "..", "api", ".worktrees", "one", "file.txt"), "api\n");
    mkdirSync(join(this.folder, "projects"), { recursive: true });
    mkdirSync(join(this.folder, "profiles"), { recursive: true });
    const dir = join(this.folder, "projects");
    writeFileSync(join(dir, "web.yaml"), `root: ${this.root}\nprofile: test\n`);
    writeFileSync(join(dir, "api.yaml"), `root: ${join(this.folder, "api")}\nprofile: test\n`);
    writeFileSync(join(this.folder, "profiles", "test.yaml"), this.profile);
    return this.restart();
  }

  profile = `extends: default
approvalWait: 5s
limits: {wallClock: 5s, output: 64KiB}
policy: {rules: [{id: no-uname, pattern: "uname *", action: deny, justification: names are private}]}
`;

  /** The next daemon on the same state; the one before is gone as after a kill. */
  async restart(): Promise<Supervisor> {
    this.journal?.close();
    const journal = openJournal(join(this.folder, "state", "journal.db"), {
      now: () => this.now(),
    });
    this.journal = journal;
    this.supervisor = await createSupervisor(this.#deps(this.wrapJournal(journal)));
    return this.supervisor;
  }

  async end(): Promise<void> {
    await this.supervisor.shutdown();
    rmSync(this.folder, { recursive: true });
  }

  async open(caller = agent(), worktree = "one"): Promise<string> {
    const { session } = await this.supervisor.openSession(caller, { worktree });
    return session.id;
  }

  /** For what no test of these calls. */
  unused(): never {
    throw new Error("a test called what it said it would not");
  }

  /** Names and data of journal entries of these kinds. */
  recorded(...events: JournalEvent[]): readonly (readonly [string, Record<string, unknown>])[] {
    const entries = this.journal?.read(events.length > 0 ? { events } : {}) ?? [];
    return entries.map(({ event, data }) => [event, data] as const);
  }

  #deps(journal: Journal): SupervisorDeps {
    const config = {
      runDir: join(this.folder, "run"),
      stateDir: join(this.folder, "state"),
      profilesDir: join(this.folder, "profiles"),
      projectsDir: join(this.folder, "projects"),
      rulesDir: join(this.folder, "rules"),
      adminGroup: null,
      engineSocket: "",
      agentsShareApproverUid: this.agentsShareApproverUid,
      watcher: "watch",
      logLevel: "info",
      roles: [],
      ...this.denialLimits,
    } as const;
    const quiet = () => undefined;
    return {
      config,
      configFile: null,
      journal,
      openRegistry: (onEvent) => createRegistry(config, { onEvent }),
      openSandboxes: (hooks) => this.openSandboxes?.(hooks) ?? this.#sandboxes(),
      gits: this.gits,
      openEgress: (record) => new Egress({ ...this.egress, now: () => this.now(), record }),
      engineInfo: async () => ({ name: "fake", version: "1", apiVersion: "1" }),
      watch: watchWorktree,
      evaluate,
      adminWall: () => ({
        uids: new Set([0]),
        gids: new Set([0, ADMIN_GROUP]),
        agentsShareApproverUid: this.agentsShareApproverUid,
      }),
      now: () => this.now(),
      newId: randomId,
      log: { info: quiet, warn: quiet, error: quiet },
    };
  }

  #sandboxes(): SandboxPort {
    const call = async (name: string) => {
      this.sandboxCalls.push(name);
      if (this.engineAway) throw new RecintoError("engine-unreachable", "no engine here");
    };
    return {
      adopt: async () => {
        await call("adopt");
        return [];
      },
      executor: () => ({ kind: "runner", reason: "pretended", landlock: 7 }),
      list: async () => [],
      remove: () => call("remove"),
      removeProject: (project) => call(`removeProject ${project}`),
      stopAll: () => call("stopAll"),
      ensure: async (project, _, worktree) => {
        await call(`ensure ${project.id}`);
        const mounts = [{ source: worktree, target: worktree, readOnly: false }];
        return {
          id: `box-${project.id}`,
          spec: { mounts, tmpfs: [] } as unknown as Awaited<
            ReturnType<SandboxPort["ensure"]>
          >["spec"],
          confine: () => ({
            text: "mounts-only",
            harmless: false,
            confinement: { writable: [], readOnly: false, tcp: true },
            hint: () => null,
          }),
          exec: async (command) => this.#exec(command),
        };
      },
    };
  }

  #exec(command: SandboxCommand): ExecProcess {
    this.ran.push(command);
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const stdin = command.stdin ? new PassThrough() : null;
    let kill: (signal: string) => void = () => undefined;
    const killed = new Promise<string>((resolve) => {
      kill = resolve;
    });
    const program = this.programs.get(command.command) ?? (() => 0);
    let gone: Promise<void> | null = null;
    const leave = (left: Promise<unknown>) => {
      gone = left.then(() => undefined);
    };
    const running = (async () =>
      program({ stdin, stdout, out: (text) => stdout.write(text), killed, leave }))();
    const exited = running
      .then((exitCode): ExecExit => ({ exitCode, oomKilled: false, ...(gone ? { left: 1 } : {}) }))
      .finally(() => {
        stdout.end();
        stderr.end();
      });
    const control = {
      pid: 1,
      signal: (signal: string) => kill(signal),
      resize: () => undefined,
      gone: exited.then(() => gone ?? undefined).catch(() => undefined),
    };
    return { stdin, stdout, stderr, exited, kill: async (signal) => kill(signal), control };
  }
}

export interface Ran {
  readonly events: readonly RunEvent[];
  readonly stdout: string;
  readonly last: RunEvent | undefined;
}

/** Runs to the end; `on` is called for each event before the next one is asked for. */
export async function run(
  world: World,
  session: string,
  request: RunRequest | string,
  options: {
    readonly caller?: Caller;
    readonly signal?: AbortSignal;
    readonly on?: (event: RunEvent) => void | Promise<void>;
  } = {},
): Promise<Ran> {
  const { caller = agent(), signal = new AbortController().signal, on } = options;
  const wanted = typeof request === "string" ? { command: request } : request;
  const events: RunEvent[] = [];
  let stdout = "";
  for await (const event of world.supervisor.run(caller, session, wanted, signal)) {
    events.push(event);
    if (event.type === "stdout") stdout += Buffer.from(event.data).toString();
    await on?.(event);
  }
  return { events, stdout, last: events.at(-1) };
}

/** Answers the first question that the command asks. */
export function answering(
  world: World,
  answer: Parameters<Supervisor["answer"]>[2],
  caller = admin(),
): (event: RunEvent) => Promise<void> {
  const answered = new Set<string>();
  return async (event) => {
    if (event.type !== "pending" || answered.has(event.approval)) return;
    answered.add(event.approval);
    await world.supervisor.answer(caller, event.approval, answer);
  };
}

export async function codeOf(action: () => unknown): Promise<string | undefined> {
  try {
    await action();
  } catch (error) {
    return error instanceof RecintoError ? error.code : `not ours: ${String(error)}`;
  }
  return undefined;
}
