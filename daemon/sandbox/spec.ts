/** Profile, project and worktree → the exact sandbox. Pure: the same input gives the same container, to the byte. */
import { createHash } from "node:crypto";
import { RecintoError } from "../errors.ts";
import {
  SANDBOX_CACHE,
  SANDBOX_HOME,
  SANDBOX_SCRATCH,
  SANDBOX_TMP,
  TRUST_FILES,
} from "../settings/sandbox-home.ts";
import type { Profile } from "../settings/types.ts";
import { refusedEnvName } from "./command.ts";
import type { SandboxMount, SandboxSpec, SandboxTmpfs } from "./engine.ts";
import type { GitMounts } from "./git-mounts.ts";

/** Raised when the shape of sandboxes changes, so that older ones are made anew. */
const SPEC_VERSION = "2";

export const LABELS = {
  /** The installation that made it: two daemons on one engine leave each other's alone. */
  owner: "io.recinto.owner",
  project: "io.recinto.project",
  worktree: "io.recinto.worktree",
  profileHash: "io.recinto.profile-hash",
  version: "io.recinto.version",
} as const;

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface SpecInput {
  /** Name of the installation, for the label and the container's name. */
  readonly owner: string;
  readonly profile: Profile;
  readonly projectId: string;
  /** Absolute path, checked by mount-source.ts. */
  readonly worktree: string;
  /** Owner of the worktree: who its commands run as. Root is refused. */
  readonly user: { readonly uid: number; readonly gid: number };
  /** Content id of the image. */
  readonly imageId: string;
  /** The whole project, mounted read-only around the worktree; null or absent: the worktree alone. */
  readonly projectRoot?: string | null;
  /** Folders and files of the daemon's: caches, the user's name; see given-folders.ts. */
  readonly given?: readonly SandboxMount[];
  /** What of the repository behind the worktree is there; see git-mounts.ts. */
  readonly git: Pick<GitMounts, "offered" | "mounts" | "tmpfs">;
  /** Folders of the host with the runner's program and its socket; null: commands go by plain docker exec. */
  readonly runner: RunnerFolders | null;
}

export interface RunnerFolders {
  readonly program: string;
  readonly socket: string;
  /** The daemon's certificate, which the sandbox trusts for hosts that are looked into; absent: there are none. */
  readonly trust?: string;
}

/** Where a sandbox has them: the program for everyone, the socket's folder for its root alone. */
export const RUNNER_PROGRAM_DIR = "/run/recinto/bin";
export const RUNNER_SOCKET_DIR = "/run/recinto/runner";
const TRUST_DIR = "/run/recinto/trust";

/** Throws `worktree-refused` for a root-owned worktree and `bad-profile` for a variable that is not to be set. */
export function sandboxSpec(input: SpecInput): SandboxSpec {
  const { profile, projectId, worktree, user, git, runner } = input;
  if (user.uid === 0) {
    throw new RecintoError("worktree-refused", `${worktree} is owned by root`);
  }
  const { memoryBytes, cpus, pids, openFiles, shmBytes, fileBytes } = profile.limits;
  const spec: SandboxSpec = {
    name: sandboxName(input),
    image: input.imageId,
    labels: {
      [LABELS.owner]: input.owner,
      [LABELS.project]: projectId,
      [LABELS.worktree]: worktree,
      [LABELS.version]: SPEC_VERSION,
    },
    user,
    env: { ...sandboxEnv(profile, worktree, git.offered), ...trustEnv(runner) },
    workdir: worktree,
    hostname: projectId,
    mounts: [...mountsOf(input), ...runnerMounts(runner)],
    tmpfs: [...tmpfsOf(input), ...git.tmpfs],
    limits: { memoryBytes, cpus, pids, openFiles, shmBytes, fileBytes },
    runtime: profile.runtime,
    runner: runner !== null,
  };
  return { ...spec, labels: { ...spec.labels, [LABELS.profileHash]: specHash(spec) } };
}

/** SHA-256 over all of the sandbox: another value means that it has to be made anew. */
export function specHash(spec: SandboxSpec): string {
  const { [LABELS.profileHash]: _, ...labels } = spec.labels;
  return sha256(JSON.stringify(sortKeys({ ...spec, labels })));
}

/** What a command may always write: nothing that any of it holds is believed later. */
export function scratchOf({ mounts }: Pick<SandboxSpec, "mounts">): readonly string[] {
  const caches = mounts
    .filter(({ target, readOnly }) => !readOnly && target.startsWith(`${SANDBOX_HOME}/`))
    .map(({ target }) => target);
  return [...new Set([...SANDBOX_SCRATCH, ...caches])];
}

function sandboxName(input: SpecInput): string {
  return `recinto-${input.projectId}-${sandboxKey(input)}`;
}

/** Twelve characters that stand for one sandbox of this installation. */
export function sandboxKey({
  owner,
  projectId,
  worktree,
}: Pick<SpecInput, "owner" | "projectId" | "worktree">): string {
  return sha256(JSON.stringify([owner, projectId, worktree])).slice(0, 12);
}

