/** The private git dir: what goes in, what comes out, and what never does. Runs as root, with two plain users' git. */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bringOut, undoImport } from "../../daemon/worktree/private-git/branches.ts";
import { type GitState, handIn } from "../../daemon/worktree/private-git/hand-in.ts";
import type { HostRepository } from "../../daemon/worktree/private-git/host-git.ts";
import { preparePrivateGit } from "../../daemon/worktree/private-git/prepare.ts";
import { isBranchRef } from "../../daemon/worktree/private-git/refs.ts";
import {
  sandboxConfig,
  withoutCredentials,
} from "../../daemon/worktree/private-git/sandbox-config.ts";
import type { SandboxGit } from "../../daemon/worktree/private-git/sandbox-git.ts";

const USER = { uid: 65_534, gid: 65_534 };
const IDENTITY = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

describe("references from anywhere", () => {
  it.each(["refs/heads/x", "refs/heads/feature/a-b.c", "refs/heads/ü"])("%s is a branch", (ref) => {
    expect(isBranchRef(ref)).toBe(true);
  });
  it.each([
    "refs/heads/",
    "refs/heads/a..b",
    "refs/heads/.a",
    "refs/heads/a.lock",
    "refs/heads/a b",
    "refs/heads/a\n",
    "refs/heads/../x",
    "refs/tags/x",
    "HEAD",
    "refs/heads/-x",
    "refs/heads/a@{1}",
    "refs/heads/a//b",
    `refs/heads/${"x".repeat(300)}`,
  ])("%j is none", (ref) => {
    expect(isBranchRef(ref)).toBe(false);
  });
});

describe("the config inside", () => {
  it("keeps what shapes content, drops what runs, and takes passwords out of urls", () => {
    const host = [
      ["core.filemode", "true"],
      ["core.fsmonitor", "/tmp/evil"],
      ["core.sshcommand", "x"],
      ["filter.lfs.smudge", "git-lfs smudge"],
      ["remote.origin.url", "https://bob:s3cret@example.test/r.git"],
      ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
      ["include.path", "../x"],
      ["user.name", 'Bob "B"'],
    ];
    const config = sandboxConfig(host.map(([key, value]) => `${key}\n${value}\0`).join(""), {
      name: "agent",
      email: "agent@localhost",
    });
    expect(config).not.toMatch(/evil|s3cret|lfs|ssh|include/);
    expect(config).toContain('[remote "origin"]\n\turl = "https://example.test/r.git"\n');
    expect(config).toContain('name = "Bob \\"B\\""');
  });
  it("leaves an scp-like address alone", () => {
    expect(withoutCredentials("git@example.test:a/b.git")).toBe("git@example.test:a/b.git");
  });
});

