/** Keeps the daemon's sockets open: the admin's always, and one for each project as projects come and go. */
import type { Logger } from "pino";
import { AGENT_SOCKET_RETRY_MS, REQUEST_BODIES_BYTES_MAX } from "../limits.ts";
import type { Project } from "../settings/types.ts";
import { BodyBudget } from "./body.ts";
import { openApi } from "./openapi.ts";
import type { Backend } from "./route.ts";
import { ROUTES } from "./routes/table.ts";
import { type ApiServer, createApiServer } from "./server.ts";
import {
  adminSocketPath,
  agentFolders,
  agentSocketPath,
  listen,
  listenOn,
  prepareAgentFolder,
  prepareRunDir,
  removeAgentFolder,
} from "./socket.ts";

export interface ListenersParts {
  readonly runDir: string;
  readonly adminGid: number | null;
  /** The admin socket, listening already, where the service manager made it with its owner and mode. */
  readonly adminFd?: number | null;
  /** Asked each time a project's socket is opened. */
  readonly agentGid: (project: Project) => number | null;
  readonly backend: Omit<Backend, "openApi" | "socketsSettled">;
  readonly log: Logger;
  readonly requestId: () => string;
}

export interface Listeners {
  /** Stops listening, lets answers end for `graceMs`, removes the sockets. */
  close(graceMs: number): Promise<void>;
}

/** Throws when the admin socket cannot be opened; a project's that cannot is logged and the others are served. */
export async function openListeners(parts: ListenersParts): Promise<Listeners> {
  const bodies = new BodyBudget(REQUEST_BODIES_BYTES_MAX);
  const agents = new Map<string, { readonly gid: number | null; readonly server: ApiServer }>();
  // Projects may change while a socket is being opened or closed: one change after another.
  let settled: Promise<void> = Promise.resolve();
  const { runDir, log } = parts;
  let described: ReturnType<typeof openApi> | undefined;
  const backend: Backend = {
    ...parts.backend,
    openApi: () => (described ??= openApi(ROUTES, parts.backend.version)),
    socketsSettled: () => settled,
  };
  const common = { routes: ROUTES, backend, bodies, log, requestId: parts.requestId };

  prepareRunDir(runDir);
  const admin = createApiServer({ ...common, socket: { kind: "admin" } });
  const { adminFd = null } = parts;
  if (adminFd === null) await listen(admin.http, adminSocketPath(runDir), { gid: parts.adminGid });
  else await listenOn(admin.http, adminFd);

  async function open(project: Project, gid: number | null): Promise<void> {
    const access = { gid };
    const server = createApiServer({ ...common, socket: { kind: "agent", project: project.id } });
    prepareAgentFolder(runDir, project.id, access);
    await listen(server.http, agentSocketPath(runDir, project.id), access);
    agents.set(project.id, { ...access, server });
    if (access.gid === null) {
      log.warn(
        { project: project.id },
        "agent socket open to root alone: set agentGroup in the project",
      );
    } else log.info({ project: project.id, ...access }, "agent socket open");
  }

  async function shut(id: string, graceMs: number): Promise<void> {
    const agent = agents.get(id);
    agents.delete(id);
    await agent?.server.close(graceMs);
    removeAgentFolder(runDir, id);
    log.info({ project: id }, "agent socket closed");
  }

  /** What kept a socket closed was said once. */
  const failures = new Map<string, string>();
  let wanted: readonly Project[] = [];

  async function follow(projects: readonly Project[]): Promise<void> {
    const ids = new Set(projects.map(({ id }) => id));
    // What stands there, not what is open: a daemon that was killed may have left more.
    for (const id of agentFolders(runDir)) if (!ids.has(id)) await shut(id, 0);
    wanted = projects;
    for (const project of projects) await serve(project);
  }

  /** A project whose group cannot be told (its root is gone, say) keeps what it has; the others are served all the same. */
  async function serve(project: Project): Promise<void> {
    const { id } = project;
    try {
      const gid = parts.agentGid(project);
      const before = agents.get(id);
      if (before?.gid === gid) return;
      // Its folder stays what it is: it may be mounted somewhere.
      await before?.server.close(0);
      agents.delete(id);
      await open(project, gid);
      failures.delete(id);
    } catch (err) {
      const message = String(err);
      if (failures.get(id) !== message) {
        log.error({ err, project: id }, "cannot open the agent socket");
      }
      failures.set(id, message);
    }
  }

  /** Those that no agent can use: the group may have been made meanwhile, the worktrees given away. */
  async function retry(): Promise<void> {
    for (const project of wanted) {
      if ((agents.get(project.id)?.gid ?? null) === null) await serve(project);
    }
  }

  const next = (step: () => Promise<void>) => {
    settled = settled.then(step).catch((err) => log.error({ err }, "cannot follow the projects"));
  };
  const stop = parts.backend.supervisor.onProjects((projects) => next(() => follow(projects)));
  await settled;
  const retrying = setInterval(() => next(retry), AGENT_SOCKET_RETRY_MS).unref();

  return {
    async close(graceMs) {
      stop();
      clearInterval(retrying);
      await settled;
      await Promise.all([
        admin.close(graceMs),
        ...[...agents.keys()].map((id) => shut(id, graceMs)),
      ]);
    },
  };
}
