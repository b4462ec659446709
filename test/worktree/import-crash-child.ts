/** Imports a commit in a process of its own and ends like a power cut at the step it is told; for private-git-crash.test.ts. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { bringOut } from "../../daemon/worktree/private-git/branches.ts";
import type { SandboxGit } from "../../daemon/worktree/private-git/sandbox-git.ts";

const { repository, inner, user, state, step, intentFile } = JSON.parse(process.argv[2] ?? "");

const start = (words: readonly string[]) => {
  const child = spawn("git", words, {
    cwd: repository.worktree,
    ...user,
    env: { PATH: process.env.PATH, GIT_DIR: inner, GIT_WORK_TREE: repository.worktree },
  });
  // Git may end before it read all.
  child.stdin.on("error", () => undefined);
  return child;
};
const git: SandboxGit = {
  run: (words, stdin) =>
    new Promise((resolve) => {
      const child = start(words);
      const out: Buffer[] = [];
      child.stdout.on("data", (chunk) => out.push(chunk));
      child.on("close", (code) =>
        resolve({ exitCode: code ?? 1, stdout: Buffer.concat(out), stderr: "" }),
      );
      child.stdin.end(stdin ?? "");
    }),
  stream: async (words, stdin) => {
    const child = start(words);
    child.stdin.end(stdin);
    return {
      stdout: child.stdout,
      exited: new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1))),
    };
  },
};

await bringOut(
  repository,
  git,
  { ...state, synced: new Map(state.synced) },
  {
    intend: (change) => writeFileSync(intentFile, JSON.stringify(change)),
    id: () => "crash",
    isProtected: () => false,
    step: (at) => {
      if (at === step) process.kill(process.pid, "SIGKILL");
    },
  },
);