describe.skipIf(process.getuid?.() !== 0)("a sandbox's git", () => {
  let base: string;
  let repository: HostRepository;
  let inner: string;
  let state: GitState;
  let ids = 0;
  const intents: unknown[] = [];

  const host = (cwd: string, ...words: string[]): string =>
    execFileSync("git", words, {
      cwd,
      ...USER,
      env: { PATH: process.env.PATH ?? "", HOME: base, ...IDENTITY },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  // What the mount does in a container, the environment does here.
  const innerEnv = () => ({
    PATH: process.env.PATH ?? "",
    HOME: "/nonexistent",
    GIT_DIR: inner,
    GIT_WORK_TREE: repository.worktree,
  });
  const agent = (...words: string[]): string =>
    execFileSync("git", words, {
      cwd: repository.worktree,
      ...USER,
      env: innerEnv(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const git: SandboxGit = {
    run: (words, stdin) =>
      new Promise((resolve) => {
        const child = spawn("git", words, { cwd: repository.worktree, ...USER, env: innerEnv() });
        const out: Buffer[] = [];
        let stderr = "";
        child.stdout.on("data", (chunk) => out.push(chunk));
        child.stderr.on("data", (chunk) => (stderr += chunk));
        child.on("close", (code) =>
          resolve({ exitCode: code ?? 1, stdout: Buffer.concat(out), stderr }),
        );
        // Git may end before it read all.
        child.stdin.on("error", () => {});
        child.stdin.end(stdin ?? "");
      }),
    stream: async (words, stdin) => {
      const child = spawn("git", words, { cwd: repository.worktree, ...USER, env: innerEnv() });
      child.stdin.end(stdin);
      return {
        stdout: child.stdout,
        exited: new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1))),
      };
    },
  };
  const hooks = {
    intend: (change: unknown) => intents.push(change),
    id: () => `t${++ids}`,
    isProtected: (ref: string) =>
      ref === "refs/heads/main" || ref.startsWith("refs/heads/release/"),
  };
  const out = async () => {
    const result = await bringOut(repository, git, state, hooks);
    state = result.state;
    return result.outcome;
  };
  const into = async () => {
    const result = await handIn(repository, git, state);
    state = result.state;
    return result.apart;
  };
  const edit = (name: string, text: string) => {
    writeFileSync(join(repository.worktree, name), text);
    chownSync(join(repository.worktree, name), USER.uid, USER.gid);
  };

  beforeEach(async () => {
    base = mkdtempSync(join(tmpdir(), "recinto-git-"));
    chmodSync(base, 0o755);
    const root = join(base, "project");
    mkdirSync(root);
    chownSync(root, USER.uid, USER.gid);
    host(root, "init", "-q", "-b", "main");
    writeFileSync(join(root, "a"), "1\n");
    chownSync(join(root, "a"), USER.uid, USER.gid);
    host(root, "add", "a");
    host(root, "commit", "-qm", "one");
    host(root, "branch", "other");
    host(root, "worktree", "add", "-q", "-b", "work", "w");
    repository = {
      commonDir: join(root, ".git"),
      gitDir: join(root, ".git/worktrees/w"),
      worktree: join(root, "w"),
      owner: USER,
    };
    inner = join(base, "inner");
    const synced = await preparePrivateGit(repository, {
      folder: inner,
      objectsInside: [join(root, ".git/objects")],
      user: USER,
      fallbackUser: { name: "agent", email: "agent@localhost" },
    });
    state = { synced, own: [] };
    intents.length = 0;
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it("starts clean, with the host's branches and history", () => {
    expect(agent("status", "--porcelain=v1", "-b")).toBe("## work");
    expect(agent("log", "--format=%s", "--all")).toBe("one");
    expect(agent("branch", "--format=%(refname:short)")).toBe("main\nother\nwork");
  });

  it("brings a commit out: branch, index and reflog on the host follow, the intent is told first", async () => {
    edit("b", "new\n");
    agent("add", "b");
    agent("commit", "-qm", "two");
    const outcome = await out();
    const commit = agent("rev-parse", "HEAD");
    const old = host(repository.worktree, "rev-parse", "main");
    const from = { ref: "refs/heads/work", commit: old };
    const change = { ref: "refs/heads/work", old, commit, from };
    expect(outcome).toEqual({ kind: "imported", ...change, note: null });
    expect(intents).toEqual([change]);
    expect(host(repository.worktree, "rev-parse", "work")).toBe(commit);
    expect(host(repository.worktree, "status", "--porcelain")).toBe("");
    expect(host(repository.worktree, "fsck", "--strict")).toBe("");
    expect(await out()).toEqual({ kind: "nothing" });
  });

  it("add, amend, stash, rebase, merge, switch and gc work inside", async () => {
    edit("b", "new\n");
    agent("add", "b");
    agent("commit", "-qm", "two");
    agent("commit", "-q", "--amend", "-m", "two again");
    edit("b", "dirty\n");
    agent("stash");
    agent("stash", "pop");
    agent("commit", "-qam", "three");
    agent("switch", "-q", "-c", "topic");
    edit("c", "c\n");
    agent("add", "c");
    agent("commit", "-qm", "topic");
    agent("switch", "-q", "work");
    agent("merge", "-q", "--no-ff", "-m", "merged", "topic");
    agent("rebase", "-q", "main");
    agent("gc", "-q");
    expect((await out()).kind).toBe("imported");
    expect(host(repository.worktree, "log", "--format=%s", "work")).toBe(
      "topic\nthree\ntwo again\none",
    );
    expect(host(repository.worktree, "status", "--porcelain")).toBe("");
  });

  it("a branch made inside comes out and the host's worktree follows it", async () => {
    agent("switch", "-q", "-c", "feature/x");
    edit("x", "x\n");
    agent("add", "x");
    agent("commit", "-qm", "x");
    expect((await out()).kind).toBe("imported");
    expect(host(repository.worktree, "status", "--porcelain=v1", "-b")).toBe("## feature/x");
  });

  it.each([
    ["another branch of the host", ["switch", "-q", "other"], "not this worktree's own"],
    ["a protected name", ["switch", "-q", "-c", "release/9"], "protected name"],
    ["a detached head", ["checkout", "-q", "--detach"], "detached"],
  ])("leaves inside what is not the agent's own: %s", async (_name, words, reason) => {
    agent(...words);
    edit("x", "x\n");
    agent("add", "x");
    agent("commit", "-qm", "x");
    const before = host(repository.worktree, "for-each-ref");
    expect(await out()).toEqual({ kind: "left", reason: expect.stringContaining(reason) });
    expect(host(repository.worktree, "for-each-ref")).toBe(before);
  });

  it("hands the host's commits in, and says when a branch went apart", async () => {
    host(join(base, "project"), "commit", "-q", "--allow-empty", "-m", "on main");
    host(repository.worktree, "commit", "-q", "--allow-empty", "-m", "on work");
    expect(await into()).toEqual([]);
    expect(agent("log", "-1", "--format=%s", "main")).toBe("on main");
    expect(agent("status", "--porcelain=v1", "-b")).toBe("## work");
    expect(agent("log", "-1", "--format=%s")).toBe("on work");

    agent("commit", "-q", "--allow-empty", "-m", "inside");
    host(repository.worktree, "commit", "-q", "--allow-empty", "-m", "outside");
    expect((await out()).kind).toBe("left");
    expect(await into()).toEqual(["refs/heads/work"]);
    agent("rebase", "-q", "refs/recinto/host/work");
    expect((await out()).kind).toBe("imported");
    expect(host(repository.worktree, "log", "-2", "--format=%s", "work")).toBe("inside\noutside");
  });

  it("can be undone until something is put on top", async () => {
    const old = host(repository.worktree, "rev-parse", "work");
    edit("b", "b\n");
    agent("add", "b");
    agent("commit", "-qm", "two");
    await out();
    const commit = agent("rev-parse", "HEAD");
    const from = { ref: "refs/heads/work", commit: old };
    const change = { ref: "refs/heads/work", old, commit, from };
    expect(await undoImport(repository, change)).toBe(true);
    expect(host(repository.worktree, "rev-parse", "work")).toBe(old);
    expect(host(repository.worktree, "status", "--porcelain")).toBe("?? b");
    expect(await undoImport(repository, change)).toBe(false);
  });

  it.each([
    ["a tree with .git in it", () => `100644 blob ${agent("hash-object", "-w", "a")}\t.git\n`],
    ["a tree with a .GIT folder", () => `040000 tree ${agent("write-tree")}\t.GIT\n`],
  ])("refuses %s and leaves the host as it was", async (_name, entry) => {
    const tree = execFileSync("git", ["mktree"], {
      cwd: repository.worktree,
      ...USER,
      env: innerEnv(),
      input: entry(),
      encoding: "utf8",
    }).trim();
    const commit = agent("commit-tree", "-p", "HEAD", "-m", "bad", tree);
    agent("update-ref", "refs/heads/work", commit);
    const before = host(repository.worktree, "for-each-ref");
    await expect(out()).rejects.toMatchObject({ code: "import-refused" });
    expect(host(repository.worktree, "for-each-ref")).toBe(before);
    expect(execFileSync("ls", [join(repository.commonDir, "objects")]).toString()).not.toContain(
      "incoming",
    );
    expect(intents).toEqual([]);
  });

  it("refuses a branch whose objects are not all there", async () => {
    edit("big", "x\n");
    agent("add", "big");
    agent("commit", "-qm", "holed");
    const blob = agent("rev-parse", "HEAD:big");
    rmSync(join(inner, "objects", blob.slice(0, 2), blob.slice(2)));
    await expect(out()).rejects.toMatchObject({ code: "import-refused" });
  });

  it("nothing planted in the private git dir runs on the host", async () => {
    const proof = join(base, "proof");
    const evil = join(repository.worktree, "evil.sh");
    writeFileSync(evil, `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    writeFileSync(
      join(inner, "config"),
      `${readFileSync(join(inner, "config"))}[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${repository.worktree}\n`,
    );
    mkdirSync(join(inner, "hooks"));
    for (const hook of [
      "post-commit",
      "reference-transaction",
      "post-index-change",
      "pre-receive",
    ]) {
      writeFileSync(join(inner, "hooks", hook), readFileSync(evil), { mode: 0o755 });
    }
    const commit = agent(
      "-c",
      "core.fsmonitor=false",
      "commit-tree",
      "-p",
      "HEAD",
      "-m",
      "x",
      "HEAD^{tree}",
    );
    writeFileSync(join(inner, "refs/heads/work"), `${commit}\n`);
    rmSync(proof, { force: true });
    const quiet: SandboxGit = {
      run: (words, stdin) =>
        git.run(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ...words], stdin),
      stream: (words, stdin) =>
        git.stream(
          ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ...words],
          stdin,
        ),
    };
    expect((await bringOut(repository, quiet, state, hooks)).outcome.kind).toBe("imported");
    host(repository.worktree, "status");
    expect(existsSync(proof)).toBe(false);
  });
});
