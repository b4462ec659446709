/** Makes the daemon out of its parts: which real thing stands behind each interface. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Logger, pino, stdSerializers } from "pino";
import { agentClient } from "./api/client.ts";
import { type Listeners, openListeners } from "./api/listeners.ts";
import type { Backend } from "./api/route.ts";
import { agentGroupId, groupId } from "./api/socket-groups.ts";
import { Egress } from "./egress/egress.ts";
import { interceptBy, loadAuthority } from "./egress/interception.ts";
import { hostNetwork, type NetworkPort } from "./egress/reach.ts";
import { openJournal } from "./journal/sqlite-journal.ts";
import { evaluate } from "./policy/evaluate.ts";
import { machineClock } from "./sandbox/clock.ts";
import { DockerEngine } from "./sandbox/docker/docker-engine.ts";
import { GivenFolders } from "./sandbox/given-folders.ts";
import { installRunner } from "./sandbox/runner/program.ts";
import { Sandboxes } from "./sandbox/sandboxes.ts";
import { isJournalStream, journaldSink } from "./service/journald.ts";
import { parseProfile, resolveProfile, SHIPPED_PROFILES_DIR } from "./settings/profiles.ts";
import { createRegistry, type Registry } from "./settings/registry.ts";
import type { DaemonConfig } from "./settings/types.ts";
import { namesOf, readAccounts, watchedWall } from "./supervisor/accounts.ts";
import { randomId } from "./supervisor/ids.ts";
import type { SupervisorDeps } from "./supervisor/ports.ts";
import { privateGitPort } from "./supervisor/private-git-port.ts";
import { keepRecordFor } from "./supervisor/retention.ts";
import { rightsOf } from "./supervisor/roles.ts";
import { SteadyClock } from "./supervisor/steady-clock.ts";
import { createSupervisor } from "./supervisor/supervisor.ts";
import type { Supervisor } from "./supervisor/supervisor-interface.ts";
import { watchWithChokidar } from "./worktree/chokidar-watcher.ts";
import { PrivateGits } from "./worktree/private-git/private-gits.ts";
import { watchWorktree } from "./worktree/watcher.ts";

const IMAGES_DIR = fileURLToPath(new URL("../images/", import.meta.url));

export const VERSION: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;

export interface Daemon {
  readonly supervisor: Supervisor;
  readonly listeners: Listeners;
  readonly engine: DockerEngine;
  /** Profiles, projects and rules are read again. */
  reload(): void;
}

export function createLog(config: Pick<DaemonConfig, "logLevel">): Logger {
  const { err } = stdSerializers;
  const options = { level: config.logLevel, base: null, serializers: { err, error: err } };
  // Under systemd each value is a field of its own, to be searched by; anywhere else one JSON object a line.
  return isJournalStream(process.env, process.stdout.fd)
    ? pino(options, journaldSink(process.stdout))
    : pino(options);
}

/** What the daemon stands on, where a program of its own may put something else: recintod itself never does. */
export interface Ground {
  readonly engine: (socket: string) => DockerEngine;
  readonly network: NetworkPort;
  readonly adapt: (deps: SupervisorDeps) => SupervisorDeps;
}

const REAL_GROUND: Ground = {
  engine: (socket) => new DockerEngine(socket),
  network: hostNetwork,
  adapt: (deps) => deps,
};

/**
 * Journal, engine, settings, supervisor, sockets, in this order: nothing is served before it can be recorded. `adminFd`
 * is the admin socket where somebody else holds it open.
 */
