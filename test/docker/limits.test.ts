/** Each limit of a profile is hit for real, however commands are run, and what the command gets to read says which it was. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Profile } from "../../daemon/settings/types.ts";
import { EXECUTORS, outputOf, Rig, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const missing = await whyNot();

describe.skipIf(missing).each(EXECUTORS)("limits under executor: %s", (executor) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.make({ executor });
  });
  afterAll(() => rig?.close());

  async function limited(name: string, change: Partial<Profile["limits"]>) {
    const profile = { ...rig.profile, limits: { ...rig.profile.limits, ...change } };
    const worktree = rig.folder(name);
    const box = await rig.daemon().ensure(rig.project, profile, worktree);
    expect(box.executor.kind).toBe(executor);
    return async (command: string) =>
      outputOf(await box.exec({ command, cwd: worktree, stdin: false }));
  }

  test("files: open ones, their size, and the folders in memory", async () => {
    const run = await limited("files", {
      openFiles: 64,
      fileBytes: MIB,
      tmpBytes: 2 * MIB,
      cacheBytes: 2 * MIB,
      shmBytes: MIB,
    });
    const open = "python3 -c 'x = [open(\"/dev/null\") for _ in range(100)]'";
    expect((await run(open)).stderr).toContain("Too many open files");
    const big = await run("head -c 2M /dev/zero >big");
    // SIGXFSZ; bash names it, and python gets the error instead of the signal.
    expect(big.exit.exitCode).toBe(128 + 25);
    const write = 'python3 -c \'open("big", "wb").write(bytes(2 << 20))\'';
    expect((await run(write)).stderr).toContain("File too large");
    for (const folder of ["/tmp", "~/.cache", "/dev/shm"]) {
      const fill = `for i in 1 2 3; do head -c 900K /dev/zero >${folder}/$i; done`;
      expect((await run(fill)).stderr, folder).toContain("No space left on device");
    }
  });

  test("processes", async () => {
    const run = await limited("pids", { pids: 40 });
    const fork = "for i in $(seq 60); do sleep 1 >/dev/null 2>&1 & done; true";
    expect((await run(fork)).stderr).toContain("Resource temporarily unavailable");
  });

  test("memory: a killed command says so, and so does one whose child was killed", async () => {
    const run = await limited("memory", { memoryBytes: 64 * MIB });
    const take = "python3 -c 'x = bytearray(200 << 20); print(len(x))'";
    expect((await run(take)).exit).toMatchObject({ exitCode: 137, oomKilled: true });
    expect((await run(`${take}; exit 3`)).exit).toMatchObject({ exitCode: 3, oomKilled: true });
    expect((await run("exit 3")).exit).toMatchObject({ exitCode: 3, oomKilled: false });
  });

  test("processors: two busy loops get no more time than half a processor gives", async () => {
    const busy = `python3 -c '
import os, time
child = os.fork()
end = time.monotonic() + 2
while time.monotonic() < end: pass
if child == 0: os._exit(0)
os.wait()
used = os.times()
print(used.user + used.system + used.children_user + used.children_system)'`;
    const slow = await limited("cpu", { cpus: 0.5 });
    const seconds = Number((await slow(busy)).stdout);
    expect(seconds).toBeGreaterThan(0.2);
    // One second is the quota's; the rest is what the last period may overrun.
    expect(seconds).toBeLessThan(1.5);
  });
});
