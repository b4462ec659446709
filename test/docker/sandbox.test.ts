/** Each protection of the sandbox, shown by what happens with it and without it. */
import { chmodSync, chownSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { AGENT, Rig, SOCKET, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const missing = await whyNot();

describe.skipIf(missing)("the sandbox", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.make();
  });
  afterAll(() => rig?.close());

  test("has nothing of the host but the worktree (A11, D2)", async () => {
    const mine = rig.folder("mine");
    const theirs = rig.folder("theirs");
    writeFileSync(join(rig.base, "host-file"), "secret");
    writeFileSync(join(theirs, "file"), "theirs");
    const { spec, run } = await rig.run(mine);
    const look = `cat ${rig.base}/host-file ${theirs}/file; ls ${rig.project.root}/.worktrees`;
    expect((await run(look)).stdout).toBe("mine\n");

    const loose = await rig.loosened(spec, (host) => {
      const all = { Source: rig.base, Target: rig.base, ReadOnly: true };
      host.Mounts.unshift({ ...(host.Mounts[0] as (typeof host.Mounts)[0]), ...all });
    });
    expect((await loose(look)).stdout).toContain("secrettheirs");
  });

  test("shows the worktree at its own path, to its own owner", async () => {
    const { run } = await rig.run(rig.folder("mine"));
    const { stdout } = await run("pwd; id -u; id -g; echo new >written; stat -c %u:%g written");
    expect(stdout.split("\n").slice(0, 4)).toEqual([
      rig.folder("mine"),
      `${AGENT.uid}`,
      `${AGENT.gid}`,
      `${AGENT.uid}:${AGENT.gid}`,
    ]);
  });

  test("reaches no port of the host, and has no network but its own loopback", async () => {
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const { spec, run } = await rig.run(rig.folder("network"));
    const reach = `ls /sys/class/net; cat </dev/tcp/127.0.0.1/${port}`;
    expect((await run(reach)).stdout).toBe("lo\n");

    const loose = await rig.loosened(spec, (host) => {
      host.NetworkMode = "host";
    });
    expect((await loose(reach)).stdout).toContain("reached");
    server.close();
  });

  test("cannot change its own system", async () => {
    const { spec, run } = await rig.run(rig.folder("read-only"));
    const change = "touch /var/tmp/x";
    expect((await run(change)).stderr).toContain("Read-only file system");

    const loose = await rig.loosened(spec, (host) => {
      host.ReadonlyRootfs = false;
    });
    expect((await loose(change)).exit.exitCode).toBe(0);
  });

  test("cannot plant configuration in its home, and can use its cache", async () => {
    const { run } = await rig.run(rig.folder("home"));
    const { stdout, stderr } = await run(
      'cd; for f in .bash_profile .gitconfig .npmrc .cache/x; do echo x >"$f"; done; ls -A . .cache',
    );
    expect(stdout).toBe(".:\n.cache\n\n.cache:\nx\n");
    expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
  });

  test("even root inside could do nothing", async () => {
    const { spec } = await rig.run(rig.folder("capabilities"));
    const chown = "touch /tmp/x && chown 1 /tmp/x";
    const asRoot = await rig.loosened(spec, (_, json) => {
      json.User = "0:0";
    });
    expect((await asRoot(chown, { root: true })).stderr).toContain("Operation not permitted");

    const loose = await rig.loosened(spec, (host, json) => {
      json.User = "0:0";
      host.CapDrop = [];
    });
    expect(await loose(chown, { root: true })).toMatchObject({ stderr: "", exit: { exitCode: 0 } });
  });

  test("a setuid program gives nothing", async () => {
    const worktree = rig.folder("setuid");
    const { spec, run } = await rig.run(worktree);
    const handle = await rig.daemon().ensure(rig.project, rig.profile, worktree);
    const id = await handle.exec({ command: "cat /usr/bin/id", cwd: "/", stdin: false });
    writeFileSync(join(worktree, "root-id"), await buffer(id.stdout));
    chownSync(join(worktree, "root-id"), 0, 0);
    chmodSync(join(worktree, "root-id"), 0o4755);
    expect((await run("./root-id -u")).stdout).toBe(`${AGENT.uid}\n`);

    const loose = await rig.loosened(spec, (host) => {
      host.SecurityOpt = [];
    });
    expect((await loose("./root-id -u")).stdout).toBe("0\n");
  });

  test("cannot make user namespaces: the default system call filter is on", async () => {
    const { spec, run } = await rig.run(rig.folder("seccomp"));
    expect((await run("unshare --user true")).stderr).toContain("Operation not permitted");

    const loose = await rig.loosened(spec, (host) => {
      host.SecurityOpt = ["no-new-privileges", "seccomp=unconfined"];
    });
    expect((await loose("unshare --user true")).exit.exitCode).toBe(0);
  });

  test("runs programs from /tmp, as builds do, and no setuid ones", async () => {
    const { spec, run } = await rig.run(rig.folder("tmp"));
    const build = "printf '#!/bin/sh\\necho ran\\n' >/tmp/x && chmod +x /tmp/x && /tmp/x";
    expect((await run(`${build}; findmnt -no OPTIONS /tmp | grep -o nosuid`)).stdout).toBe(
      "ran\nnosuid\n",
    );

    const loose = await rig.loosened(spec, (host) => {
      host.Tmpfs["/tmp"] = host.Tmpfs["/tmp"]?.replace("exec", "noexec") ?? "";
    });
    expect((await loose(build)).stderr).toContain("Permission denied");
  });

  test("an image cannot bring a file that bash reads first", async () => {
    const worktree = rig.folder("bash-env");
    writeFileSync(join(worktree, "start-up"), "echo planted\n");
    const { spec, run } = await rig.run(worktree);
    expect((await run("echo judged")).stdout).toBe("judged\n");
    const env = { ...spec.env, BASH_ENV: join(worktree, "start-up") };
    const planted = rig.runner((await rig.daemon().list())[0]?.id ?? "", { ...spec, env });
    expect((await planted("echo judged")).stdout).toBe("planted\njudged\n");
  });
});

