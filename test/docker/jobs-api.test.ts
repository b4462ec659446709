/** Jobs over the real socket with real containers: a terminal on one connection, attaching, detaching, losing the client. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentClient, agentClient, type ClientRunEvent } from "../../daemon/api/client.ts";
import type { ClientJobEvent } from "../../daemon/api/client-jobs.ts";
import type { TwoWay } from "../../daemon/api/client-two-way.ts";
import { type Listeners, openListeners } from "../../daemon/api/listeners.ts";
import { agentSocketPath } from "../../daemon/api/socket.ts";
import { DockerWorld } from "./docker-world.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const SLOW = { timeout: 30_000 };

/** Collects what comes on a connection. */
class Seen<Event extends { readonly type: string }> {
  readonly events: Event[] = [];
  readonly wire: TwoWay<Event>;
  readonly done: Promise<void>;
  #text = "";

  constructor(wire: TwoWay<Event>) {
    this.wire = wire;
    this.done = this.#read();
  }

  get text(): string {
    return this.#text;
  }

  async #read(): Promise<void> {
    for await (const event of this.wire.events) {
      this.events.push(event);
      if ("data" in event) this.#text += (event.data as Buffer).toString("latin1");
    }
  }
}

describe.skipIf(missing).each(["runner", "once"] as const)("over the socket, by %s", (executor) => {
  const world = new DockerWorld();
  let listeners: Listeners;
  let client: AgentClient;
  let session: string;

  beforeAll(async () => {
    // This test is its own agent, and root.
    world.agentsShareApproverUid = true;
    world.profile = `extends: dev\napprovalWait: 5s\nexecutor: ${executor}\npolicy: {rules: [{pattern: "*", action: allow, justification: "a test asks nobody"}]}\n`;
    const supervisor = await world.start();
    const runDir = join(world.folder, "run");
    let requests = 0;
    listeners = await openListeners({
      runDir,
      adminGid: null,
      agentGid: () => null,
      backend: {
        supervisor,
        profiles: { list: () => [], show: () => world.unused(), check: () => world.unused() },
        version: "0.0.0-test",
        serveMcp: () => world.unused(),
      },
      log: pino({ level: "silent" }),
      requestId: () => `r${++requests}`,
    });
    client = agentClient({ socketPath: agentSocketPath(runDir, "web") });
    session = (await client.openSession("one")).session.id;
  });

  afterAll(async () => {
    client?.close();
    await listeners?.close(0);
    await world.end();
  });

  const jobs = () => client.jobs(session);
  const interact = async (request: Parameters<ReturnType<typeof jobs>["interact"]>[0]) =>
    new Seen<ClientRunEvent>(await jobs().interact(request));
  const attach = async (job: string, since?: number) =>
    new Seen<ClientJobEvent>(await jobs().attach(job, since === undefined ? {} : { since }));
  const running = async (): Promise<string[]> =>
    (await jobs().list()).filter(({ state }) => state !== "ended").map(({ id }) => id);

  test("a terminal on one connection: size, input, resize, ^C, exit", async () => {
    const terminal = await interact({
      command: "stty size; read -r line; stty size; echo got $line; cat",
      tty: { rows: 30, columns: 100 },
    });
    await expect.poll(() => terminal.text, SLOW).toContain("30 100\r\n");
    terminal.wire.resize({ rows: 50, columns: 200 });
    await terminal.wire.write(Buffer.from("hello\n"));
    await expect.poll(() => terminal.text, SLOW).toContain("50 200\r\ngot hello\r\n");
    await terminal.wire.write(Buffer.from("\x03"));
    await terminal.done;
    expect(terminal.events[0]).toMatchObject({ type: "decision" });
    expect(terminal.events.at(-1)).toMatchObject({ type: "exit", exitCode: 130, cancelled: false });
  });

  test("without a terminal: 32 MiB go in and come out as they were, its end included", async () => {
    const pipe = await interact({ command: "cat" });
    const block = randomBytes(2 ** 20);
    let bytes = 0;
    const reading = pipe.done;
    for (let n = 0; n < 32; n++) await pipe.wire.write(block);
    pipe.wire.end();
    await reading;
    for (const event of pipe.events) {
      if (event.type !== "stdout") continue;
      for (let at = 0; at < event.data.length; ) {
        const from = bytes % block.length;
        const part = event.data.subarray(at, at + block.length - from);
        if (!part.equals(block.subarray(from, from + part.length))) throw new Error(`at ${bytes}`);
        at += part.length;
        bytes += part.length;
      }
    }
    expect(bytes).toBe(32 * 2 ** 20);
    expect(pipe.events.at(-1)).toMatchObject({ type: "exit", exitCode: 0 });
  });

  test("who leaves ends the command of that connection; who only was attached does not", async () => {
    const mine = await interact({ command: "echo here; sleep 4901", tty: { rows: 9, columns: 9 } });
    await expect.poll(() => mine.text, SLOW).toContain("here");
    const [job] = (await running()) as [string];
    const other = await attach(job, 0);
    await expect.poll(() => other.text, SLOW).toContain("here");
    other.wire.close();
    await other.done.catch(() => undefined);
    expect(await running()).toEqual([job]);
    mine.wire.close();
    await mine.done.catch(() => undefined);
    await expect.poll(running, SLOW).toEqual([]);
    expect(await jobs().show(job)).toMatchObject({ state: "ended", exit: { cancelled: true } });
  });

  test("two are attached to a detached job: both see all, either may type, both are told its end", async () => {
    const started = await jobs().start({ command: "cat", stdin: "open" });
    if (started.type !== "started") throw new Error("refused");
    const job = started.exec;
    const one = await attach(job);
    const two = await attach(job, 0);
    await one.wire.write(Buffer.from("from one\n"));
    await expect.poll(() => two.text, SLOW).toBe("from one\n");
    await two.wire.write(Buffer.from("from two\n"));
    await expect.poll(() => one.text, SLOW).toBe("from one\nfrom two\n");
    expect(await jobs().show(job)).toMatchObject({ readers: 2, state: "running" });
    two.wire.end();
    await Promise.all([one.done, two.done]);
    for (const { events } of [one, two]) {
      expect(events.slice(-2)).toEqual([
        expect.objectContaining({ type: "exit", exec: job, exitCode: 0 }),
        { type: "end", next: 18, state: "ended" },
      ]);
    }
    // Too late is no fault: its output is still there for who comes then.
    const late = await attach(job, 5);
    await late.wire.write(Buffer.from("nobody hears"));
    await late.done;
    expect(late.text).toBe("one\nfrom two\n");
  });

  test("a signal on the connection", async () => {
    const trap = await interact({
      command: "trap 'echo hup; exit 4' HUP; echo ready; sleep 30 & wait",
    });
    await expect.poll(() => trap.text, SLOW).toBe("ready\n");
    trap.wire.signal("HUP");
    await trap.done;
    expect(trap.text).toBe("ready\nhup\n");
  });

  test("a slow reader of one job holds up neither the job nor the reader of another", async () => {
    const flood = await jobs().start({ command: "yes | head -c 40000000; echo done" });
    if (flood.type !== "started") throw new Error("refused");
    const slow = await jobs().attach(flood.exec, { since: 0 });
    const { value: at } = await slow.events.next();
    const other = await interact({ command: "echo quick" });
    await other.done;
    expect(other.text).toBe("quick\n");
    await expect.poll(async () => (await jobs().show(flood.exec)).state, SLOW).toBe("ended");
    let bytes = 0;
    let lost = at?.type === "at" ? at.lost : Number.NaN;
    for await (const event of slow.events) {
      if ("data" in event) bytes += event.data.length;
      if (event.type === "at") lost += event.lost;
    }
    expect([bytes + lost, lost > 0]).toEqual([40_000_005, true]);
  });

  test("what is wrong is told: no such job, no request, a frame that is none", async () => {
    await expect(jobs().attach("x-none")).rejects.toMatchObject({ code: "unknown-job" });
    await expect(jobs().interact({ command: "" })).rejects.toMatchObject({ code: "bad-request" });
    const odd = { command: "true", stdin: "stream" } as const;
    await expect(jobs().interact(odd)).rejects.toMatchObject({ code: "bad-request" });
    await expect(client.jobs("s-none").interact({ command: "true" })).rejects.toMatchObject({
      code: "unknown-session",
    });
  });
});
