/** The escape suite: every attack fails under every shipped profile, and works where the protection it meets is off. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { HOST_ATTACKS } from "./escape-host.ts";
import { INSIDE_ATTACKS } from "./escape-inside.ts";
import { KERNEL_ATTACKS } from "./escape-kernel.ts";
import { type Attack, WON, World } from "./escape-world.ts";
import { outputOf, whyNot } from "./rig.ts";

const missing = await whyNot();
const ATTACKS: readonly Attack[] = [...HOST_ATTACKS, ...KERNEL_ATTACKS, ...INSIDE_ATTACKS];

/** As an approved command that may write, commit and use loopback: nothing that a verdict gives is more. */
const WIDEST = {
  segments: [
    { classes: ["run", "write", "scratch", "git-write", "loopback"], rung: "scope", rule: "test" },
  ],
  approved: true,
  grants: [],
} as const;

test("there are 60 attacks at least, each with a name of its own", () => {
  const names = new Set(ATTACKS.map(({ name }) => name));
  expect([names.size, names.size >= 60]).toEqual([ATTACKS.length, true]);
});

describe.skipIf(missing).each(["review", "default", "dev"])("escapes under %s", (profile) => {
  let world: World;
  let handle: SandboxHandle;
  beforeAll(async () => {
    world = await World.make(profile);
    handle = world.handle as SandboxHandle;
    const victim = `WON_SECRET=${WON} exec -a victim-of-others python3 -c "
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind('\\0victim-of-others'); s.listen()
open('/tmp/victim-is-up', 'w')
time.sleep(1000)"`;
    const loose = await world.loose("confinement of commands");
    void loose(victim);
    await start(victim);
    // An attack on who is not there yet would fail by itself.
    const up = "until [ -e /tmp/victim-is-up ]; do sleep 0.1; done; pgrep -fc '[v]ictim-of-others'";
    expect((await loose(up)).stdout).toBe("1\n");
    expect((await outputOf(await start(up))).stdout).toBe("1\n");
  });
  afterAll(() => world?.close());

  const start = (command: string) => {
    const { confinement } = handle.confine(WIDEST);
    return handle.exec({ command, cwd: world.worktree, stdin: false, confinement });
  };

  test("its commands run by the runner, held by the kernel", () => {
    expect([handle.executor.kind, handle.executor.landlock > 0]).toEqual(["runner", true]);
  });

  test.each(ATTACKS)("$name fails", async ({ command }) => {
    const { stdout } = await outputOf(await start(command(world)));
    expect(stdout).not.toContain(WON);
  });

  // What is off is off in every profile alike; one shows that the attacks are real.
  if (profile !== "dev") return;
  test.each(ATTACKS)("$name works without: $off", async ({ command, off }) => {
    const { stdout, stderr } = await (await world.loose(off))(command(world));
    expect(stdout, stderr).toContain(WON);
  });
});
