/** The runner itself, without a container: frames, streams, signals, trees and confinement, as root on this machine. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Confinement,
  FROM_RUNNER,
  frame,
  type RunnerCommand,
  u32,
} from "../../daemon/sandbox/runner/frames.ts";
import type { RunnerServer } from "../../daemon/sandbox/runner/runner-server.ts";
import { command, NOBODY, StartedRunner } from "./started-runner.ts";

const isRoot = process.getuid?.() === 0;

async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe.skipIf(!isRoot)("the runner", () => {
  let started: StartedRunner;
  let server: RunnerServer;

  async function run(argv: string[], more: Partial<RunnerCommand> = {}) {
    const child = await server.run(command(argv, more));
    const [stdout, stderr, exit] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exited,
    ]);
    await child.gone;
    return { stdout, stderr, ...exit };
  }
  const bash = (script: string, more: Partial<RunnerCommand> = {}) =>
    run(["bash", "--norc", "--noprofile", "-c", script], more);

  beforeAll(async () => {
    started = await StartedRunner.start();
    ({ server } = started);
  });
  afterAll(() => started?.end());

  it("runs a command as its user, with its words, folder and environment and nothing else", async () => {
    expect(
      await bash('id -u; id -G; pwd; echo "$A|$#"; env | sort | head -3', {
        env: { PATH: "/usr/bin:/bin", A: "1 2" },
        cwd: "/tmp",
      }),
    ).toEqual({
      stdout: "65534\n65534\n/tmp\n1 2|0\nA=1 2\nPATH=/usr/bin:/bin\nPWD=/tmp\n",
      stderr: "",
      exitCode: 0,
      left: 0,
      oomKilled: false,
      folder: { path: "/tmp", itself: true },
    });
  });

  it("keeps stdout and stderr apart and reports exit codes and signals as a shell does", async () => {
    expect(await bash("echo out; echo err >&2; exit 7")).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 7,
      left: 0,
      oomKilled: false,
      folder: { path: "/", itself: true },
    });
    expect((await bash("kill -SEGV $$")).exitCode).toBe(139);
  });

  it("says which step failed when the program or folder does not exist", async () => {
    const missing = await server.run(command(["no-such-program"]));
    await expect(missing.started).rejects.toMatchObject({
      code: "exec-failed",
      details: { step: "exec", errno: 2 },
    });
    const folderless = await server.run(command(["true"], { cwd: "/no/such" }));
    await expect(folderless.exited).rejects.toMatchObject({
      code: "exec-failed",
      details: { step: "cwd", errno: 2 },
      message: "the command could not be started: cwd: ENOENT",
    });
  });

  it("refuses to run anything as root", async () => {
    const child = await server.run(command(["id"], { user: { uid: 0, gid: 0 } }));
    await expect(child.exited).rejects.toMatchObject({ code: "exec-failed" });
  });

  it("leaves the command no capability, no way to new privileges and no descriptor of ours", async () => {
    const result = await bash(
      "grep -E '^(CapPrm|CapEff|NoNewPrivs)' /proc/self/status; ls /proc/self/fd | tr '\\n' ' '",
    );
    expect(result.stdout).toMatch(/CapPrm:\s0+\nCapEff:\s0+\nNoNewPrivs:\s1\n0 1 2 3 $/);
  });

  it("passes 48 MiB through stdin and stdout exactly", async () => {
    const bytes = randomBytes(48 * 1024 * 1024);
    const child = await server.run(command(["cat"], { stdin: true }));
    child.stdin?.end(bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    expect(await child.exited).toMatchObject({ exitCode: 0, left: 0, oomKilled: false });
  });

  it("does not hang on a command that never reads its input", async () => {
    const child = await server.run(command(["sh", "-c", "exec <&-; echo done"], { stdin: true }));
    child.stdin?.on("error", () => {});
    child.stdin?.end(Buffer.alloc(4 * 1024 * 1024));
    expect(await text(child.stdout)).toBe("done\n");
    expect((await child.exited).exitCode).toBe(0);
  });

  it("holds back one command whose reader is slow while another runs", async () => {
    const slow = await server.run(command(["sh", "-c", "yes & sleep 0.3; kill %1"], {}));
    expect((await bash("echo quick")).stdout).toBe("quick\n");
    slow.signal("KILL", true);
    slow.stdout.resume();
    slow.stderr.resume();
    await slow.gone;
  });

  it.each([
    ["a plain child", "sleep 1000 & wait"],
    ["setsid", "setsid sleep 1000 & sleep 1000"],
    ["a double fork", "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; sleep 1000"],
    ["nohup with closed streams", "nohup sleep 1000 >/dev/null 2>&1 & sleep 1000"],
    ["one that ignores TERM", "trap '' TERM; sleep 1000 & sleep 1000"],
    ["one that forks all the time", "while :; do sleep 1000 & done & sleep 0.2; sleep 1000"],
  ])("kills everything that was started: %s", async (_name, script) => {
    const marker = `RECINTO_TEST=${randomBytes(8).toString("hex")}`;
    const child = await server.run(
      command(["bash", "-c", `ulimit -u 300; ${script}`], {
        env: { PATH: "/usr/bin:/bin", RECINTO_TEST: marker.slice(13) },
      }),
    );
    child.stdout.resume();
    child.stderr.resume();
    await child.started;
    await new Promise((resolve) => setTimeout(resolve, 400));
    child.signal("KILL", true);
    await child.gone;
    const left = execFileSync("sh", [
      "-c",
      `grep -lsz '${marker}' /proc/[0-9]*/environ || true`,
    ]).toString();
    expect(left).toBe("");
    expect((await child.exited).exitCode).toBe(137);
  });

  it("ends the command at once and reports what it left running, which can be killed later", async () => {
    const child = await server.run(
      command(["bash", "-c", "sleep 1000 >/dev/null 2>&1 & echo started"]),
    );
    expect(
      await new Promise((resolve) => child.stdout.once("data", (data) => resolve(String(data)))),
    ).toBe("started\n");
    expect(await child.exited).toMatchObject({ exitCode: 0, left: 1, oomKilled: false });
    child.signal("KILL", true);
    child.stdout.resume();
    child.stderr.resume();
    await child.gone;
  });

  it("kills a command when its connection goes away", async () => {
    const marker = randomBytes(8).toString("hex");
    const child = await server.run(
      command(["sleep", "1000"], { env: { PATH: "/usr/bin:/bin", MARK: marker } }),
    );
    const { pid } = await child.started;
    child.abandon();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  it("gives a real terminal that resizes", async () => {
    const child = await server.run(
      command(
        ["bash", "-c", "test -t 0 && test -t 1 && stty size; read line; stty size; echo got $line"],
        {
          stdin: true,
          tty: { rows: 24, columns: 80 },
          env: { PATH: "/usr/bin:/bin", TERM: "xterm" },
        },
      ),
    );
    await child.started;
    const output = text(child.stdout);
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.resize(50, 132);
    child.stdin?.write("hello\n");
    expect((await output).replace(/\r/g, "")).toBe("24 80\nhello\n50 132\ngot hello\n");
    expect(await child.exited).toMatchObject({ exitCode: 0, left: 0, oomKilled: false });
  });

  describe("confinement", () => {
    let work: string;
    const confined = (confinement: Confinement | null) => ({ confinement, cwd: work });
    const NARROW = { readOnly: true, tcp: false };
    const WIDE = { readOnly: false, tcp: true };

    beforeAll(() => {
      work = join(started.folder, "work");
      mkdirSync(join(work, "src"), { recursive: true });
      writeFileSync(join(work, "file"), "text");
      for (const path of [work, join(work, "src"), join(work, "file")])
        chownSync(path, NOBODY.uid, NOBODY.gid);
    });

    it.each([
      ["a new file", "echo x > new", 1],
      ["a truncated file", ": > file", 1],
      ["a new folder", "mkdir made", 1],
      ["a removed file", "rm -f file", 1],
      ["a renamed file", "mv file other", 1],
      ["a link", "ln -s file link", 1],
      ["a mode", "chmod 600 file", 1],
      ["a time", "touch -d 2000-01-01 file", 1],
      ["a socket", "python3 -c 'import socket; socket.socket()'", 1],
    ])("a read verdict refuses what works without it: %s", async (_name, script, refused) => {
      const reset = () =>
        execFileSync("sh", [
          "-c",
          `cd ${work} && rm -rf new made link other && printf text > file && chown 65534:65534 file`,
        ]);
      reset();
      expect((await bash(script, confined(null))).exitCode).toBe(0);
      reset();
      expect((await bash(script, confined({ writable: [], ...NARROW }))).exitCode).toBe(refused);
      expect(readFileSync(join(work, "file"), "utf8")).toBe("text");
    });

    /** Calls that a container's own filter may not know yet; without a confinement they must work for a row to count. */
    it.each([
      ["a mode by fchmodat2", "call(452, -100, b'file', 0o600, 0)"],
      [
        "an attribute by setxattrat",
        "call(463, -100, b'file', 0, b'user.z', struct.pack('QII', addr(b'1'), 1, 0), 16)",
      ],
      [
        "flags by file_setattr",
        "call(469, -100, b'file', struct.pack('QIIII', 0x80, 0, 0, 0, 0), 24, 0)",
      ],
      [
        "a mode by fchmodat2 of what is open",
        "call(452, os.open('file', os.O_PATH), b'', 0o600, 0x1000)",
      ],
    ])("a read verdict refuses what works without it: %s", async (_name, text) => {
      const probe = `
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
kept = []
def addr(data):
    kept.append(ctypes.create_string_buffer(data))
    return ctypes.addressof(kept[-1])