export async function startDaemon(
  config: DaemonConfig,
  configFile: string | null,
  log: Logger,
  adminFd: number | null = null,
  ground: Ground = REAL_GROUND,
): Promise<Daemon> {
  mkdirSync(config.stateDir, { recursive: true, mode: 0o700 });
  const clock = new SteadyClock({ wall: Date.now, monotonic: () => performance.now() });
  const { now } = clock;
  const journal = openJournal(join(config.stateDir, "journal.sqlite"), {
    now,
    onListenerError: (err) => log.error({ err }, "a reader of the journal failed"),
  });
  const [newest] = journal.read({ newest: true, limit: 1 });
  const behindMs = clock.notBefore(newest?.at ?? 0);
  if (behindMs > 0) log.warn({ behindMs }, "the machine's clock is behind the record's last entry");
  const engine = ground.engine(config.engineSocket);
  const program = await installRunner(config.stateDir);
  if (program.folder === null) log.warn({ reason: program.missing }, "commands go by docker exec");
  const gits = new PrivateGits(join(config.stateDir, "git"), () => randomId("git"));
  const given = new GivenFolders(join(config.stateDir, "given"));
  const authority = loadAuthority(join(config.stateDir, "egress"), Date.now());
  let registry: Registry | undefined;
  const deps: SupervisorDeps = {
    config,
    configFile,
    journal,
    openRegistry: (onEvent) => {
      registry = createRegistry(config, {
        onEvent,
        ...(configFile === null ? {} : { configFile }),
      });
      return registry;
    },
    openSandboxes: (hooks) =>
      new Sandboxes({
        engine,
        owner: ownerName(config.stateDir),
        imagesDir: IMAGES_DIR,
        clock: machineClock,
        runner: {
          program,
          socketsDir: join(config.runDir, "runners"),
          trustDir: authority.trust,
        },
        privateGit: privateGitPort(gits),
        given,
        ...hooks,
      }),
    openEgress: (record) =>
      new Egress({
        network: ground.network,
        interception: interceptBy(authority, Date.now),
        now,
        record,
      }),
    gits,
    engineInfo: () => engine.info(),
    watch: config.watcher === "chokidar" ? watchWithChokidar : (options) => watchWorktree(options),
    evaluate,
    adminWall: watchedWall(config, process.getuid?.() ?? 0),
    now,
    newId: randomId,
    log,
  };
  const supervisor = await createSupervisor(ground.adapt(deps));
  try {
    const settings = registry as Registry;
    const listeners = await openSockets(config, supervisor, settings, log, adminFd);
    keepRecordFor({ journal, days: config.journalKeepDays ?? null, now, log });
    return { supervisor, listeners, engine, reload: () => settings.reload() };
  } catch (error) {
    await supervisor.shutdown();
    throw error;
  }
}

function openSockets(
  config: DaemonConfig,
  supervisor: Supervisor,
  registry: Registry,
  log: Logger,
  adminFd: number | null,
): Promise<Listeners> {
  const profiles: Backend["profiles"] = {
    list: () => registry.profiles().map((name) => registry.profile(name)),
    show: (name) => registry.profile(name),
    check: (name, text) =>
      resolveProfile(parseProfile(text, { name, file: "(request)" }), [
        config.profilesDir,
        SHIPPED_PROFILES_DIR,
      ]),
  };
  return openListeners({
    runDir: config.runDir,
    adminFd,
    adminGid: config.adminGroup === null ? null : groupId(config.adminGroup),
    agentGid: (project) => agentGroupId(project, registry.listWorktrees(project)),
    backend: {
      supervisor,
      profiles,
      version: VERSION,
      rights: (caller) =>
        rightsOf(caller.uid, config.roles, process.getuid?.() ?? 0, () =>
          namesOf(caller, readAccounts()),
        ),
      // Loaded by the first agent that wants it: most never do.
      serveMcp: async (connection, dial, worktree) => {
        const { serveMcp } = await import("./mcp/serve-mcp.ts");
        const client = agentClient({ socketPath: "(this daemon)", dial });
        const ends = { input: connection, output: connection };
        await serveMcp({ client, worktree, version: VERSION, ...ends });
      },
    },
    log,
    requestId: requestIds(),
  });
}

/** Unique across restarts by its first half, in order by its second. */
function requestIds(): () => string {
  const life = randomBytes(4).toString("hex");
  let count = 0;
  return () => `${life}-${(++count).toString(36)}`;
}

/** Two daemons with states of their own on one engine never touch each other's sandboxes. */
function ownerName(stateDir: string): string {
  return createHash("sha256").update(stateDir).digest("hex").slice(0, 12);
}
