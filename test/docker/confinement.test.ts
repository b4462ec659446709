/** What each verdict holds a command to, shown by what the same command may do under a wider verdict; for runner and once alike. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LiveGrant } from "../../daemon/policy/types.ts";
import { Confined, type Decided, judged } from "./confined.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing).each(["runner", "once"] as const)("confinement by %s", (executor) => {
  let confined: Confined;
  let worktree: string;
  beforeAll(async () => {
    confined = await Confined.make(executor);
    worktree = confined.worktree;
  });
  afterAll(() => confined?.close());
  beforeEach(() => confined.refresh());
  const run = (command: string, decided: Decided) => confined.run(command, decided);

  const py = (text: string) => `python3 -c "import fcntl, os, socket, sys\n${text}"`;
  const flags = (request: number) =>
    py(`fcntl.ioctl(os.open('file', 0), ${request}, (0x40).to_bytes(8, 'little'))`);
  const connect = `python3 -c "
import socket, threading
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
c = socket.create_connection(s.getsockname()); print('connected')"`;

  test.each([
    ["a new file", "echo x > made && rm made"],
    ["a file cut off", ": > file"],
    ["a folder", "mkdir made && rmdir made"],
    ["a rename", "mv file other && mv other file"],
    ["a link", "ln -s file made && rm made"],
    ["a FIFO", "mkfifo made && rm made"],
    ["a mode", "chmod 600 file"],
    ["a time", "touch -d 2000-01-01 file"],
    ["an attribute", `python3 -c "import os; os.setxattr('file', 'user.x', b'1')"`],
    ["a mode, by what is open for reading", py("os.fchmod(os.open('file', 0), 0o600)")],
    ["an owner", py("os.chown('file', os.getuid(), os.getgid())")],
    ["the owner of a link", py("os.symlink('file', 'link'); os.lchown('link', os.getuid(), -1)")],
    ["a time, by what is open for reading", py("os.utime(os.open('file', 0), (1, 1))")],
    [
      "a time, by the old calls",
      `${py("import ctypes; sys.exit(ctypes.CDLL(None).syscall(132, b'file', None) != 0)")}`,
    ],
    [
      "an attribute taken away",
      py("os.setxattr('file', 'user.y', b'1'); os.removexattr('file', 'user.y')"),
    ],
    ["flags of an inode", flags(0x40086602)],
    [
      "attributes of a project",
      py(
        "b = bytearray(28); fcntl.ioctl(os.open('file', 0), 0x801c581f, b); fcntl.ioctl(os.open('file', 0), 0x401c5820, bytes(b))",
      ),
    ],
    ["a hard link", "ln file made && rm made"],
    ["a file cut off by its name", py("os.truncate('file', 0)")],
    ["a file cut off where it is opened to read", py("os.open('file', os.O_TRUNC)")],
    [
      "a socket in a folder",
      py("s = socket.socket(socket.AF_UNIX); s.bind('made'); os.unlink('made')"),
    ],
    ["a socket of datagrams", py("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")],
    ["a socket to the kernel", py("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)")],
    ["shared memory", "echo x > /dev/shm/made && rm /dev/shm/made"],
    ["a socket", connect],
  ])("a read verdict does not have what a write verdict has: %s", async (_, command) => {
    expect((await run(command, judged("write"))).code).toBe(0);
    expect((await run(command, judged("read"))).code).not.toBe(0);
  });

  test("a read verdict may ask for what it may not change: modes, flags, attributes, limits", async () => {
    const ask = `stat -c %s file; lsattr file | cut -c1-3; ${py("import resource\nos.listxattr('file')\nprint(resource.prlimit(os.getpid(), resource.RLIMIT_CORE))")}`;
    expect(await run(ask, judged("read"))).toMatchObject({
      stdout: "4\n---\n(0, 0)\n",
      stderr: "",
      code: 0,
    });
  });

  test.each(["write", "run", "build"] as const)(
    "%s has the worktree and loopback, and nothing of the system",
    async (cls) => {
      expect((await run(`echo x > made && rm made && ${connect}`, judged(cls))).stdout).toBe(
        "connected\n",
      );
      expect((await run("echo x > /etc/made", judged(cls))).code).toBe(1);
      expect((await run("echo x > ~/.bash_profile", judged(cls))).code).toBe(1);
    },
  );

  test("a read verdict still reads, pipes, and writes to scratch, the null device and its own streams", async () => {
    const command =
      "cat file | wc -c; ls >/dev/null; echo x >/tmp/made; echo x >~/.cache/made; echo err >/dev/stderr; echo out >/dev/stdout";
    expect(await run(command, judged("read"))).toEqual({
      stdout: "4\nout\n",
      stderr: "err\n",
      code: 0,
      text: "landlock-7+seccomp: read",
      hint: null,
    });
  });

  test("scratch may be written in every way, and the worktree not", async () => {
    expect(
      (await run("touch -d 2000-01-01 /tmp/t && chmod 700 /tmp/t", judged("scratch"))).code,
    ).toBe(0);
    expect((await run("echo x > made", judged("scratch"))).code).toBe(1);
  });

  test("loopback may be used by who may use it, without writing", async () => {
    expect((await run(connect, judged("read", "loopback"))).stdout).toBe("connected\n");
    expect((await run("echo x > made", judged("read", "loopback"))).code).toBe(1);
  });

  test("a grant on one folder admits that folder alone, however it is gone about", async () => {
    const grant: LiveGrant = {
      id: "g1",
      effects: ["write"],
      paths: [`${worktree}/src/auth/**`],
      hosts: [],
      commands: [],
    };
    const granted: Decided = {
      segments: [{ classes: ["write"], rung: "grant", rule: "g1" }],
      approved: false,
      grants: [grant],
    };
    const inside = await run(
      "echo x > src/auth/a && mkdir src/auth/b && mv src/auth/a src/auth/b/",
      granted,
    );
    expect([inside.code, inside.text]).toEqual([
      0,
      `landlock-7+seccomp: write ${worktree}/src/auth`,
    ]);
    for (const way of [
      "echo x > src/beside",
      "mv src/auth/b/a src/",
      "ln src/auth/b/a src/hard",
      "mv src/auth src/other",
      "ln -s ../.. src/auth/up && echo x > src/auth/up/made",
    ]) {
      expect((await run(way, granted)).code, way).not.toBe(0);
    }
  });

  test("a granted folder that is a link gives no right to where it leads", async () => {
    await run("rm -rf src/auth && ln -s .. src/auth", judged("write"));
    const grant = {
      id: "g1",
      effects: ["write"],
      paths: [`${worktree}/src/auth/**`],
      hosts: [],
      commands: [],
    } as const;
    const granted: Decided = {
      segments: [{ classes: ["write"], rung: "grant", rule: "g1" }],
      approved: false,
      grants: [grant],
    };
    expect((await run("echo x > src/auth/made", granted)).code).not.toBe(0);
    await run("rm -f src/auth", judged("write"));
  });

  test("a refused write comes with what to ask for; another failure does not", async () => {
    expect((await run("echo x > made", judged("read"))).hint).toBe(
      `it was judged to read only, and the kernel held it to that; ask for write to ${worktree} if it has to change something`,
    );
    expect((await run("cat nothing", judged("read"))).hint).toBeNull();
    expect((await run("echo x > /etc/made", judged("write"))).hint).toBeNull();
  });

  test("what no verdict gives: io_uring, a way to new rights, another command's processes", async () => {
    const probe = `python3 -c "
import ctypes
l = ctypes.CDLL(None, use_errno=True); b = ctypes.create_string_buffer(512)
print(l.syscall(425, 4, b), ctypes.get_errno())"; grep -E 'Cap(Prm|Eff|Inh|Amb)|NoNewPrivs' /proc/self/status`;
    expect((await run(probe, judged("write"))).stdout).toBe(
      `-1 38\nCapInh:\t${"0".repeat(16)}\nCapPrm:\t${"0".repeat(16)}\nCapEff:\t${"0".repeat(16)}\nCapAmb:\t${"0".repeat(16)}\nNoNewPrivs:\t1\n`,
    );
    const victim = await confined.handle.exec({
      command: "sleep 1000",
      cwd: "/",
      stdin: false,
      confinement: confined.handle.confine(judged("write")).confinement,
    });
    const pid = victim.control?.pid;
    const attack = `kill -9 ${pid}; cat /proc/${pid}/environ; cat /proc/${pid}/mem; readlink -v /proc/${pid}/fd/1`;
    const { stdout, stderr } = await run(attack, judged("write"));
    expect([stdout, stderr.match(/not permitted|Permission denied/g)?.length]).toEqual(["", 4]);
    await victim.kill("KILL");
    victim.stdout.resume();
    victim.stderr.resume();
    expect((await victim.exited).exitCode).toBe(137);
  });
});
