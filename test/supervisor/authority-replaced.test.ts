/** Setting a contract for a worktree in which something runs already: it binds that too (C1, C6). */
import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuthorityWorld, CONTRACT, never } from "./authority-world.ts";
import { admin, agent, codeOf, run } from "./world.ts";

let world: AuthorityWorld;
beforeEach(async () => {
  world = await AuthorityWorld.make();
});
afterEach(() => world.end());

const killed: string[] = [];
/** A program that goes on until somebody ends it. */
function endless(command: string): void {
  killed.splice(0);
  world.programs.set(command, async (given) => {
    killed.push(`${command} ${await given.killed}`);
    return 137;
  });
}

test("C1: a command that was begun without a contract does not outlive the setting of one; others' commands do", async () => {
  endless("make test");
  endless("make check");
  const other = await world.open(agent(), "two");
  // It has an open input: what is written there later would be judged by nobody.
  const shell = run(world, world.session, { command: "make test", stdin: "open" });
  const elsewhere = run(world, other, "make check");
  await expect.poll(() => world.ran.length).toBe(2);
  await world.set();
  expect(killed).toEqual(["make test KILL"]);
  const { events } = await shell;
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "note",
      code: "grant_closed",
      reason: expect.stringContaining("the contract tidy came into force"),
    }),
  );
  await world.supervisor.closeSession(agent(), other);
  await elsewhere.catch(() => undefined);
});

test("C1: what runs under one contract ends with it, and goes on when it is only cleared", async () => {
  endless("make test");
  await world.set();
  const first = run(world, world.session, "make test");
  await expect.poll(() => world.ran.length).toBe(1);
  await world.set(CONTRACT.replace("task: tidy", "task: next"));
  expect(killed).toEqual(["make test KILL"]);
  await first;
  endless("make test");
  const second = run(world, world.session, "make test");
  await expect.poll(() => world.ran.length).toBe(2);
  const at = { project: "web", worktree: "one" };
  const { authority } = world.supervisor;
  await authority.clearContract(admin(), at);
  expect(killed).toEqual([]);
  await world.supervisor.closeSession(agent(), world.session);
  await second.catch(() => undefined);
});

test("C1: a question that was asked before the contract, and an approval nobody has used, count no more under it", async () => {
  const { supervisor } = world;
  const asks = (command: string) =>
    run(world, world.session, { command, waitMs: 5, stdin: new Uint8Array() });
  expect((await asks("rm -r docs")).last).toMatchObject({ type: "refused", by: "not-waiting" });
  expect((await asks("rm -r src")).last).toMatchObject({ type: "refused", by: "not-waiting" });
  const [answered, open] = supervisor.approvals(admin(), { state: "pending" });
  await supervisor.answer(admin(), answered?.id ?? "", { answer: "approve", mode: "once" });
  await world.set();
  expect(supervisor.approval(admin(), open?.id ?? "")).toMatchObject({
    state: "cancelled",
    reason: "the contract tidy came into force: send it again",
  });
  expect((await asks("rm -r docs")).last).toMatchObject({ type: "refused", by: "not-waiting" });
  expect(world.ran).toEqual([]);
});

test.each<[string, (handle: string) => Promise<unknown>]>([
  ["a contract that is set", () => world.set(CONTRACT.replace("task: tidy", "task: next"))],
  ["a revocation", (handle) => world.supervisor.authority.revoke(admin(), handle, "enough")],
])(
  "C6: %s ends a file that is being sent, and does not wait for a sender who stalls",
  async (_, end) => {
    await world.set();
    const { handle } = await world.request("docs");
    let stalled = false;
    async function* content() {
      yield Buffer.from("begun ");
      stalled = true;
      await new Promise(() => undefined);
    }
    const call = { caller: agent(), session: world.session, signal: never, handle };
    const path = `${world.worktree()}/docs/sent.txt`;
    const writing = codeOf(() => world.supervisor.files.write(call, { path }, content()));
    await expect.poll(() => stalled).toBe(true);
    await end(handle);
    expect(await writing).toBe("refused");
    expect(existsSync(path)).toBe(false);
    expect(world.supervisor.authority.grants(admin())).toEqual([]);
  },
);

test("C6: revoking ends a file that is being read, and does not wait for a reader who stalls", async () => {
  await world.set(READS);
  world.write(`${world.worktree()}/docs/long.bin`, "x".repeat(2_000_000));
  const { handle } = await world.request("look");
  const call = { caller: agent(), session: world.session, signal: never, handle };
  const { files, authority } = world.supervisor;
  const read = await files.read(call, { path: "docs/long.bin" });
  const bytes = read.bytes[Symbol.asyncIterator]();
  expect((await bytes.next()).done).toBe(false);
  const closed = await authority.revoke(admin(), handle, "enough");
  expect(closed.state).toBe("closed");
  await expect(bytes.next()).rejects.toMatchObject({ code: "refused" });
  const [last] = world.recorded("file.done", "file.failed");
  expect(last?.[0]).toBe("file.failed");
});

const READS = `task: look
envelope:
  - {effect: write, paths: ["src/**"]}
grants:
  look: {effect: read, paths: ["docs/**"], ttl: 1h}
`;
