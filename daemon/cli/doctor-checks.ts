/** What the doctor looks at, one thing after another; a thing that cannot be looked at is a finding, not an error. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { adminClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { WATCHES_ADVISED_MIN } from "../limits.ts";
import { DockerEngine } from "../sandbox/docker/docker-engine.ts";
import { findProgram, landlockAbi } from "../sandbox/runner/program.ts";
import { loadConfig } from "../settings/config.ts";
import type { DaemonConfig } from "../settings/types.ts";
import { readWatchQuota } from "../worktree/watch-quota.ts";
import { whereOf } from "./context.ts";
import { listImages } from "./image-store.ts";

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** The next step, when there is one. */
  readonly fix?: string;
}

export async function* examine(command: Command): AsyncGenerator<Finding, void> {
  const where = await whereOf(command);
  let config: DaemonConfig;
  try {
    config = loadConfig(where.configFile);
    yield { name: "config", ok: true, found: where.configFile ?? "the usual one" };
  } catch (error) {
    yield bad("config", error);
    return;
  }
  const engine = new DockerEngine(config.engineSocket);
  try {
    const { name, version } = await engine.info();
    yield { name: "engine", ok: true, found: `${name} ${version} on ${config.engineSocket}` };
    for (const [image = "", size = "", id = ""] of await listImages(engine)) {
      const built = size !== "";
      const found = built ? `${image} ${size}` : `${image} is not built`;
      yield { name: "image", ok: built, found, ...(built ? {} : { fix: id }) };
    }
  } catch (error) {
    yield bad("engine", error);
  }
  yield await kernelFinding();
  yield watchFinding();
  yield* daemonFindings(where.runDir);
  yield* socketFindings(where.runDir);
}

async function* daemonFindings(runDir: string): AsyncGenerator<Finding, void> {
  const admin = adminClient({ socketPath: join(runDir, "admin.sock") });
  try {
    const [{ version }, health] = await Promise.all([admin.version(), admin.health()]);
    const counts = `${health.projects} projects, ${health.sessions} sessions, ${health.pending} questions`;
    yield { name: "daemon", ok: true, found: `recintod ${version}, ${counts}` };
    yield {
      name: "journal",
      ok: health.journal.ok,
      found: `${health.journal.entries} entries`,
      ...(health.journal.ok ? {} : { fix: "look at disk and permissions of the state directory" }),
    };
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
  } finally {
    admin.close();
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

/** Owners and modes as the daemon made them; anything wider lets others in. */
function* socketFindings(runDir: string): Generator<Finding, void> {
  yield socketFinding("admin socket", join(runDir, "admin.sock"));
  let projects: string[];
  try {
    projects = readdirSync(join(runDir, "projects"));
  } catch {
    return; // The admin socket's finding has said that nothing is there, or that this user may not look.
  }
  for (const id of projects) {
    yield socketFinding("agent socket", join(runDir, "projects", id, "agent.sock"));
  }
}

function socketFinding(name: string, path: string): Finding {
  try {
    const { mode, uid, gid } = lstatSync(path);
    const ok = uid === 0 && (mode & 0o007) === 0;
    const found = `${path} ${(mode & 0o777).toString(8)} uid ${uid} gid ${gid}`;
    return { name, ok, found, ...(ok ? {} : { fix: "restart recintod as root: it sets them" }) };
  } catch (error) {
    return {
      name,
      ok: false,
      found: `${path}: ${(error as NodeJS.ErrnoException).code}`,
      fix: "start recintod, or run the doctor as root",
    };
  }
}

function bad(name: string, error: unknown): Finding {
  if (!(error instanceof RecintoError)) throw error;
  return { name, ok: false, found: error.message, fix: error.hint };
}
