/** A command from proposal to exit: what is recorded before what, what stops it, and that it ends with one outcome. */
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { EXEC_BUFFER_BYTES_MAX, RUNS_PER_SESSION_MAX } from "../../daemon/limits.ts";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { agent, codeOf, run, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start();
});

afterEach(() => world.end());

const types = (events: readonly RunEvent[]) => events.map(({ type }) => type);

describe("allowed", () => {
  test("A7: it is on record with the root that authorised it before anything happens", async () => {
    world.programs.set("ls", ({ out }) => {
      out("file.txt\n");
      return 0;
    });
    const session = await world.open();
    const { events, stdout, last } = await run(world, session, "ls");
    expect(types(events)).toEqual(["decision", "started", "stdout", "exit"]);
    expect(stdout).toBe("file.txt\n");
    expect(last).toMatchObject({
      type: "exit",
      exitCode: 0,
      timedOut: false,
      cancelled: false,
      stdoutBytes: 9,
    });
    const recorded = world.recorded("proposed_action.created", "exec.started", "exec.exited");
    expect(recorded.map(([event]) => event)).toEqual([
      "proposed_action.created",
      "exec.started",
      "exec.exited",
    ]);
    expect(recorded[0]?.[1]).toMatchObject({
      command: "ls",
      cwd: world.worktree(),
      verdict: "allow",
      effects: ["read"],
      roots: [world.worktree()],
    });
    expect(recorded[2]?.[1]).toMatchObject({ exitCode: 0, stdoutBytes: 9, cancelled: false });
  });

  test("what was judged is what runs, to the letter, in the folder that was judged", async () => {
    const session = await world.open();
    const command = "cat 'file.txt' |  head -n1 # why not";
    await run(world, session, { command, cwd: "." });
    expect(world.ran).toMatchObject([{ command, cwd: world.worktree(), stdin: false }]);
  });

  test("variables are judged as the export line they are run as", async () => {
    const session = await world.open();
    const { events } = await run(world, session, {
      command: "ls",
      env: { NO_COLOR: "1", LC_ALL: "it's" },
      waitMs: 0,
    });
    expect(events[0]).toMatchObject({
      verdict: { segments: [{ argv: ["export", "NO_COLOR=1", "LC_ALL=it's"] }, { argv: ["ls"] }] },
    });
    for (const name of ["LD_PRELOAD", "BASH_ENV", "PATH", "a b", "GIT_DIR"]) {
      const env = { [name]: "x" };
      expect(await codeOf(() => run(world, session, { command: "ls", env }))).toBe("bad-request");
    }
    expect(
      world.ran.every(({ command }) =>
        command.startsWith("export NO_COLOR='1' LC_ALL='it'\\''s'\n"),
      ),
    ).toBe(true);
  });

  test("a path in scope that is not mounted is allowed and said to be not there", async () => {
    const session = await world.open();
    const other = world.worktree("two");
    const { events } = await run(world, session, `cat ${other}/file.txt`);
    expect(types(events)).toEqual(["decision", "note", "started", "exit"]);
    expect(events[1]).toEqual({
      type: "note",
      code: "not_mounted",
      paths: [`${other}/file.txt`],
      reason: expect.stringContaining(world.worktree()),
    });
  });

  test("standard input reaches it, given at once or as a stream", async () => {
    world.programs.set("cat", async ({ stdin, out }) => {
      for await (const chunk of stdin ?? []) out(String(chunk));
      return 0;
    });
    const session = await world.open();
    const stdin = Buffer.from("one\0two");
    expect((await run(world, session, { command: "cat", stdin })).stdout).toBe("one\0two");
    const stream = (async function* () {
      yield Buffer.from("a");
      yield Buffer.from("b");
    })();
    expect((await run(world, session, { command: "cat", stdin: stream })).stdout).toBe("ab");
  });
});

