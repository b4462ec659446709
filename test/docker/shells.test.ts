/** Named shells: what goes from one command to the next, what does not, and that each is still judged and held by itself. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, answering, codeOf, run } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const once = { answer: "approve", mode: "once" } as const;

describe.skipIf(missing).each(["runner", "once", "plain"] as const)("shells by %s", (executor) => {
  const world = new DockerWorld();
  let session: string;

  beforeAll(async () => {
    world.profile = `extends: dev\napprovalWait: 1s\nexecutor: ${executor}\n`;
    await world.start();
    session = await world.open();
  });

  afterAll(() => world.end());

  /** A person approves what is asked about: traps and the like. */
  const say = (command: string, shell = "main") =>
    run(world, session, { command, shell }, { on: answering(world, once) });

  if (executor === "plain") {
    test("there are none, and no terminal, under plain docker exec: told before anything happens", async () => {
      const before = world.recorded().length;
      const tty = { rows: 24, columns: 80 };
      expect(await codeOf(() => say("ls"))).toBe("not-available");
      expect(await codeOf(() => run(world, session, { command: "ls", tty }))).toBe("not-available");
      expect(world.recorded().length).toBe(before);
    });
    return;
  }

  test("folder and exported variables go on to the next command of the same shell alone", async () => {
    await say("mkdir -p sub/deep && cd sub && export COLOUR='it is\n\"blue\"' EMPTY=");
    const { stdout, last } = await say('pwd; echo "$COLOUR|${EMPTY-unset}"; cd deep');
    expect(stdout).toBe(`${world.worktree()}/sub\nit is\n"blue"|\n`);
    expect(last).toMatchObject({ type: "exit", exitCode: 0, cwd: `${world.worktree()}/sub/deep` });
    expect((await say("pwd; unset COLOUR")).stdout).toBe(`${world.worktree()}/sub/deep\n`);
    expect((await say('echo "${COLOUR-unset}"')).stdout).toBe("unset\n");
    const other = await say('pwd; echo "${COLOUR-unset}"', "other");
    const none = await run(world, session, 'pwd; echo "${COLOUR-unset}"');
    for (const { stdout } of [other, none]) expect(stdout).toBe(`${world.worktree()}\nunset\n`);
  });

  test("what would change a judged command does not: functions, aliases, options, names that are refused", async () => {
    const spoil =
      "cat() { echo hijacked; }; export -f cat; alias ls=hijacked; set -e; shopt -s expand_aliases; trap 'echo trapped' DEBUG";
    expect((await say(spoil)).last).toMatchObject({ type: "exit" });
    const { stdout } = await say("cat file.txt; false; echo on", "main2");
    expect(stdout).toBe("text\non\n");
    const back = await run(world, session, {
      command: "cat file.txt; false; echo on",
      shell: "main",
      cwd: ".",
    });
    expect(back.stdout).toBe("text\non\n");
  });

  test("the exit code and an EXIT trap of the command's own are its own; then nothing new is remembered", async () => {
    await say("export KEPT=one", "trap");
    const { last, stdout } = await say("export KEPT=two; trap 'echo bye' EXIT; exit 7", "trap");
    expect([stdout, last]).toEqual(["bye\n", expect.objectContaining({ exitCode: 7 })]);
    expect((await say('echo "$KEPT"', "trap")).stdout).toBe("one\n");
    const failing = await say("set -eu; export KEPT=three; false", "trap");
    expect(failing.last).toMatchObject({ exitCode: 1 });
    expect((await say('echo "$KEPT"', "trap")).stdout).toBe("three\n");
  });

  test("each command is judged with what it would run with", async () => {
    await say("export WHAT='rm -rf sub'", "judged");
    const { events, last } = await run(world, session, {
      command: "$WHAT",
      shell: "judged",
    });
    expect(events[0]).toMatchObject({ type: "decision", verdict: { verdict: "ask" } });
    expect(last).toMatchObject({ type: "refused" });
  });

  test("unterminated input, heredocs and a huge line end as they do anywhere", async () => {
    expect((await say("cat <<'EOF'\nin it\nEOF", "odd")).stdout).toBe("in it\n");
    for (const open of ["cat <<EOF\nno end", "echo 'open", "if true; then echo x"]) {
      const { last } = await say(open, "odd");
      expect(["refused", "exit"]).toContain(last?.type);
    }
    const long = `echo ${"x".repeat(100_000)}`;
    expect((await say(long, "odd")).stdout).toHaveLength(100_001);
    expect((await say("pwd", "odd")).stdout).toBe(`${world.worktree()}\n`);
  });

  test("one command at a time in a shell; others are not held up", async () => {
    const leave = new AbortController();
    const slow = run(
      world,
      session,
      { command: "sleep 30", shell: "busy" },
      {
        signal: leave.signal,
        on: async (event) => {
          if (event.type !== "started") return;
          expect(await codeOf(() => say("ls", "busy"))).toBe("busy");
          expect((await say("echo free", "free")).stdout).toBe("free\n");
          leave.abort();
        },
      },
    );
    await slow;
    expect((await say("echo again", "busy")).stdout).toBe("again\n");
    expect(
      world.supervisor.jobs.list(agent(), session).every(({ state }) => state === "ended"),
    ).toBe(true);
  });
});
