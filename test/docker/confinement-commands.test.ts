/** What no verdict gives a command: the others of its sandbox, foreign system calls, the git folder without git-write. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Confined, type Decided, judged } from "./confined.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

/** Machine code of this machine's processor, run by itself. */
const machine = (code: string) => `python3 -c "
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex('${code}'))
f = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
print(f())"`;
const SIGSYS = 128 + 31;
const SIGSEGV = 128 + 11;

/** Each way that one command could reach another by; the names of those that did are printed. */
const ATTACKS = `
import ctypes, os, resource, signal, socket, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    result = libc.syscall(*args)
    if result < 0: raise OSError(ctypes.get_errno(), "")
    return result
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0recinto-victim")
def traced():
    call(101, 16, pid, 0, 0)
    os.waitpid(pid, 0x40000000)
    call(101, 17, pid, 0, 0)
def limit():
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
def owned():
    # SIGIO to the owner of a descriptor that becomes ready.
    near, far = socket.socketpair()
    import fcntl
    fcntl.fcntl(near, fcntl.F_SETOWN, pid)
    fcntl.fcntl(near, 10, signal.SIGURG)
    fcntl.fcntl(near, fcntl.F_SETFL, os.O_ASYNC)
    far.send(b"x")
def memory():
    with open(f"/proc/{pid}/maps") as maps:
        at = int(maps.readline().split("-")[0], 16)
    os.pread(os.open(f"/proc/{pid}/mem", os.O_RDONLY), 16, at)
ways = {
    "kill": lambda: os.kill(pid, signal.SIGURG),
    "tgkill": lambda: call(234, pid, pid, signal.SIGURG),
    "pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGURG),
    "queue": lambda: call(129, pid, signal.SIGURG, (ctypes.c_int * 32)(signal.SIGURG, 0, -1)),
    "ptrace": traced,
    "mem": memory,
    "environ": lambda: open(f"/proc/{pid}/environ").read(1),
    "descriptors": lambda: os.readlink(f"/proc/{pid}/fd/1"),
    "cwd": lambda: os.readlink(f"/proc/{pid}/cwd"),
    "program": lambda: os.readlink(f"/proc/{pid}/exe"),
    "syscall": lambda: open(f"/proc/{pid}/auxv", "rb").read(1),
    "limits": limit,
    "score": lambda: open(f"/proc/{pid}/oom_score_adj", "w").write("1000"),
    "abstract socket": abstract,
}
won = []
for name, way in ways.items():
    try:
        way()
        won.append(name)
    except OSError as error:
        if "-v" in sys.argv: print(name, error, file=sys.stderr)
print(", ".join(won))`;

const VICTIM = `
import os, signal, socket
try:
    s = socket.socket(socket.AF_UNIX); s.bind("\\0recinto-victim"); s.listen(16)
except OSError:
    pass
print(os.getpid(), flush=True)
signal.pause()`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

describe.skipIf(missing).each(["runner", "once"] as const)("commands apart, by %s", (executor) => {
  let confined: Confined;
  beforeAll(async () => {
    confined = await Confined.make(executor, { git: true });
    confined.refresh();
  });
  afterAll(() => confined?.close());

  /** Starts the victim, attacks it, ends it; the names of the ways that reached it. */
  async function reached(victim: Decided | null, attacker: Decided | null): Promise<string> {
    const started = await confined.start(`exec python3 -c ${quoted(VICTIM)}`, victim);
    started.stderr.resume();
    const pid = await new Promise<string>((resolve) =>
      started.stdout.once("data", (chunk) => resolve(String(chunk).trim())),
    );
    started.stdout.resume();
    const { stdout, stderr, code } = await confined.run(
      `python3 -c ${quoted(ATTACKS)} ${pid}`,
      attacker,
    );
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    await started.kill("KILL");
    expect((await started.exited).exitCode).toBe(137);
    return stdout.trim();
  }

  const ALL =
    "kill, tgkill, pidfd, queue, ptrace, mem, environ, descriptors, cwd, program, syscall, limits, score, abstract socket";

  test("without confinement one reaches the other in every way", async () => {
    expect(await reached(null, null)).toBe(ALL);
  });

  test.each([
    ["write", "write"],
    ["read", "write"],
    ["write", "git-write"],
    ["run", "build"],
  ] as const)(
    "a command judged as %s is out of reach of one judged as %s",
    async (victim, attacker) => {
      expect(await reached(judged(victim), judged(attacker))).toBe("");
    },
  );

  test("a read has not even the means", async () => {
    expect(await reached(judged("write"), judged("read"))).toBe("");
  });

  test("within one command its processes are each other's, as anywhere", async () => {
    const own = `sleep 1000 & kill -TERM $!; wait $!; echo $?; ${`python3 -c "
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"`}`;
    expect((await confined.run(own, judged("read"))).stdout).toBe("143\n64\n");
  });

  test.skipIf(process.arch !== "x64")("foreign system calls end a command", async () => {
    // mov $20,%eax; int $0x80; ret: getpid of the 32-bit ABI. A kernel without that ABI ends it another way.
    const int80 = machine("b814000000cd80c3");
    // mov $0x40000027,%eax; syscall; ret: getpid of the x32 ABI.
    const x32 = machine("b8270000400f05c3");
    const free = [await confined.run(int80, null), await confined.run(x32, null)];
    expect([[0, SIGSEGV], [0]]).toEqual([
      expect.arrayContaining([free[0]?.code]),
      expect.arrayContaining([free[1]?.code]),
    ]);
    for (const decided of [judged("read"), judged("write"), judged("git-write")]) {
      expect((await confined.run(x32, decided)).code).toBe(SIGSYS);
      expect((await confined.run(int80, decided)).code).toBe(
        free[0]?.code === 0 ? SIGSYS : SIGSEGV,
      );
    }
  });

  test("the git folder is there for git-write alone", async () => {
    const commit = "git commit -q --allow-empty -m x && git log --oneline | wc -l";
    const written = await confined.run("git add file", judged("write"));
    expect([written.code, written.stderr]).toEqual([128, expect.stringContaining("index.lock")]);
    expect((await confined.run(commit, judged("write"))).code).not.toBe(0);
    expect((await confined.run(commit, judged("read"))).code).not.toBe(0);
    expect(await confined.run(commit, judged("git-write"))).toMatchObject({
      stdout: "2\n",
      code: 0,
    });
    expect((await confined.run("git log --oneline | wc -l", judged("read"))).stdout).toBe("2\n");
  });
});