describe("stopped before it runs", () => {
  test("nothing runs that cannot be recorded", async () => {
    world.wrapJournal = (journal) => ({
      ...forwarded(journal),
      append: () => {
        throw new RecintoError("journal-failed", "disk full");
      },
      appendAll: (entries) => {
        if (
          entries.some(({ event }) => event.startsWith("daemon") || event.startsWith("session"))
        ) {
          return journal.appendAll(entries);
        }
        throw new RecintoError("journal-failed", "disk full");
      },
    });
    await world.restart();
    expect(await codeOf(() => world.open())).toBe("journal-failed");
    world.wrapJournal = (journal) => ({
      ...forwarded(journal),
      append: (entry) => journal.append(entry),
      appendAll: (entries) => journal.appendAll(entries),
      appendSoon: (entries) => {
        if (entries[0]?.event !== "proposed_action.created") return journal.appendSoon(entries);
        throw new RecintoError("journal-failed", "disk full");
      },
    });
    await world.restart();
    const again = await world.open();
    world.sandboxCalls.length = 0;
    expect(await codeOf(() => run(world, again, "ls"))).toBe("journal-failed");
    expect(world.ran).toEqual([]);
    expect(world.sandboxCalls).toEqual([]);
    expect((await world.supervisor.health()).journal.ok).toBe(false);
  });

  test("what the admin denies is refused with rule and reason, recorded and counted", async () => {
    const session = await world.open();
    const { events } = await run(world, session, "uname -a");
    expect(types(events)).toEqual(["decision", "refused"]);
    expect(events[1]).toMatchObject({
      by: "policy",
      reason: expect.stringContaining("names are private"),
    });
    expect(world.recorded("action.refused").map(([, data]) => data.by)).toEqual(["policy"]);
    expect(world.supervisor.session(agent(), session).denials.total).toBe(1);
    expect(world.ran).toEqual([]);
  });

  test("an engine that is away is told as that, on record, and the next command finds it back", async () => {
    const session = await world.open();
    world.engineAway = true;
    expect(await codeOf(() => run(world, session, "ls"))).toBe("engine-unreachable");
    expect(world.recorded("action.refused").map(([, data]) => data.by)).toEqual(["failure"]);
    world.engineAway = false;
    expect((await run(world, session, "ls")).last).toMatchObject({ type: "exit", exitCode: 0 });
  });

  test.each([
    [{ command: "ls \0" }],
    [{ command: `ls ${"\ud800"}` }],
    [{ command: "x".repeat(200_000) }],
    [{ command: "ls", cwd: "a\0b" }],
  ])("a request that cannot be run as it is judged: %j", async (request) => {
    const session = await world.open();
    expect(await codeOf(() => run(world, session, request))).toBe("bad-request");
    expect(world.recorded("proposed_action.created")).toEqual([]);
  });

  test("one session has a limit of commands at once", async () => {
    world.programs.set("ls", async ({ killed }) => {
      await killed;
      return 143;
    });
    const session = await world.open();
    const leave = new AbortController();
    const started = Array.from({ length: RUNS_PER_SESSION_MAX }, () =>
      run(world, session, "ls", { signal: leave.signal }),
    );
    expect(await codeOf(() => run(world, session, "ls"))).toBe("busy");
    leave.abort();
    await Promise.allSettled(started);
    await run(world, session, "pwd");
  });
});

