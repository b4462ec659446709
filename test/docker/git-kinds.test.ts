/** Git in a container for the kinds of repositories whose mounts differ: plain, with submodules, with others' objects. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT, Rig, whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("git inside, of", () => {
  let rig: Rig;
  let root: string;
  beforeEach(async () => {
    rig = await Rig.make();
    root = rig.project.root;
    execFileSync("chown", [`${AGENT.uid}:${AGENT.gid}`, root]);
  }, 120_000);
  afterEach(() => rig.close());

  function host(script: string): void {
    const identity =
      "GIT_AUTHOR_NAME=h GIT_AUTHOR_EMAIL=h@h GIT_COMMITTER_NAME=h GIT_COMMITTER_EMAIL=h@h";
    execFileSync("bash", ["-ec", `export ${identity}; ${script}`], {
      cwd: root,
      uid: AGENT.uid,
      gid: AGENT.gid,
      env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent" },
      stdio: "pipe",
    });
  }

  async function inside(worktree: string, script: string): Promise<string> {
    const handle = await rig
      .daemon()
      .ensure({ ...rig.project, worktrees: "." }, rig.profile, worktree);
    const { stdout, stderr, exit } = await rig.runner(
      handle.id,
      handle.spec,
    )(`cd ${worktree}; ${script}`);
    expect({ stderr, exitCode: exit.exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout;
  }

  test("a plain repository: its own .git is covered, its objects are there, commits stay in the private folder", async () => {
    host("git init -q -b main; echo 1 > a; git add a; git commit -qm first");
    const before = readFileSync(join(root, ".git/refs/heads/main"), "utf8");
    const script =
      "git status --porcelain; git log --format=%s; echo 2 > b; git add b; git commit -qm second; git log --format=%s; git fsck";
    expect(await inside(root, script)).toBe("first\nsecond\nfirst\n");
    expect(readFileSync(join(root, ".git/refs/heads/main"), "utf8")).toBe(before);
    expect(readdirSync(join(root, ".git"))).toContain("hooks");
    expect(
      await inside(root, "ls .git/hooks 2>&1 | wc -l; test -w .git/config && echo own"),
    ).toContain("own");
  });

  test("a repository with a submodule: it can be read, its history too, and not written", async () => {
    host(`
      mkdir -p libsrc; git init -q -b main libsrc; echo 1 > libsrc/x; git -C libsrc add x; git -C libsrc commit -qm lib
      git init -q -b main
      git -c protocol.file.allow=always submodule --quiet add ./libsrc sub
      rm -rf libsrc; git add -A; git commit -qm first`);
    const script =
      "git status --porcelain; git submodule status | wc -l; git -C sub log --format=%s; git -C sub status --porcelain";
    expect(await inside(root, script)).toBe("1\nlib\n");
    const write = "(echo x > .git/modules/sub/config) 2>&1 | grep -o Read-only";
    expect(await inside(root, write)).toBe("Read-only\n");
  });

  test("a repository that builds on another's objects, which lies elsewhere", async () => {
    const other = join(rig.base, "other");
    mkdirSync(other);
    execFileSync("chown", [`${AGENT.uid}:${AGENT.gid}`, other]);
    host(
      `git init -q -b main ${other}; cd ${other}; echo 1 > a; git add a; git commit -qm first; cd ${root}; git clone -q --shared ${other} .`,
    );
    expect(
      await inside(root, "git log --format=%s; git status --porcelain; git cat-file -p HEAD:a"),
    ).toBe("first\n1\n");
  });
});