describe.skipIf(missing)("limits of the sandbox, hit for real", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.make();
  });
  afterAll(() => rig?.close());
  const limits = (change: object) => ({ limits: { ...rig.profile.limits, ...change } });

  test("processes", async () => {
    const { spec, run } = await rig.run(rig.folder("pids"), limits({ pids: 40 }));
    const fork = "for i in $(seq 60); do sleep 1 >/dev/null 2>&1 & done; jobs -p | wc -l";
    expect((await run(fork)).stderr).toContain("Resource temporarily unavailable");

    const loose = await rig.loosened(spec, (host) => {
      host.PidsLimit = 400;
    });
    expect((await loose(fork)).stdout).toBe("60\n");
  });

  test("memory: the end is told as what it is", async () => {
    const { spec, run } = await rig.run(rig.folder("memory"), limits({ memoryBytes: 64 * MIB }));
    const take = "python3 -c 'x = bytearray(200 << 20); print(len(x))'";
    expect((await run(take)).exit).toEqual({ exitCode: 137, oomKilled: true });
    expect((await run("kill -9 $$")).exit).toEqual({ exitCode: 137, oomKilled: false });

    const loose = await rig.loosened(spec, (host) => {
      host.Memory = 512 * MIB;
      host.MemorySwap = 512 * MIB;
    });
    expect((await loose(take)).exit).toEqual({ exitCode: 0, oomKilled: false });
  });

  test("files: open ones, their size, /tmp and shared memory", async () => {
    const { run } = await rig.run(
      rig.folder("files"),
      limits({ openFiles: 64, fileBytes: MIB, tmpBytes: 2 * MIB, shmBytes: MIB }),
    );
    const openMany = "python3 -c 'x = [open(\"/dev/null\") for _ in range(100)]'";
    expect((await run(openMany)).stderr).toContain("Too many open files");
    expect((await run("head -c 2M /dev/zero >big; stat -c %s big")).stdout).toBe(`${MIB}\n`);
    const fill = "for i in 1 2 3; do head -c 900K /dev/zero >DIR/$i; done";
    expect((await run(fill.replace("DIR", "/tmp"))).stderr).toContain("No space left");
    expect((await run(fill.replace("DIR", "/dev/shm"))).stderr).toContain("No space left");
  });
});

