/** Git in a real container: everything a developing agent does works, the host follows, and the host's repository stays whole. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { privateGitPort } from "../../daemon/supervisor/private-git-port.ts";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, agent, answering, OWNER, run } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const once = { answer: "approve", mode: "once" } as const;

describe.skipIf(missing)("commits from a sandbox", () => {
  const world = new DockerWorld();
  let session: string;

  const host = (cwd: string, ...words: string[]): string =>
    execFileSync("git", words, {
      cwd,
      uid: OWNER,
      gid: OWNER,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: "/nonexistent",
        GIT_AUTHOR_NAME: "h",
        GIT_AUTHOR_EMAIL: "h@h",
        GIT_COMMITTER_NAME: "h",
        GIT_COMMITTER_EMAIL: "h@h",
      },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const root = () => world.root;
  const one = () => world.worktree("one");

  beforeAll(async () => {
    world.sandboxes = { privateGit: privateGitPort(world.gits) };
    world.profile = "extends: dev\napprovalWait: 5s\n";
    await world.start();
    chmodSync(world.folder, 0o755);
    rmSync(join(root(), ".worktrees"), { recursive: true });
    world.write(join(root(), "a.txt"), "1\n");
    execFileSync("chown", [String(OWNER), root()]);
    host(root(), "init", "-q", "-b", "main");
    host(root(), "config", "remote.origin.url", "https://bob:s3cret@example.test/r.git");
    host(root(), "add", "a.txt");
    host(root(), "commit", "-qm", "first");
    for (const name of ["one", "two"]) {
      host(root(), "worktree", "add", "-q", "-b", `work-${name}`, join(".worktrees", name));
    }
    session = await world.open();
  }, 120_000);

  afterAll(() => world.end());

  const notes = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "note" ? [`${event.code}: ${event.reason}`] : []));

  /** Runs one line that must succeed, without being asked about. */
  async function ok(command: string, on?: (event: RunEvent) => Promise<void>) {
    const ran = await run(world, session, command, on ? { on } : {});
    const errors = ran.events.flatMap((event) =>
      event.type === "stderr" ? [Buffer.from(event.data).toString()] : [],
    );
    expect({ command, last: ran.last, errors }).toMatchObject({
      last: { type: "exit", exitCode: 0 },
    });
    return { stdout: ran.stdout.trim(), notes: notes(ran.events) };
  }

  test("add and commit work, and the host has the commit, its index along, and the journal both", async () => {
    expect((await ok("git status --porcelain -b")).stdout).toBe("## work-one");
    await ok("echo new > b.txt && git add b.txt");
    const { notes: told } = await ok("git commit -qm second");
    const commit = host(one(), "rev-parse", "HEAD");
    expect(told).toEqual([`git_imported: work-one is at ${commit.slice(0, 12)} on the host too`]);
    expect(host(one(), "log", "--format=%s", "work-one")).toBe("second\nfirst");
    expect(host(one(), "status", "--porcelain")).toBe("");
    expect(host(root(), "fsck", "--strict")).toBe("");
    const [intended, imported] = world.recorded("git.import.intended", "git.imported");
    expect([intended?.[0], imported?.[0]]).toEqual(["git.import.intended", "git.imported"]);
    expect(imported?.[1]).toMatchObject({ ref: "refs/heads/work-one", commit, worktree: one() });
  });

  test("no password of a remote's address is in there, and the common dir cannot be written", async () => {
    expect((await ok("git remote -v | head -1")).stdout).toContain("https://example.test/r.git");
    const look = `cat ${root()}/.git/config; ls ${root()}/.git; echo > ${root()}/.git/commondir`;
    const { stdout } = await run(world, session, look, { on: answering(world, once) });
    expect(stdout).toBe("objects\nworktrees\n");
    expect(existsSync(join(root(), ".git/commondir"))).toBe(false);
  });

  test("what an agent does all day works", async () => {
    await ok("git switch -q -c topic && echo t > t.txt && git add t.txt && git commit -qm topic");
    expect(host(one(), "branch", "--show-current")).toBe("topic");
    await ok("git commit -q --amend -m 'topic again'");
    await ok("echo dirty > t.txt && git stash");
    await ok("git stash pop && git checkout -q -b other && git commit -qam other");
    await ok("git switch -q work-one && git merge -q --no-ff -m merged other");
    await ok("git diff HEAD~1 --stat && git log --oneline | head -3");
    await ok("git rebase -q main");
    await ok("git gc -q");
    expect(host(one(), "branch", "--show-current")).toBe("work-one");
    expect(host(one(), "log", "--format=%s", "work-one")).toBe("other\ntopic again\nsecond\nfirst");
    expect(host(one(), "status", "--porcelain")).toBe("");
    expect(host(root(), "fsck", "--strict", "--no-dangling")).toBe("");
  }, 60_000);

  test("commits of the host are there at the next git command", async () => {
    writeFileSync(join(one(), "h.txt"), "host\n");
    execFileSync("chown", [String(OWNER), join(one(), "h.txt")]);
    host(one(), "add", "h.txt");
    host(one(), "commit", "-qm", "from the host");
    expect((await ok("git log -1 --format=%s")).stdout).toBe("from the host");
    expect((await ok("git status --porcelain")).stdout).toBe("");
    host(one(), "switch", "-q", "-c", "elsewhere");
    expect((await ok("git status --porcelain -b")).stdout).toBe("## elsewhere");
    host(one(), "switch", "-q", "work-one");
    expect((await ok("git status --porcelain -b")).stdout).toBe("## work-one");
  });

  test("an import is taken back from the journal", async () => {
    const before = host(one(), "rev-parse", "HEAD");
    await ok("echo u > u.txt && git add u.txt && git commit -qm unwanted");
    const entry = world.journal?.read({ events: ["git.imported"], newest: true, limit: 1 })[0];
    const undone = await world.supervisor.git.undo(admin(), entry?.seq ?? 0);
    expect(undone).toMatchObject({ event: "git.undone", data: { of: entry?.seq, old: before } });
    expect(host(one(), "rev-parse", "HEAD")).toBe(before);
    expect(host(one(), "status", "--porcelain")).toBe("?? u.txt");
    expect((await ok("git log -1 --format=%s")).stdout).toBe("from the host");
    await expect(world.supervisor.git.undo(admin(), entry?.seq ?? 0)).rejects.toMatchObject({
      code: "import-over",
    });
    await ok("rm u.txt && git status --porcelain");
  });

  test("two agents commit at once, and both are there", async () => {
    const other = await world.open(agent("web"), "two");
    const commits = ["one", "two"].flatMap((name) =>
      [1, 2, 3].map((n) => ({ id: name === "one" ? session : other, text: `${name} ${n}` })),
    );
    for (const n of [0, 1, 2]) {
      await Promise.all(
        [commits[n], commits[n + 3]].map(async (each) => {
          const command = `git commit -q --allow-empty -m '${each?.text}'`;
          const { last } = await run(world, each?.id ?? "", command);
          expect(last).toMatchObject({ type: "exit", exitCode: 0 });
        }),
      );
    }
    expect(host(root(), "log", "-3", "--format=%s", "work-one")).toBe("one 3\none 2\none 1");
    expect(host(root(), "log", "-3", "--format=%s", "work-two")).toBe("two 3\ntwo 2\ntwo 1");
    expect(host(root(), "fsck", "--strict", "--no-dangling")).toBe("");
  }, 60_000);

  test("the host replaces each of its git files by rename while the sandbox runs: nothing opens up", async () => {
    for (const file of ["config", "HEAD", "worktrees/one/HEAD", "worktrees/one/commondir"]) {
      const path = join(root(), ".git", file);
      const text = readFileSync(path);
      writeFileSync(`${path}.new`, text);
      execFileSync("chown", [String(OWNER), `${path}.new`]);
      renameSync(`${path}.new`, path);
    }
    host(root(), "config", "color.ui", "auto");
    const planted = ["commondir", "config", "config.worktree", "modules/x/config", "HEAD"];
    const script = planted
      .map((name) => `mkdir -p $(dirname ${root()}/.git/${name}); echo x > ${root()}/.git/${name}`)
      .join("; ");
    const before = execFileSync("find", [join(root(), ".git"), "-newermt", "2000-01-01", "-ls"], {
      encoding: "utf8",
    });
    await run(world, session, `bash -c '${script}' 2>/dev/null; true`, {
      on: answering(world, once),
    });
    const after = execFileSync("find", [join(root(), ".git"), "-newermt", "2000-01-01", "-ls"], {
      encoding: "utf8",
    });
    expect(after).toBe(before);
  });

  test("a .git file that the owner replaced is mounted no more: then what is put in its place is taken back", async () => {
    const file = join(one(), ".git");
    const text = readFileSync(file, "utf8");
    const put = `[ -w ${one()} ] && rm -f .git; echo 'gitdir: ${one()}/fake' > .git; cat .git`;
    world.write(join(one(), "put.sh"), put);
    await run(world, session, "bash ./put.sh", { on: answering(world, once) });
    expect(readFileSync(file, "utf8")).toBe(text);

    writeFileSync(`${file}.new`, text);
    execFileSync("chown", [String(OWNER), `${file}.new`]);
    renameSync(`${file}.new`, file);
    const { stdout, events } = await run(world, session, "bash ./put.sh", {
      on: answering(world, once),
    });
    expect(stdout).toBe(`gitdir: ${one()}/fake\n`);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(notes(events)).toContainEqual(expect.stringContaining("protected_restored"));
    expect(world.recorded("protected.restored").at(-1)?.[1]).toMatchObject({
      path: ".git",
      change: "changed",
      restored: true,
    });
    rmSync(join(one(), "put.sh"));
  });

  test("instructions that project code writes are taken back; those that git brings from others' branches stay", async () => {
    const instructions = join(one(), "AGENTS.md");
    host(root(), "switch", "-q", "-c", "rules");
    world.write(join(root(), "AGENTS.md"), "the owner's\n");
    host(root(), "add", "AGENTS.md");
    host(root(), "commit", "-qm", "rules");
    host(root(), "switch", "-q", "main");
    const { notes: merged } = await ok("git merge -q --no-edit rules");
    expect(merged.filter((each) => each.startsWith("protected"))).toEqual([]);
    expect(readFileSync(instructions, "utf8")).toBe("the owner's\n");

    world.write(join(one(), "evil.sh"), "echo mine > AGENTS.md");
    const { notes: told } = await ok("bash ./evil.sh");
    expect(told).toContainEqual(expect.stringContaining("protected_restored"));
    expect(readFileSync(instructions, "utf8")).toBe("the owner's\n");
    await ok("git switch -q -c without HEAD~1");
    expect(existsSync(instructions)).toBe(false);
    await ok("rm evil.sh; git switch -q work-one");
    expect(readFileSync(instructions, "utf8")).toBe("the owner's\n");
  });

  test("a command that is killed in the middle of a commit leaves both sides whole", async () => {
    await run(
      world,
      session,
      { command: "git commit -q --allow-empty -m x; sleep 9", timeoutMs: 800 },
      {
        on: answering(world, once),
      },
    );
    await ok("git status --porcelain");
    expect(host(root(), "fsck", "--strict", "--no-dangling")).toBe("");
  });
});
