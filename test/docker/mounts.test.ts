/** What a sandbox has of the host, by profile: project around the worktree, caches that are kept, its user's name. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Profile } from "../../daemon/settings/types.ts";
import { AGENT, outputOf, Rig, whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("mounts", () => {
  let rig: Rig;
  let one: string;
  beforeAll(async () => {
    rig = await Rig.make();
    one = rig.gitWorktree("one");
    rig.folder("two");
    writeFileSync(join(rig.project.root, ".worktrees/two/theirs"), "theirs\n");
    writeFileSync(join(rig.project.root, "outside.txt"), "outside\n");
    execFileSync("git", ["-C", rig.project.root, "config", "remote.o.url", "https://a:pw@h.test/"]);
  }, 120_000);
  afterAll(() => rig.close());

  test("its user has a name, and no user of the host is known", async () => {
    const { run } = await rig.run(one);
    expect((await run("whoami; id -gn; getent passwd | cut -d: -f1 | paste -sd,")).stdout).toBe(
      "agent\nagent\nroot,agent,nobody\n",
    );
    expect((await run("echo x >> /etc/passwd")).exit.exitCode).not.toBe(0);
    expect((await run("touch ~/x ~/.bash_profile")).exit.exitCode).not.toBe(0);
    expect((await run("touch ~/.cache/x /tmp/x")).exit.exitCode).toBe(0);
  });

  test("mount: worktree has nothing else of the project; mount: project has, read-only, without the repository's config", async () => {
    const { root } = rig.project;
    const look = `cat ${root}/outside.txt ${root}/.worktrees/two/theirs; cat ${root}/.git/config`;
    const narrow = await rig.run(one);
    expect((await narrow.run(look)).stdout).toBe("");
    const wide = await rig.run(one, { mount: "project" });
    const seen = await wide.run(look);
    expect(seen.stdout).toBe("outside\ntheirs\n");
    expect(seen.stderr).toContain("/.git/config: No such file");
    const tried = await wide.run(
      `for f in ${root}/x ${root}/.git/x ${root}/.worktrees/two/x ${root}/outside.txt; do echo > $f; done; touch ${one}/mine; git -C ${one} status --porcelain`,
    );
    expect(tried.stderr.match(/Read-only file system|Permission denied/g)).toHaveLength(4);
    expect(tried.stdout).toContain("?? mine");
    expect(existsSync(join(one, "mine"))).toBe(true);
  });

  const kept: Partial<Profile> = { cache: "volume", caches: { npm: "~/.npm" } };

  test("kept caches outlive the sandbox, shared within the project, and gone with it", async () => {
    const first = await rig.run(one, kept);
    await first.run("echo mine > ~/.cache/a; echo ours > ~/.npm/b");
    await rig.daemon().remove({ project: rig.project.id, worktree: one });
    const again = await rig.run(one, kept);
    expect((await again.run("cat ~/.cache/a ~/.npm/b")).stdout).toBe("mine\nours\n");
    const two = await rig.run(rig.folder("two"), kept);
    expect((await two.run("cat ~/.npm/b; ls ~/.cache")).stdout).toBe("ours\n");

    const other = { ...rig.project, id: "other", root: join(rig.base, "other") };
    const theirs = join(other.root, ".worktrees/x");
    mkdirSync(theirs, { recursive: true });
    execFileSync("chown", [String(AGENT.uid), theirs]);
    const handle = await rig.daemon().ensure(other, { ...rig.profile, ...kept }, theirs);
    expect((await rig.runner(handle.id, handle.spec)("ls ~/.npm")).stdout).toBe("");

    await rig.daemon().removeProject(rig.project.id);
    expect(existsSync(join(rig.base, "state/given/caches", rig.project.id))).toBe(false);
    expect(existsSync(join(rig.base, "state/given/caches/other"))).toBe(true);
  });

  test("a command that only reads may write caches, as it may any scratch", async () => {
    const handle = await rig.daemon().ensure(rig.project, { ...rig.profile, ...kept }, one);
    const { confinement } = handle.confine({ segments: [], approved: false, grants: [] });
    const command = { cwd: one, stdin: false, confinement };
    const ran = async (text: string) => outputOf(await handle.exec({ ...command, command: text }));
    expect((await ran("echo > ~/.npm/ok && echo done")).stdout).toBe("done\n");
  });
});