/**
 * The worktree writable at its host path, the repository and the admin's folders read-only at theirs. Outer folders
 * come first, so that a `.git` inside the worktree is mounted over it.
 */
function mountsOf(input: SpecInput): SandboxMount[] {
  const { profile, worktree, git, given = [], projectRoot = null } = input;
  const mounts = new Map<string, SandboxMount>();
  const here = (path: string, readOnly: boolean) => ({ source: path, target: path, readOnly });
  const outer = projectRoot === null ? [] : [projectRoot];
  const readable = [...outer, ...profile.readable].map((path) => here(path, true));
  for (const mount of [...readable, here(worktree, false), ...git.mounts, ...given]) {
    mounts.set(mount.target, mount);
  }
  return [...mounts.values()].sort((a, b) => (a.target < b.target ? -1 : 1));
}

/** The socket's folder, not the socket: a mounted socket is dead once the daemon made another. */
function runnerMounts(runner: RunnerFolders | null): SandboxMount[] {
  if (runner === null) return [];
  return [
    { source: runner.program, target: RUNNER_PROGRAM_DIR, readOnly: true },
    { source: runner.socket, target: RUNNER_SOCKET_DIR, readOnly: true },
    ...(runner.trust === undefined
      ? []
      : [{ source: runner.trust, target: TRUST_DIR, readOnly: true }]),
  ];
}

function tmpfsOf({ profile, user, given = [] }: SpecInput): SandboxTmpfs[] {
  const { tmpBytes, cacheBytes } = profile.limits;
  const kept = given.some(({ target }) => target === SANDBOX_CACHE);
  const cache = { target: SANDBOX_CACHE, sizeBytes: cacheBytes, exec: true, ...user, mode: 0o700 };
  return [
    ...(kept ? [] : [cache]),
    // Builds compile and run programs in /tmp; everyone may write there, as everywhere.
    { target: SANDBOX_TMP, sizeBytes: tmpBytes, exec: true, ...user, mode: 0o1777 },
  ];
}

/**
 * Every place where a program looks for configuration leads to the read-only home or to nothing, so that a file written
 * under a narrow verdict never changes what a later, wider one runs.
 */
function sandboxEnv(
  profile: Profile,
  worktree: string,
  gitOffered: boolean,
): Readonly<Record<string, string>> {
  for (const name of Object.keys(profile.env)) {
    const why = refusedEnvName(name);
    if (why !== null) {
      throw new RecintoError("bad-profile", `env ${name} of profile ${profile.name}: ${why}`);
    }
  }
  return {
    LANG: "C.UTF-8",
    TERM: "dumb",
    USER: "agent",
    LOGNAME: "agent",
    ...profile.env,
    PATH,
    HOME: SANDBOX_HOME,
    SHELL: "/bin/bash",
    TMPDIR: SANDBOX_TMP,
    XDG_CACHE_HOME: SANDBOX_CACHE,
    XDG_CONFIG_HOME: `${SANDBOX_HOME}/.config`,
    XDG_DATA_HOME: `${SANDBOX_HOME}/.local/share`,
    XDG_STATE_HOME: `${SANDBOX_HOME}/.local/state`,
    PAGER: "cat",
    LESSSECURE: "1",
    INPUTRC: "/dev/null",
    PIP_CONFIG_FILE: "/dev/null",
    npm_config_userconfig: "/dev/null",
    npm_config_cache: `${SANDBOX_CACHE}/npm`,
    npm_config_update_notifier: "false",
    ...gitEnv(gitOffered ? worktree : null),
  };
}

/** Programs read different variables; those that replace the usual certificates get them all. */
function trustEnv(runner: RunnerFolders | null): Readonly<Record<string, string>> {
  if (runner?.trust === undefined) return {};
  const all = `${TRUST_DIR}/${TRUST_FILES.all}`;
  return {
    SSL_CERT_FILE: all,
    CURL_CA_BUNDLE: all,
    REQUESTS_CA_BUNDLE: all,
    PIP_CERT: all,
    GIT_SSL_CAINFO: all,
    CARGO_HTTP_CAINFO: all,
    npm_config_cafile: all,
    NODE_EXTRA_CA_CERTS: `${TRUST_DIR}/${TRUST_FILES.own}`,
  };
}

/** Command scope wins over the repository's own config, which the host may have filled with programs to run. */
function gitEnv(safeDirectory: string | null): Readonly<Record<string, string>> {
  const config: [string, string][] = [
    ["core.fsmonitor", "false"],
    ["core.hooksPath", "/dev/null"],
    ["core.pager", "cat"],
    ["gc.auto", "0"],
  ];
  // The repository may belong to somebody else than the worktree; it is read-only and the admin's choice.
  if (safeDirectory !== null) config.push(["safe.directory", safeDirectory]);
  const env: Record<string, string> = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_COUNT: String(config.length),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
  for (const [index, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
