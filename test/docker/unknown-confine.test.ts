/** `unknown: confine`, end to end: a program nobody knows runs without a question, reads, and can do nothing else (A3). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ExecutorKind } from "../../daemon/sandbox/executor.ts";
import { answering, run } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

/** No catalogue has prlimit, which runs what it is given. */
const WRITE = "prlimit touch made";
const READ = "prlimit cat file.txt";
const CONNECT = `prlimit python3 -c 'import socket; socket.socket()'`;

describe.skipIf(missing)("unknown programs", () => {
  const worlds: DockerWorld[] = [];
  afterAll(async () => {
    for (const world of worlds) await world.end();
  });

  async function open(executor: ExecutorKind, unknown: string) {
    const world = new DockerWorld();
    worlds.push(world);
    world.profile = `extends: dev\napprovalWait: 2s\nexecutor: ${executor}\n${unknown}`;
    await world.start();
    const session = await world.open();
    const made = join(world.worktree(), "made");
    return { world, made, run: (command: string, more = {}) => run(world, session, command, more) };
  }

  test.each(["runner", "once"] as const)("confine, by %s", async (executor) => {
    const { world, made, run } = await open(executor, "policy: {unknown: confine}\n");
    const read = await run(READ);
    expect([read.stdout, read.last]).toEqual(["text\n", expect.objectContaining({ exitCode: 0 })]);
    expect(read.events.map(({ type }) => type)).not.toContain("pending");
    expect(read.events.find(({ type }) => type === "started")).toMatchObject({
      confinement: "landlock-7+seccomp: read",
    });

    const written = await run(WRITE);
    expect(written.last).toMatchObject({ type: "exit", exitCode: 1 });
    expect(written.events).toContainEqual({
      type: "note",
      code: "confined",
      paths: [],
      reason: `it was judged to read only, and the kernel held it to that; ask for write to ${world.worktree()} if it has to change something`,
    });
    expect(existsSync(made)).toBe(false);
    expect((await run(CONNECT)).last).toMatchObject({ type: "exit", exitCode: 1 });
    // A writing command beside it takes nothing from that: its processes cannot be told from the rest.
    await run(`touch beside; ${WRITE}`);
    expect(existsSync(made)).toBe(false);

    // A write that the catalogue knows is another thing.
    expect((await run("touch made")).last).toMatchObject({ exitCode: 0 });
    expect(existsSync(made)).toBe(true);
  });

  test("ask is the default, and what was approved may write", async () => {
    const { world, made, run } = await open("runner", "");
    const asked = await run(WRITE);
    expect(asked.events.map(({ type }) => type)).toContain("pending");
    expect(asked.last).toMatchObject({ type: "refused" });
    expect(existsSync(made)).toBe(false);
    const on = answering(world, { answer: "approve", mode: "once" });
    expect((await run(WRITE, { on })).last).toMatchObject({ type: "exit", exitCode: 0 });
    expect(existsSync(made)).toBe(true);
  });

  test("where the kernel holds nothing, confine asks", async () => {
    const { run } = await open("plain", "policy: {unknown: confine}\n");
    const asked = await run(READ);
    expect(asked.events.map(({ type }) => type)).toContain("pending");
    expect(asked.last).toMatchObject({ type: "refused" });
  });
});
