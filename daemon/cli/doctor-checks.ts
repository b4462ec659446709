/** What the doctor looks at, one thing after another; a thing that cannot be looked at is a finding, not an error. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { type AdminClient, adminClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { WATCHES_ADVISED_MIN } from "../limits.ts";
import { DockerEngine } from "../sandbox/docker/docker-engine.ts";
import { findProgram, landlockAbi } from "../sandbox/runner/program.ts";
import { configFileOf, loadConfig } from "../settings/config.ts";
import type { DaemonConfig } from "../settings/types.ts";
import { readWatchQuota } from "../worktree/watch-quota.ts";
import { type Where, whereOf } from "./context.ts";
import { rootOwned } from "./doctor-worktrees.ts";
import { listImages } from "./image-store.ts";
import { counted } from "./terminal-text.ts";

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** The next step, when there is one. */
  readonly fix?: string;
}

export async function* examine(command: Command): AsyncGenerator<Finding, void> {
  const where = await whereOf(command);
  const admin = adminClient({ socketPath: join(where.runDir, "admin.sock") });
  try {
    yield* examineWith(admin, where);
  } finally {
    admin.close();
  }
}

async function* examineWith(admin: AdminClient, where: Where): AsyncGenerator<Finding, void> {
  // A daemon that answers knows best what it was configured by.
  const running = await admin.health().catch(() => null);
  const file = where.configFile ?? running?.configFile ?? undefined;
  let config: DaemonConfig;
  try {
    config = loadConfig(file);
    yield { name: "config", ok: true, found: configFileOf(file) ?? "no file: the defaults hold" };
  } catch (error) {
    yield bad("config", error);
    return;
  }
  const engine = new DockerEngine(config.engineSocket);
  try {
    const { name, version } = await engine.info();
    yield { name: "engine", ok: true, found: `${name} ${version} on ${config.engineSocket}` };
    const needed = await neededImages(admin);
    for (const [image = "", size = "", id = ""] of await listImages(engine)) {
      const built = size !== "";
      if (!built && !needed.has(image)) continue;
      const found = built ? `${image} ${size}` : `${image} is not built`;
      yield { name: "image", ok: built, found, ...(built ? {} : { fix: id }) };
    }
  } catch (error) {
    yield bad("engine", error);
  }
  yield await kernelFinding();
  yield watchFinding();
  yield* daemonFindings(admin);
  yield socketFinding("admin socket", join(where.runDir, "admin.sock"));
  yield* projectFindings(admin, where.runDir);
}

/** What profiles name; the shipped ones' where no daemon can be asked. The others are for who wants them. */
async function neededImages(admin: AdminClient): Promise<ReadonlySet<string>> {
  const profiles = await admin.profiles().catch(() => [{ image: "recinto/base" }]);
  return new Set(profiles.map(({ image }) => image));
}

async function* daemonFindings(admin: AdminClient): AsyncGenerator<Finding, void> {
  try {
    const [{ version }, health] = await Promise.all([admin.version(), admin.health()]);
    const counts = `${counted(health.projects, "project")}, ${counted(health.sessions, "session")}, ${counted(health.pending, "question")}`;
    yield { name: "daemon", ok: true, found: `recintod ${version}, ${counts}` };
    yield {
      name: "journal",
      ok: health.journal.ok,
      found: `${health.journal.entries} entries`,
      ...(health.journal.ok ? {} : { fix: "look at disk and permissions of the state directory" }),
    };
    for (const found of health.problems) yield { name: "settings", ok: false, found };
    yield health.agentsShareApproverUid
      ? {
          name: "approvals",
          ok: false,
          found: "agents may run as a user that approves: they could approve their own commands",
          fix: "give agents users of their own and take agentsShareApproverUid out of the config",
        }
      : { name: "approvals", ok: true, found: "no agent's user can approve" };
    for (const { project, worktree, executor } of await admin.sandboxes()) {
      if (executor === undefined) continue;
      const { kind, reason, landlock } = executor;
      const found = `${project} ${worktree}: ${kind} (${reason}), Landlock ABI ${landlock}`;
      yield { name: "sandbox", ok: true, found };
    }
    for (const { worktree, watcher } of await admin.hazards()) {
      const { degraded } = watcher;
      if (degraded !== null)
        yield { name: "watcher", ok: false, found: `${worktree}: ${degraded}` };
    }
  } catch (error) {
    yield bad("daemon", error);
  }
}

/** What holds commands to their verdict, as the runner itself sees the kernel. */
async function kernelFinding(): Promise<Finding> {
  const program = findProgram();
  const name = "landlock";
  if (program === null) {
    const fix = "build it: ./scripts/build-runner; until then unknown verbs and project code ask";
    return { name, ok: false, found: "the runner is not built", fix };
  }
  const abi = await landlockAbi(program).catch((error: Error) => error.message);
  if (typeof abi === "string") return { name, ok: false, found: `the runner fails: ${abi}` };
  if (abi > 0) return { name, ok: true, found: `ABI ${abi}` };
  const fix = "start Linux with landlock among its lsm=; until then project code asks";
  return { name, ok: false, found: "this kernel has none", fix };
}

/** Each folder of a worktree takes a watch; where they run short the daemon scans instead, and says so. */
function watchFinding(): Finding {
  const { watchesMax } = readWatchQuota();
  const found = `${watchesMax} inotify watches for each user`;
  if (watchesMax >= WATCHES_ADVISED_MIN) return { name: "watches", ok: true, found };
  const fix = `sysctl fs.inotify.max_user_watches=${WATCHES_ADVISED_MIN}`;
  return { name: "watches", ok: false, found, fix };
}

/** For each project: whether an agent can connect, and whether anything could run for it. */
async function* projectFindings(admin: AdminClient, runDir: string): AsyncGenerator<Finding, void> {
  // Where the daemon does not answer, its finding has said so.
  for (const project of await admin.projects().catch(() => [])) {
    yield socketFinding("agent socket", join(runDir, "projects", project.id, "agent.sock"));
    const trouble = rootOwned(project);
    if (trouble !== null) yield { name: "worktree", ok: false, ...trouble };
  }
}

/** Owners and modes as the daemon made them; anything wider lets others in, group root lets no agent in. */
function socketFinding(name: string, path: string): Finding {
  try {
    const { mode, uid, gid } = lstatSync(path);
    const ok = uid === 0 && (mode & 0o007) === 0;
    const found = `${path} ${(mode & 0o777).toString(8)} uid ${uid} gid ${gid}`;
    if (!ok) return { name, ok, found, fix: "restart recintod as root: it sets them" };
    if (name === "admin socket" || gid !== 0) return { name, ok, found };
    const fix = "open to root alone: give the worktrees to the agent's user, or set agentGroup";
    return { name, ok: false, found, fix };
  } catch (error) {
    return {
      name,
      ok: false,
      found: `${path}: ${(error as NodeJS.ErrnoException).code}`,
      fix:
        name === "admin socket"
          ? "start recintod, or run the doctor as root"
          : "no agent can connect: see whether the project's root and agentGroup exist (groupadd)",
    };
  }
}

function bad(name: string, error: unknown): Finding {
  if (!(error instanceof RecintoError)) throw error;
  return { name, ok: false, found: error.message, fix: error.hint };
}
