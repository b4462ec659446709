/** Repositories of every kind: what a sandbox's git sees of them, and that its commits come out. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { GitPair, hostGitIn, scratchRoot, USER, writeAs } from "./git-pair.ts";

describe.skipIf(process.getuid?.() !== 0)("a sandbox's git of", () => {
  let pair: GitPair | undefined;
  afterEach(() => pair?.remove());

  function init(...options: string[]): string {
    const root = scratchRoot();
    hostGitIn(root, "init", "-q", "-b", "main", ...options);
    return root;
  }

  function commit(root: string, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      const folder = join(root, name, "..");
      if (!existsSync(folder)) execFileSync("mkdir", ["-p", folder], USER);
      writeAs(join(root, name), text);
    }
    hostGitIn(root, "add", "-A");
    hostGitIn(root, "commit", "-qm", "first");
  }

  /** Clean inside, a commit inside, and on the host the same commit, clean and whole. */
  async function commitsComeOut(made: GitPair): Promise<void> {
    pair = made;
    expect(made.agent("status", "--porcelain")).toBe("");
    made.edit("made-inside", "x\n");
    made.agent("add", "made-inside");
    made.agent("commit", "-qm", "inside");
    expect(await made.out()).toMatchObject({ kind: "imported", note: null });
    expect(made.host("rev-parse", "HEAD")).toBe(made.agent("rev-parse", "HEAD"));
    expect(made.host("status", "--porcelain")).toBe("");
    expect(made.host("fsck", "--strict")).toBe("");
  }

  it("a plain repository", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    await commitsComeOut(await GitPair.of(root));
  });

  it("a bare repository's worktree, which lies elsewhere", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    const bare = join(root, "..", "bare.git");
    execFileSync("install", ["-d", "-o", String(USER.uid), bare]);
    hostGitIn(root, "clone", "-q", "--bare", root, bare);
    const worktree = join(root, "w");
    hostGitIn(bare, "worktree", "add", "-q", "-b", "work", worktree);
    await commitsComeOut(await GitPair.of(root, worktree));
  });

  it("a repository with SHA-256 names, a new branch among them", async () => {
    const root = init("--object-format=sha256");
    commit(root, { a: "1\n" });
    const made = await GitPair.of(root);
    await commitsComeOut(made);
    made.agent("switch", "-q", "-c", "topic");
    expect(await made.out()).toMatchObject({
      kind: "imported",
      ref: "refs/heads/topic",
      old: null,
    });
    expect(made.host("rev-parse", "topic")).toHaveLength(64);
  });

  it("an empty repository: its first commit is the sandbox's", async () => {
    const made = await GitPair.of(init());
    await commitsComeOut(made);
    expect(made.host("log", "--format=%s")).toBe("inside");
  });

  it("a detached head: its commits stay until there is a branch", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    hostGitIn(root, "checkout", "-q", "--detach");
    const made = await GitPair.of(root);
    pair = made;
    made.edit("b", "b\n");
    made.agent("add", "b");
    made.agent("commit", "-qm", "inside");
    expect(await made.out()).toMatchObject({ kind: "left" });
    made.agent("switch", "-q", "-c", "kept");
    expect(await made.out()).toMatchObject({ kind: "imported", ref: "refs/heads/kept" });
    expect(made.host("status", "--porcelain=v1", "-b")).toBe("## kept");
  });

  it("a sparse checkout with a config of the worktree's own: what is left out stays so, and is not deleted", async () => {
    const root = init();
    commit(root, { "in/a": "1\n", "out/b": "2\n" });
    hostGitIn(root, "worktree", "add", "-q", "--no-checkout", "-b", "work", "w");
    const worktree = join(root, "w");
    hostGitIn(worktree, "sparse-checkout", "set", "in");
    hostGitIn(worktree, "checkout", "-q", "work");
    expect(hostGitIn(root, "config", "extensions.worktreeConfig")).toBe("true");
    expect(existsSync(join(worktree, "out"))).toBe(false);
    const made = await GitPair.of(root, worktree);
    await commitsComeOut(made);
    expect(existsSync(join(worktree, "out"))).toBe(false);
    expect(made.host("ls-tree", "-r", "--name-only", "HEAD")).toBe("in/a\nmade-inside\nout/b");
  });

  it("a repository with filters of the host (LFS): pointers stay pointers, and no filter runs for the daemon", async () => {
    const root = init();
    const proof = join(root, "..", "proof");
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    commit(root, { ".gitattributes": "*.bin filter=lfs diff=lfs -text\n", "x.bin": pointer });
    for (const key of ["filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process"]) {
      hostGitIn(root, "config", key, `touch ${proof}; cat`);
    }
    const made = await GitPair.of(root);
    pair = made;
    expect(made.agent("config", "--list")).not.toContain("filter.lfs");
    expect(made.agent("status", "--porcelain")).toBe("");
    made.edit("y", "y\n");
    made.agent("add", "y");
    made.agent("commit", "-qm", "inside");
    expect(await made.out()).toMatchObject({ kind: "imported", note: null });
    expect(made.agent("show", "HEAD:x.bin")).toBe(pointer.trim());
    expect(existsSync(proof)).toBe(false);
  });

  it("a repository that builds on another's objects, over two steps", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    const clones = ["second", "third"].map((name) => join(root, "..", name));
    for (const [from, to] of [
      [root, clones[0]],
      [clones[0], clones[1]],
    ] as const) {
      execFileSync("install", ["-d", "-o", String(USER.uid), to as string]);
      hostGitIn(root, "clone", "-q", "--shared", from as string, to as string);
    }
    const made = await GitPair.of(clones[1] as string);
    expect(readFileSync(join(made.inner, "objects/info/alternates"), "utf8").split("\n")).toEqual([
      ...[clones[1], clones[0], root].map((repository) =>
        join(repository as string, ".git/objects"),
      ),
      "",
    ]);
    await commitsComeOut(made);
  });

  it("a repository with an alternate that its owner may not read gets none of it", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    const secret = join(root, "..", "secret");
    mkdirSync(join(secret, "objects/pack"), { recursive: true });
    execFileSync("chmod", ["700", secret]);
    writeAs(join(root, ".git/objects/info/alternates"), `${join(secret, "objects")}\n`);
    const made = await GitPair.of(root);
    pair = made;
    expect(readFileSync(join(made.inner, "objects/info/alternates"), "utf8")).toBe(
      `${join(root, ".git/objects")}\n`,
    );
  });

  it("a file of the repository that is a link to somebody else's is not copied in", async () => {
    const root = init();
    commit(root, { a: "1\n" });
    const secret = join(root, "..", "shadow");
    execFileSync("install", ["-m", "600", "/dev/null", secret]);
    execFileSync("rm", [join(root, ".git/info/exclude")]);
    execFileSync("ln", ["-s", secret, join(root, ".git/info/exclude")]);
    pair = await GitPair.of(root);
    expect(existsSync(join(pair.inner, "info/exclude"))).toBe(false);
  });

  it("a repository with submodules: the commit they are at can be recorded", async () => {
    const library = init();
    commit(library, { lib: "1\n" });
    const root = init();
    commit(root, { a: "1\n" });
    hostGitIn(root, "submodule", "--quiet", "add", library, "sub");
    hostGitIn(root, "commit", "-qm", "with a library");
    await commitsComeOut(await GitPair.of(root));
    expect(pair?.agent("ls-files", "-s", "sub")).toMatch(/^160000 /);
  });
});
