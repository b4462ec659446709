/** A repository of the host and the private git dir made from it, each with its own user's git; for tests that run as root. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectAlternates } from "../../daemon/worktree/private-git/alternates.ts";
import { bringOut, type ImportHooks } from "../../daemon/worktree/private-git/branches.ts";
import { type GitState, handIn } from "../../daemon/worktree/private-git/hand-in.ts";
import type { HostRepository } from "../../daemon/worktree/private-git/host-git.ts";
import { hostHead, preparePrivateGit } from "../../daemon/worktree/private-git/prepare.ts";
import type { SandboxGit } from "../../daemon/worktree/private-git/sandbox-git.ts";

export const USER = { uid: 65_534, gid: 65_534 };
const IDENTITY = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

/** A folder that the user's git may enter. */
export function scratchRoot(): string {
  const base = mkdtempSync(join(tmpdir(), "recinto-pair-"));
  chmodSync(base, 0o755);
  const root = join(base, "project");
  mkdirSync(root);
  chownSync(root, USER.uid, USER.gid);
  return root;
}

/** Git of the host's user, with no config but the repository's. */
export function hostGitIn(cwd: string, ...words: string[]): string {
  return execFileSync("git", ["-c", "protocol.file.allow=always", ...words], {
    cwd,
    ...USER,
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ...IDENTITY },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

export function writeAs(path: string, text: string): void {
  writeFileSync(path, text);
  chownSync(path, USER.uid, USER.gid);
}

export class GitPair {
  readonly repository: HostRepository;
  readonly base: string;
  readonly inner: string;
  state: GitState = { synced: new Map(), own: [] };
  #ids = 0;

  private constructor(repository: HostRepository, root: string) {
    this.repository = repository;
    this.base = join(root, "..");
    this.inner = join(this.base, "inner");
  }

  /** `root` is a repository already; its worktree `worktree`, or it itself. */
  static async of(root: string, worktree = root): Promise<GitPair> {
    const dir = (which: string) =>
      hostGitIn(worktree, "rev-parse", "--path-format=absolute", `--git-${which}`);
    const repository: HostRepository = {
      commonDir: dir("common-dir"),
      gitDir: dir("dir"),
      worktree,
      owner: USER,
    };
    const pair = new GitPair(repository, root);
    const objects = join(repository.commonDir, "objects");
    const synced = await preparePrivateGit(repository, {
      folder: pair.inner,
      objectsInside: [objects, ...(await objectAlternates(repository))],
      user: USER,
      fallbackUser: { name: "agent", email: "agent@localhost" },
    });
    pair.state = { synced, own: [], head: await hostHead(repository) };
    return pair;
  }

  /** One commit on main, and a linked worktree `w` on `work`. */
  static async linked(): Promise<GitPair> {
    const root = scratchRoot();
    hostGitIn(root, "init", "-q", "-b", "main");
    writeAs(join(root, "a"), "1\n");
    hostGitIn(root, "add", "a");
    hostGitIn(root, "commit", "-qm", "one");
    hostGitIn(root, "worktree", "add", "-q", "-b", "work", "w");
    return GitPair.of(root, join(root, "w"));
  }

  storedState(): object {
    return { ...this.state, synced: [...this.state.synced] };
  }

  host(...words: string[]): string {
    return hostGitIn(this.repository.worktree, ...words);
  }

  agent(...words: string[]): string {
    return execFileSync("git", words, this.#options()).toString().trim();
  }

  edit(name: string, text: string): void {
    writeAs(join(this.repository.worktree, name), text);
  }

  async out() {
    const result = await bringOut(this.repository, this.git, this.state, this.hooks);
    this.state = result.state;
    return result.outcome;
  }

  async into() {
    const result = await handIn(this.repository, this.git, this.state);
    this.state = result.state;
    return result.apart;
  }

  readonly hooks: ImportHooks = {
    intend: () => undefined,
    id: () => `t${++this.#ids}`,
    isProtected: () => false,
  };

  readonly git: SandboxGit = {
    run: (words, stdin) =>
      new Promise((resolve) => {
        const child = spawn("git", words, this.#options());
        const out: Buffer[] = [];
        let stderr = "";
        child.stdout.on("data", (chunk) => out.push(chunk));
        child.stderr.on("data", (chunk) => (stderr += chunk));
        child.on("close", (code) =>
          resolve({ exitCode: code ?? 1, stdout: Buffer.concat(out), stderr }),
        );
        child.stdin.on("error", () => undefined);
        child.stdin.end(stdin ?? "");
      }),
    stream: async (words, stdin) => {
      const child = spawn("git", words, this.#options());
      child.stdin.end(stdin);
      return {
        stdout: child.stdout,
        exited: new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1))),
      };
    },
  };

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }

  /** What the mount does in a container, the environment does here. */
  #options() {
    return {
      cwd: this.repository.worktree,
      ...USER,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: "/nonexistent",
        GIT_DIR: this.inner,
        GIT_WORK_TREE: this.repository.worktree,
      },
      stdio: "pipe" as const,
    };
  }
}