def call(*args):
    whole = [ctypes.c_long(value) if isinstance(value, int) else value for value in args]
    if libc.syscall(*whole) < 0: print(ctypes.get_errno())
    else: print("done")
${text}`;
      const tried = async (confinement: Confinement | null) =>
        (await run(["python3", "-c", probe], confined(confinement))).stdout.trim();
      const free = await tried(null);
      // 38: this kernel has no such call, and so nothing to refuse.
      expect(free).toMatch(/^(done|38)$/);
      expect(await tried({ writable: [work], ...WIDE })).toBe(free);
      expect(await tried({ writable: [], ...NARROW })).toBe("1");
    });

    it("a read verdict still reads, uses pipes and writes to the null device", async () => {
      const result = await bash(
        "cat file | wc -c; ls > /dev/null && echo ok",
        confined({ writable: [], ...NARROW }),
      );
      expect(result).toMatchObject({ stdout: "4\nok\n", exitCode: 0 });
    });

    it("a grant on one folder admits that folder alone", async () => {
      const only = { writable: [join(work, "src")], ...WIDE };
      expect(
        (await bash("echo x > src/a && mkdir src/b && mv src/a src/b/", confined(only))).exitCode,
      ).toBe(0);
      expect((await bash("echo x > beside", confined(only))).exitCode).toBe(1);
      expect((await bash("mv src/b/a beside", confined(only))).exitCode).toBe(1);
    });

    it("io_uring does not exist for any confined command", async () => {
      const probe =
        "import ctypes; l=ctypes.CDLL(None, use_errno=True); b=ctypes.create_string_buffer(512); print(l.syscall(425, 4, b), ctypes.get_errno())";
      const result = await run(["python3", "-c", probe], confined({ writable: [work], ...WIDE }));
      expect(result.stdout).toBe("-1 38\n");
    });

    it("one command cannot take descriptors or memory of another", async () => {
      const steal = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
own = ctypes.create_string_buffer(64)
class part(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
near = part(ctypes.addressof(own), 64)
try:
    far = part(int(open(f"/proc/{pid}/maps").readline().split("-")[0], 16), 64)
except OSError:
    far = near
print(libc.syscall(438, os.pidfd_open(pid), 1, 0) >= 0, libc.syscall(310, pid, ctypes.byref(near), 1, ctypes.byref(far), 1, ctypes.c_long(0)) == 64)`;
      const outcome = async (victims: Confinement | null, own: Confinement | null) => {
        const victim = await server.run(command(["sleep", "1000"], confined(victims)));
        const { pid } = await victim.started;
        const { stdout } = await run(["python3", "-c", steal, String(pid)], confined(own));
        victim.signal("KILL", true);
        victim.stdout.resume();
        victim.stderr.resume();
        await victim.gone;
        return stdout;
      };
      const wide = { writable: [work], ...WIDE };
      expect(await outcome(null, null)).toBe("True True\n");
      expect(await outcome(wide, wide)).toBe("False False\n");
      expect(await outcome(null, wide)).toBe("False False\n");
    });

    it("one command cannot signal or trace another", async () => {
      const victim = await server.run(
        command(["sleep", "1000"], confined({ writable: [], ...WIDE })),
      );
      const { pid } = await victim.started;
      expect((await bash(`kill -0 ${pid}`, { confinement: null })).exitCode).toBe(0);
      expect((await bash(`kill -0 ${pid}`, confined({ writable: [], ...WIDE }))).exitCode).toBe(1);
      expect(
        (await bash(`cat /proc/${pid}/environ`, confined({ writable: [], ...WIDE }))).exitCode,
      ).toBe(1);
      victim.signal("KILL", true);
      victim.stdout.resume();
      victim.stderr.resume();
      await victim.gone;
    });
  });

  it("a connection without the secret gets no command and is closed", async () => {
    const before = server.idle;
    const stranger = connect(started.socket);
    stranger.write(frame(FROM_RUNNER.hello, Buffer.concat([randomBytes(32), u32(1, 7)])));
    await new Promise((resolve) => stranger.on("close", resolve));
    expect(server.idle).toBe(before);
  });
});
