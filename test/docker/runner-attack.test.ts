/** The runner attacked from inside by what it runs: its socket, its secret, its processes, its program. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { outputOf, Rig, whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("the runner, attacked by a command without confinement of its own", () => {
  let rig: Rig;
  let handle: SandboxHandle;
  beforeAll(async () => {
    rig = await Rig.make({ executor: "runner" });
    handle = await rig.daemon().ensure(rig.project, rig.profile, rig.folder("attacked"));
  });
  afterAll(() => rig?.close());
  const run = async (command: string) =>
    outputOf(await handle.exec({ command, cwd: "/", stdin: false }));
  const runners = "$(pgrep -u 0 -f recinto-runner)";

  test("its socket cannot be reached, seen or replaced", async () => {
    const { stdout, stderr } = await run(
      `python3 -c "
import socket
socket.socket(socket.AF_UNIX).connect('/run/recinto/runner/s')" ; ls /run/recinto/runner; mv /run/recinto/runner /tmp/x; rmdir /run/recinto/runner; touch /run/recinto/bin/x`,
    );
    expect(stdout).toBe("");
    expect(stderr).toContain("PermissionError");
    expect(stderr).toContain("cannot open directory '/run/recinto/runner': Permission denied");
    expect(stderr.match(/Device or resource busy|Read-only file system/g)?.length).toBeGreaterThan(
      1,
    );
  });

  test("none of its processes can be signalled, traced, read or robbed of descriptors", async () => {
    const attack = `python3 -c "
import ctypes, os, signal, sys
l = ctypes.CDLL(None, use_errno=True)
won = []
for pid in map(int, sys.argv[1:]):
    def tried(name, what):
        try:
            # What has just ended can be opened and holds nothing.
            if what() != b'': won.append((pid, name))
        except OSError:
            pass
    def call(*args):
        if l.syscall(*args) < 0: raise OSError(ctypes.get_errno())
    tried('kill', lambda: os.kill(pid, signal.SIGSTOP))
    tried('ptrace', lambda: call(101, 16, pid, 0, 0))
    tried('vm_readv', lambda: call(310, pid, ctypes.create_string_buffer(16), 1, ctypes.create_string_buffer(16), 1, 0))
    for name in ['mem', 'environ', 'maps', 'auxv', 'stack', 'syscall']:
        tried(name, lambda: open(f'/proc/{pid}/{name}', 'rb').read(1))
    tried('fd', lambda: os.listdir(f'/proc/{pid}/fd'))
    tried('cwd', lambda: os.readlink(f'/proc/{pid}/cwd'))
    def steal():
        fd = os.pidfd_open(pid)
        call(438, fd, 3, 0)
    tried('pidfd_getfd', steal)
print(len(sys.argv) - 1 >= 6, won)" ${runners}`;
    expect((await run(attack)).stdout).toBe("True []\n");
  });

  test("its program gives an agent nothing: it runs nobody as anybody, and no secret is in it", async () => {
    const once = `python3 -c "
import struct, subprocess
def field(tag, value): return tag + struct.pack('<I', len(value)) + value
spec = b''.join(field(b'a', w + b'\\0') for w in [b'id']) + field(b'd', b'/\\0') + field(b'u', struct.pack('<II', 1, 1))
out = subprocess.run(['/run/recinto/bin/recinto-runner', '--once'], input=struct.pack('<I', len(spec)) + b's' + spec, capture_output=True).stdout
print(out[4:5], out[9:])"`;
    expect((await run(once)).stdout).toBe("b'F' b'user'\n");
  });

  test("commands do not see its descriptors, and go on after it was made to restart", async () => {
    expect((await run("ls /proc/self/fd | tr '\\n' ' '")).stdout).toBe("0 1 2 3 ");
    const survivor = await handle.exec({ command: "sleep 2; echo done", cwd: "/", stdin: false });
    const output = outputOf(survivor);
    const root = await rig.runner(handle.id, handle.spec)(
      "kill -9 $(pgrep -of 'recinto-runner --socket')",
      { root: true },
    );
    expect(root.exit.exitCode).toBe(0);
    expect((await run("echo again")).stdout).toBe("again\n");
    expect((await output).stdout).toBe("done\n");
  });
});
