/** Which sessions and jobs a command of the command line means, and by which socket they are reached. */
import { join } from "node:path";
import type { Command } from "commander";
import { type AgentClient, adminClient, agentClient, type Session } from "../api/client.ts";
import type { Job, jobViews } from "../api/client-jobs.ts";
import { RecintoError } from "../errors.ts";
import { targetOptions } from "./agent-target.ts";
import { isRoot } from "./as-user.ts";
import { whereOf } from "./context.ts";

export interface FoundJob {
  readonly session: Session;
  readonly job: Job;
}

/** What can be asked about jobs: an agent's own, over its project's socket, or everybody's, over the admin's. */
export interface JobWorld {
  readonly sessions: readonly Session[];
  readonly jobs: (session: string) => ReturnType<typeof jobViews>;
}

export function jobTargetOptions(command: Command): Command {
  return targetOptions(command).option("--session <id>", "only of this session");
}

/**
 * Runs `use` on the sessions that the options leave. Root and those who answer see all of them; everybody else has a
 * project and there their own.
 */
export async function withJobs<T>(
  command: Command,
  use: (world: JobWorld) => Promise<T>,
): Promise<T> {
  const { project, worktree, session } = command.opts<{
    project?: string;
    worktree?: string;
    session?: string;
  }>();
  const { runDir, waitForStart } = await whereOf(command);
  const socket = process.env.RECINTO_SOCKET || undefined;
  const asAdmin = isRoot() || (project === undefined && socket === undefined);
  const client = asAdmin
    ? adminClient({ socketPath: join(runDir, "admin.sock"), waitForStart })
    : agentClient({ socketPath: socket ?? agentSocket(runDir, project), waitForStart });
  try {
    const all = await client.sessions();
    const sessions = all.filter(
      (one) =>
        (project === undefined || one.project === project) &&
        (session === undefined || one.id === session) &&
        (worktree === undefined ||
          one.worktree === worktree ||
          one.worktree.endsWith(`/${worktree}`)),
    );
    return await use({ sessions, jobs: (id) => client.jobs(id) });
  } finally {
    client.close();
  }
}

/** By its id or the beginning of it, where no other has that. Throws `unknown-job`. */
export async function findJob({ sessions, jobs }: JobWorld, id: string): Promise<FoundJob> {
  const lists = sessions.map(async (session) =>
    (await jobs(session.id).list()).map((job) => ({ session, job })),
  );
  const all = (await Promise.all(lists)).flat();
  const exact = all.find(({ job }) => job.id === id);
  if (exact !== undefined) return exact;
  const [found, second] = all.filter(({ job }) => job.id.startsWith(id));
  if (found !== undefined && second === undefined) return found;
  throw new RecintoError("unknown-job", `${JSON.stringify(id)} is no job that can be seen here`, {
    hint:
      second === undefined
        ? "recinto ps --all lists them"
        : "more than one begins so: write more of it",
  });
}

/** Runs `use` as the session's own user, whom alone a job obeys: root becomes it first. */
export async function asOwner<T>(
  command: Command,
  { project, worktree, uid }: Session,
  use: (client: AgentClient) => Promise<T>,
): Promise<T> {
  const { runDir, waitForStart } = await whereOf(command);
  if (isRoot()) {
    const asUser = await import("./as-user.ts");
    const owner = asUser.ownerOf(worktree);
    asUser.become(owner.uid === uid ? owner : asUser.accountOf(uid));
  }
  const socketPath = process.env.RECINTO_SOCKET || agentSocket(runDir, project);
  const client = agentClient({ socketPath, waitForStart });
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

function agentSocket(runDir: string, project = ""): string {
  // It becomes a part of a path here.
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(project)) {
    return join(runDir, "projects", project, "agent.sock");
  }
  throw new RecintoError("unknown-project", `${JSON.stringify(project)} is not a project's id`);
}
