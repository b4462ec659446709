/** Runs git inside a sandbox for the daemon: its folders pinned, hooks off, held to the git folder and nothing else. */
import type { Readable } from "node:stream";
import { RecintoError } from "../errors.ts";
import { GIT_HOST_TIMEOUT_MS, GIT_OUTPUT_BYTES_MAX, GIT_SANDBOX_TIMEOUT_MS } from "../limits.ts";
import type { ExecProcess } from "../sandbox/engine.ts";
import type { SandboxHandle } from "../sandbox/sandboxes.ts";
import type { SandboxGit } from "../worktree/private-git/sandbox-git.ts";

/** The sandbox's own config could start a program in there; with these it starts none on the daemon's behalf. */
const PINNED = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat"];

export function sandboxGit(
  sandbox: Pick<SandboxHandle, "exec">,
  { gitDir, worktree }: { readonly gitDir: string; readonly worktree: string },
): SandboxGit {
  const start = (words: readonly string[]): Promise<ExecProcess> => {
    const pinned = PINNED.flatMap((setting) => ["-c", setting]);
    const argv = ["git", `--git-dir=${gitDir}`, `--work-tree=${worktree}`, ...pinned, ...words];
    return sandbox.exec({
      command: `exec ${argv.map(quoted).join(" ")}`,
      cwd: worktree,
      stdin: true,
      confinement: { writable: [gitDir], readOnly: false, tcp: false },
    });
  };
  return {
    async run(words, stdin = "") {
      const process = await start(words);
      const over = deadline(process, GIT_SANDBOX_TIMEOUT_MS);
      feed(process, stdin);
      try {
        const [stdout, stderr] = await Promise.all([
          collected(process, process.stdout, GIT_OUTPUT_BYTES_MAX),
          collected(process, process.stderr, GIT_OUTPUT_BYTES_MAX),
        ]);
        const { exitCode } = await process.exited;
        if (over.passed) throw tooLong(words);
        return { exitCode: exitCode ?? 1, stdout, stderr: stderr.toString() };
      } finally {
        over.clear();
      }
    },
    async stream(words, stdin) {
      const process = await start(words);
      const over = deadline(process, GIT_HOST_TIMEOUT_MS);
      process.stderr.resume();
      feed(process, stdin);
      const exited = process.exited
        .finally(() => over.clear())
        .then(({ exitCode }) => exitCode ?? 1);
      // Its reader may have gone away by then; that the pack broke off is seen there.
      exited.catch(() => undefined);
      return { stdout: process.stdout, exited };
    },
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function feed({ stdin }: ExecProcess, text: string): void {
  // Git may end before it read all.
  stdin?.on("error", () => undefined);
  stdin?.end(text);
}

function deadline(process: ExecProcess, ms: number) {
  const over = {
    passed: false,
    clear: () => clearTimeout(timer),
  };
  const timer = setTimeout(() => {
    over.passed = true;
    process.kill("KILL").catch(() => undefined);
  }, ms);
  return over;
}

async function collected(process: ExecProcess, stream: Readable, bytesMax: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) process.kill("KILL").catch(() => undefined);
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(words: readonly string[]): RecintoError {
  const seconds = GIT_SANDBOX_TIMEOUT_MS / 1000;
  return new RecintoError("engine-failed", `git ${words[0]} in the sandbox took over ${seconds} s`);
}
