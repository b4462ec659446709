/** Git as the daemon itself runs it on the host: pinned folders, no hooks, no programs from any config, the owner's uid. */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { RecintoError } from "../../errors.ts";
import { GIT_HOST_TIMEOUT_MS, GIT_OUTPUT_BYTES_MAX } from "../../limits.ts";

/** A repository on the host, and the worktree's own part of it. Nothing here was read from inside a sandbox. */
export interface HostRepository {
  /** `.git` of the main worktree. */
  readonly commonDir: string;
  /** `.git/worktrees/NAME`, or the common dir itself for a plain repository. */
  readonly gitDir: string;
  readonly worktree: string;
  /** Who owns the repository: git on the host runs as them, so that new files are theirs. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Settings by which a repository's config could start a program, or that make git follow what a worktree says. Given on
 * the command line, where they win over every file.
 */
const PINNED = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.editor=false",
  "core.sshCommand=false",
  "core.attributesFile=/dev/null",
  "gc.auto=0",
  "maintenance.auto=false",
  "protocol.allow=never",
  "submodule.recurse=false",
  "commit.gpgSign=false",
  "transfer.fsckObjects=true",
].flatMap((setting) => ["-c", setting]);

/**
 * Runs git with the repository's folders pinned, so that no pointer in the worktree is followed. Resolves with any exit
 * code; throws `engine-failed` when git cannot be started, takes too long or prints too much.
 */
export function hostGit(
  repository: HostRepository,
  words: readonly string[],
  options: HostRunOptions = {},
): Promise<GitRun> {
  return asOwner(repository, ["git", ...PINNED, ...words], options);
}

interface HostRunOptions {
  readonly stdin?: string | Buffer | Readable;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program as the repository's owner. Whatever changes files there goes this way: the daemon's root would follow
 * links that the owner put in its way to places that the owner may not touch.
 */
export function asOwner(
  repository: HostRepository,
  [program = "", ...words]: readonly string[],
  options: HostRunOptions = {},
): Promise<GitRun> {
  const what = `${program} ${words.find((word) => /^[a-z]+(-[a-z]+)*$/.test(word)) ?? ""}`.trim();
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      cwd: repository.commonDir,
      uid: repository.owner.uid,
      gid: repository.owner.gid,
      timeout: GIT_HOST_TIMEOUT_MS,
      killSignal: "SIGKILL",
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        LC_ALL: "C",
        HOME: "/nonexistent",
        GIT_DIR: repository.gitDir,
        GIT_COMMON_DIR: repository.commonDir,
        GIT_WORK_TREE: repository.worktree,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_SYSTEM: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0",
        GIT_NO_REPLACE_OBJECTS: "1",
        ...options.env,
      },
    });
    const out: Buffer[] = [];
    let bytes = 0;
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > GIT_OUTPUT_BYTES_MAX) child.kill("SIGKILL");
      else out.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < 4096) stderr += chunk.toString();
    });
    // Git may end before it read all: what that means is in its exit code.
    child.stdin.on("error", () => {});
    child.on("error", (cause) => {
      reject(
        new RecintoError("engine-failed", `${program} could not be started on the host`, { cause }),
      );
    });
    child.on("close", (code) => {
      if (code === null) {
        reject(new RecintoError("engine-failed", `${what} took too long or said too much`));
      } else {
        resolve({ exitCode: code, stdout: Buffer.concat(out), stderr });
      }
    });
    const { stdin } = options;
    if (stdin === undefined || typeof stdin === "string" || Buffer.isBuffer(stdin)) {
      child.stdin.end(stdin);
    } else {
      stdin.on("error", () => child.kill("SIGKILL"));
      stdin.pipe(child.stdin);
    }
  });
}

/** As hostGit, and throws `engine-failed` with git's words when it does not end with 0. Returns its output as text. */
export async function hostGitText(
  repository: HostRepository,
  words: readonly string[],
  options: Parameters<typeof hostGit>[2] = {},
): Promise<string> {
  const run = await hostGit(repository, words, options);
  if (run.exitCode !== 0) {
    throw new RecintoError("engine-failed", `git ${words[0]}: ${run.stderr.trim()}`);
  }
  return run.stdout.toString();
}