describe.skipIf(missing)("git: read in a linked worktree", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.make({ git: "read" });
  });
  afterAll(() => rig?.close());

  test("status and log work, though the repository belongs to somebody else", async () => {
    const worktree = rig.gitWorktree("dev");
    writeFileSync(join(worktree, "new-file"), "x");
    const { spec, run } = await rig.run(worktree);
    const look = "git log --format=%s && git status --porcelain --branch";
    expect(await run(look)).toMatchObject({
      stdout: "first commit\n## dev\n?? new-file\n",
      exit: { exitCode: 0 },
    });
    const { run: without } = await rig.run(worktree, { git: "none" });
    expect((await without(look)).stderr).toContain("not a git repository");
    expect(spec.mounts.filter(({ readOnly }) => !readOnly).map(({ target }) => target)).toEqual([
      worktree,
    ]);
  });

  test("the repository cannot be written from inside", async () => {
    const worktree = rig.gitWorktree("dev2");
    chownSync(join(rig.project.root, ".git"), AGENT.uid, AGENT.gid);
    const { spec, run } = await rig.run(worktree);
    const plant = `echo x >${rig.project.root}/.git/config.worktree`;
    expect((await run(plant)).stderr).toContain("Read-only file system");

    const loose = await rig.loosened(spec, (host) => {
      for (const mount of host.Mounts) mount.ReadOnly = false;
    });
    expect((await loose(plant)).exit.exitCode).toBe(0);
  });

  test("a program that the repository's config names does not run", async () => {
    const worktree = rig.gitWorktree("dev3");
    const config = join(rig.project.root, ".git/config");
    writeFileSync(
      config,
      "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch /tmp/ran; false\n",
    );
    const { run } = await rig.run(worktree);
    expect((await run("git status --porcelain; ls /tmp/ran")).stdout).toBe("");
    expect(
      (await run("git -c core.fsmonitor='touch /tmp/ran; false' status >/dev/null; ls /tmp/ran"))
        .stdout,
    ).toBe("/tmp/ran\n");
  });
});

describe.skipIf(missing)("the life of a sandbox", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.make();
  });
  afterAll(() => rig?.close());

  test("two callers at once get one container", async () => {
    const sandboxes = rig.daemon();
    const worktree = rig.folder("both");
    const [a, b] = await Promise.all([
      sandboxes.ensure(rig.project, rig.profile, worktree),
      sandboxes.ensure(rig.project, rig.profile, worktree),
    ]);
    expect(a.id).toBe(b.id);
    expect(await sandboxes.list()).toHaveLength(1);
    await sandboxes.remove(a);
  });

  test("a changed profile gives another container, and only then", async () => {
    const sandboxes = rig.daemon();
    const worktree = rig.folder("changed");
    const first = await sandboxes.ensure(rig.project, rig.profile, worktree);
    const again = await sandboxes.ensure(rig.project, rig.profile, worktree);
    const tighter = { ...rig.profile, limits: { ...rig.profile.limits, pids: 99 } };
    const other = await sandboxes.ensure(rig.project, tighter, worktree);
    expect([again.id === first.id, other.id === first.id]).toEqual([true, false]);
    expect(await rig.engine.status(first.id)).toBeNull();
    await sandboxes.remove(other);
  });

  test("after a restart of the daemon it is found by label, and what ran in it has ended", async () => {
    const worktree = rig.folder("adopted");
    const before = await rig.daemon().ensure(rig.project, rig.profile, worktree);
    await before.exec({ command: "sleep 1000", cwd: "/", stdin: false });
    const next = rig.daemon();
    await next.adopt();
    const after = await next.ensure(rig.project, rig.profile, worktree);
    expect(after.id).toBe(before.id);
    const { stdout } = await rig.runner(after.id, after.spec)("pgrep -c -f 'sleep 1000'");
    expect(stdout).toBe("0\n");
    await next.remove(after);
  });

  test("a worktree that is swapped for a link between look and mount is refused", async () => {
    const worktree = rig.folder("raced");
    const secret = join(rig.base, "secret");
    mkdirSync(secret);
    class Attacked extends DockerEngine {
      override async start(id: string): Promise<void> {
        renameSync(worktree, `${worktree}-old`);
        symlinkSync(secret, worktree);
        await super.start(id);
      }
    }
    const sandboxes = rig.daemon(new Attacked(SOCKET));
    await expect(sandboxes.ensure(rig.project, rig.profile, worktree)).rejects.toMatchObject({
      code: "worktree-refused",
      message: `${worktree} was exchanged while it was mounted`,
    });
    expect(await sandboxes.list()).toEqual([]);
  });
});
