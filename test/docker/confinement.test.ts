/** The rows of design §6, each shown by what the same command may do under a wider verdict; for runner and once alike. */
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LiveGrant } from "../../daemon/policy/types.ts";
import type { ConfinementInput } from "../../daemon/sandbox/confinement.ts";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { AGENT, outputOf, Rig, whyNot } from "./rig.ts";

const missing = await whyNot();

type Decided = Pick<ConfinementInput, "segments" | "approved" | "grants">;

const judged = (...classes: Decided["segments"][number]["classes"]): Decided => ({
  segments: [{ classes, rung: "scope", rule: "scope/test" }],
  approved: false,
  grants: [],
});

describe.skipIf(missing).each(["runner", "once"] as const)("confinement by %s", (executor) => {
  let rig: Rig;
  let handle: SandboxHandle;
  let worktree: string;
  beforeAll(async () => {
    rig = await Rig.make({ executor });
    worktree = rig.folder("confined");
    handle = await rig.daemon().ensure(rig.project, rig.profile, worktree);
  });
  afterAll(() => rig?.close());
  beforeEach(() => {
    mkdirSync(join(worktree, "src/auth"), { recursive: true });
    writeFileSync(join(worktree, "file"), "text");
    for (const name of ["src", "src/auth", "file"]) {
      chownSync(join(worktree, name), AGENT.uid, AGENT.gid);
    }
  });

  async function run(command: string, decided: Decided) {
    const { confinement, text, hint } = handle.confine(decided);
    const process = await handle.exec({ command, cwd: worktree, stdin: false, confinement });
    const { stdout, stderr, exit } = await outputOf(process);
    return { stdout, stderr, code: exit.exitCode, text, hint: hint(exit.exitCode, stderr) };
  }

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
    ["shared memory", "echo x > /dev/shm/made && rm /dev/shm/made"],
    ["a socket", connect],
  ])("a read verdict does not have what a write verdict has: %s", async (_, command) => {
    expect((await run(command, judged("write"))).code).toBe(0);
    expect((await run(command, judged("read"))).code).not.toBe(0);
  });

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
    const victim = await handle.exec({
      command: "sleep 1000",
      cwd: "/",
      stdin: false,
      confinement: handle.confine(judged("write")).confinement,
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
