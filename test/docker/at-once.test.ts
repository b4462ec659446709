/** Many commands at once over many sandboxes: each gets its own output and exit, and nobody gets a second container. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LABELS } from "../../daemon/sandbox/spec.ts";
import { agent, run } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const SANDBOXES = 20;
const COMMANDS = 200;

describe.skipIf(missing)("commands at once", () => {
  const world = new DockerWorld();

  beforeAll(async () => {
    world.profile = `extends: dev
limits: {memory: 256MiB, pids: 128, commandsPerSession: 6, commandsPerProject: 64}
`;
    await world.start();
  });

  afterAll(() => world.end());

  const containers = async () =>
    (await world.containers()).map(({ labels }) => labels[LABELS.worktree]);

  test(`${COMMANDS} commands at once over ${SANDBOXES} sandboxes: each one's output, folder and exit code are its own`, async () => {
    const names = Array.from({ length: SANDBOXES }, (_, i) => `w${i}`);
    for (const name of names) world.write(`${world.worktree(name)}/name.txt`, `${name}\n`);
    const ran = await Promise.all(
      Array.from({ length: COMMANDS }, async (_, i) => {
        const name = names[i % SANDBOXES] as string;
        // Also the sessions are opened at once, ten callers for each.
        const session = await world.open(agent(), name);
        const lines = 500 + i;
        const command = `cat name.txt; seq -f 'command ${i} line %g' ${lines}; echo 'end of ${i}' >&2; cat; exit ${i % 100}`;
        let stderr = "";
        const { events, stdout, last } = await run(
          world,
          session,
          { command, stdin: Buffer.from(`stdin of ${i}\n`) },
          {
            on: (event) => {
              if (event.type === "stderr") stderr += Buffer.from(event.data).toString();
            },
          },
        );
        const queued = events.some((event) => event.type === "note" && event.code === "queued");
        const exitCode = last?.type === "exit" ? last.exitCode : last;
        return { stdout, stderr, exitCode, queued };
      }),
    );
    for (const [i, { stdout, stderr, exitCode }] of ran.entries()) {
      const lines = Array.from({ length: 500 + i }, (_, n) => `command ${i} line ${n + 1}\n`);
      expect({ stdout, stderr, exitCode }, `command ${i}`).toEqual({
        stdout: `w${i % SANDBOXES}\n${lines.join("")}stdin of ${i}\n`,
        stderr: `end of ${i}\n`,
        exitCode: i % 100,
      });
    }

    // Ten each where six may run.
    expect(ran.some(({ queued }) => queued)).toBe(true);
    expect(await containers()).toHaveLength(SANDBOXES);
    expect(await world.supervisor.health()).toMatchObject({ running: 0, queued: 0 });
    expect(world.recorded("exec.exited")).toHaveLength(COMMANDS);
  }, 600_000);

  test("two agents that start in one worktree at the same moment get one session and one container", async () => {
    world.write(`${world.worktree("shared")}/name.txt`, "shared\n");
    const both = await Promise.all(
      [1, 2].map(async (which) => {
        const session = await world.open(agent(), "shared");
        const { stdout } = await run(world, session, `echo ${which}; hostname`);
        return { session, stdout: stdout.split("\n") };
      }),
    );
    const [first, second] = both;
    expect(first?.session).toBe(second?.session);
    expect([first?.stdout[0], second?.stdout[0]]).toEqual(["1", "2"]);
    expect(first?.stdout[1]).toBe(second?.stdout[1]);
    const there = (await containers()).filter((each) => each === world.worktree("shared"));
    expect(there).toHaveLength(1);
  });

  test("two agents that start in two worktrees of one project at the same moment get one container each", async () => {
    const folders = ["left", "right"].map((name) => world.worktree(name));
    for (const folder of folders) world.write(`${folder}/name.txt`, "here\n");
    const outputs = await Promise.all(
      folders.map(
        async (folder) => (await run(world, await world.open(agent(), folder), "pwd")).stdout,
      ),
    );
    expect(outputs).toEqual(folders.map((folder) => `${folder}\n`));
    const there = (await containers()).filter((each) => folders.includes(each ?? ""));
    expect(there.sort()).toEqual(folders);
  });
});