describe("ended before its time", () => {
  test("over its wall-clock limit it is killed, and says so", async () => {
    world.programs.set("ls", async ({ killed, out }) => {
      out("begun\n");
      await killed;
      return 143;
    });
    const session = await world.open();
    const { last, stdout } = await run(world, session, { command: "ls", timeoutMs: 50 });
    expect(stdout).toBe("begun\n");
    expect(last).toMatchObject({ type: "exit", exitCode: 143, timedOut: true, cancelled: false });
    expect(world.recorded("exec.exited")[0]?.[1]).toMatchObject({ timedOut: true });
  });

  test("a request cannot lift the profile's limits", async () => {
    world.programs.set("ls", ({ out }) => {
      out("x".repeat(70_000));
      return 0;
    });
    const session = await world.open();
    const { stdout } = await run(world, session, {
      command: "ls",
      outputBytesMax: 1e9,
      timeoutMs: 1e9,
    });
    expect(stdout).toHaveLength(65_536);
  });

  test("output over the limit is cut, counted and marked, and the command comes to its own end", async () => {
    world.programs.set("ls", ({ out }) => {
      out("x".repeat(900));
      out("y".repeat(600));
      out("z".repeat(500));
      return 3;
    });
    const session = await world.open();
    const { events, stdout, last } = await run(world, session, {
      command: "ls",
      outputBytesMax: 1_000,
    });
    expect(stdout).toBe("x".repeat(900) + "y".repeat(100));
    expect(events.filter(({ type }) => type === "truncated").at(-1)).toEqual({
      type: "truncated",
      stream: "stdout",
      bytes: 1_000,
    });
    expect(last).toMatchObject({ type: "exit", exitCode: 3, stdoutBytes: 2_000 });
  });

  test("when the client goes away what it started is killed and the end recorded", async () => {
    let signalled = "";
    world.programs.set("ls", async ({ killed, out }) => {
      out("begun\n");
      signalled = await killed;
      return 143;
    });
    const session = await world.open();
    const client = new AbortController();
    const { last } = await run(world, session, "ls", {
      signal: client.signal,
      on: (event) => {
        if (event.type === "stdout") client.abort();
      },
    });
    expect(last).toMatchObject({ type: "exit", exitCode: 143, cancelled: true });
    expect(signalled).toBe("TERM");
    expect(world.recorded("exec.exited")[0]?.[1]).toMatchObject({ cancelled: true, exitCode: 143 });
  });

  test.each(["decision", "started", "stdout"])(
    "a reader that leaves at %s leaves nothing running",
    async (at) => {
      let running = 0;
      world.programs.set("ls", async ({ killed, out }) => {
        running += 1;
        out("begun\n");
        await killed;
        running -= 1;
        return 143;
      });
      const session = await world.open();
      const events = world.supervisor.run(
        agent(),
        session,
        { command: "ls" },
        new AbortController().signal,
      );
      for await (const event of events) if (event.type === at) break;
      expect(running).toBe(0);
      expect(world.recorded("exec.started")).toHaveLength(world.recorded("exec.exited").length);
    },
  );

  test("a reader that does not read holds the command back, and loses nothing", async () => {
    world.profile = world.profile.replace("64KiB", "64MiB");
    await world.start();
    const chunk = Buffer.alloc(64 * 1024, "x");
    let written = 0;
    world.programs.set("ls", async ({ stdout }) => {
      for (let i = 0; i < 128; i++) {
        if (!stdout.write(chunk)) await once(stdout, "drain");
        written += chunk.length;
      }
      return 0;
    });
    const session = await world.open();
    let paused = 0;
    let read = 0;
    await run(world, session, "ls", {
      on: async (event) => {
        if (event.type !== "stdout") return;
        read += event.data.length;
        if (paused > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
        paused = written;
      },
    });
    expect(paused).toBeLessThan(2 * EXEC_BUFFER_BYTES_MAX);
    expect(read).toBe(128 * chunk.length);
  });

  test("a command whose end cannot be seen is lost, not finished", async () => {
    world.programs.set("ls", () => {
      throw new RecintoError("engine-unreachable", "connection lost");
    });
    const session = await world.open();
    expect(await codeOf(() => run(world, session, "ls"))).toBe("engine-unreachable");
    expect(world.recorded("exec.lost", "exec.exited")).toEqual([
      [
        "exec.lost",
        { action: expect.any(String), exec: expect.any(String), reason: "connection lost" },
      ],
    ]);
  });

  test("closing the session ends its commands", async () => {
    world.programs.set("ls", async ({ killed }) => {
      await killed;
      return 143;
    });
    const session = await world.open();
    const { last } = await run(world, session, "ls", {
      on: (event) => {
        if (event.type === "started") void world.supervisor.closeSession(agent(), session);
      },
    });
    expect(last).toMatchObject({ type: "exit", cancelled: true });
    expect(await codeOf(() => run(world, session, "ls"))).toBe("unknown-session");
    await expect
      .poll(() => world.recorded("exec.exited", "session.closed").map(([event]) => event))
      .toEqual(["exec.exited", "session.closed"]);
  });
});

describe("facts", () => {
  test("A2: a link made in the worktree that leads outside makes what goes through it ask", async () => {
    const session = await world.open();
    symlinkSync("/etc", join(world.worktree(), "out"));
    const verdict = await world.supervisor.check(agent(), session, { command: "cat out/passwd" });
    expect(verdict.verdict).toBe("ask");
    expect(world.recorded("proposed_action.created")).toEqual([]);
    await expect
      .poll(() => world.supervisor.hazards.list(agent(), "web")[0]?.hazards[0]?.path)
      .toBe(join(world.worktree(), "out"));
    await expect.poll(() => world.recorded("hazard.found").length).toBe(1);
  });

  test("A1: the folder a command starts in counts as much as its words", async () => {
    const session = await world.open();
    const check = (cwd: string) => world.supervisor.check(agent(), session, { command: "ls", cwd });
    expect((await check(".")).verdict).toBe("allow");
    expect((await check("../../../api")).verdict).toBe("ask");
    expect((await check("/")).verdict).toBe("ask");
  });
});

function forwarded(journal: NonNullable<World["journal"]>) {
  return {
    appendSoon: journal.appendSoon.bind(journal),
    synced: journal.synced.bind(journal),
    read: journal.read.bind(journal),
    standing: journal.standing.bind(journal),
    pruneBefore: journal.pruneBefore.bind(journal),
    verify: journal.verify.bind(journal),
    verifyInSteps: journal.verifyInSteps.bind(journal),
    subscribe: journal.subscribe.bind(journal),
    count: journal.count.bind(journal),
    close: journal.close.bind(journal),
  };
}
