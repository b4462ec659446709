/** What a client meets when its daemon was killed and is back: its session, its question, and an answer that still counts. */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentClient, agentClient, type ClientRunEvent } from "../../daemon/api/client.ts";
import { agentSocketPath } from "../../daemon/api/socket.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("a daemon that was killed and is back", () => {
  const daemon = new Recintod();
  let project: TestProject;
  let agent: AgentClient;

  beforeAll(async () => {
    // The test itself is the agent, and root is also who answers.
    appendFileSync(daemon.configFile, "agentsShareApproverUid: true\n");
    await daemon.start();
    project = await daemon.addProject("shop", 12_345, "dev");
    const socketPath = agentSocketPath(daemon.runDir, "shop");
    agent = agentClient({ socketPath, waitForStart: true });
  });
  afterAll(async () => {
    agent?.close();
    await daemon.close();
  });

  async function run(session: string, command: string, waitMs: number) {
    const events: ClientRunEvent[] = [];
    for await (const event of agent.run(session, { command, waitMs })) events.push(event);
    return events;
  }

  test("holds the question for its client, who waits for the answer and then runs it once", async () => {
    const { session } = await agent.openSession(project.worktree);
    const command = "mkdir made; rm -rf gone";
    const asked = await run(session.id, command, 50);
    expect(asked.at(-1)).toMatchObject({ type: "refused", by: "not-waiting" });
    const [question] = await daemon.admin.approvals({ state: "pending" });
    const id = question?.id ?? "";
    await daemon.stop("SIGKILL");
    await daemon.start();

    expect((await agent.openSession(project.worktree)).session.id).toBe(session.id);
    expect(await agent.approval(session.id, id, 10)).toEqual(question);
    const over = agent.approval(session.id, id, 60_000);
    await daemon.admin.answer(id, { answer: "approve", mode: "once" });
    expect(await over).toMatchObject({ id, state: "approved" });
    expect(existsSync(join(project.worktree, "made"))).toBe(false);

    await daemon.stop("SIGKILL");
    await daemon.start();
    const events = await run(session.id, command, 0);
    expect(events.map(({ type }) => type)).toEqual(["decision", "approved", "started", "exit"]);
    expect(existsSync(join(project.worktree, "made"))).toBe(true);
    const again = await run(session.id, command, 0);
    expect(again.at(-1)).toMatchObject({ type: "refused", by: "not-waiting" });
    const { ok } = await daemon.admin.verifyJournal();
    expect(ok).toBe(true);
  });

  test("is waited for by recinto run, which takes its question up and runs the command", async () => {
    const other = await daemon.addProject("other", 12_347, "dev");
    const running = daemon.run(other, "mkdir waited; rm -rf gone");
    const open = () => daemon.admin.approvals({ state: "pending" }).catch(() => []);
    const asked = async () => (await open()).find(({ command }) => command.includes("waited"));
    await expect.poll(asked, { timeout: 60_000 }).toBeDefined();
    await daemon.stop("SIGKILL");
    await daemon.start();
    const question = await asked();
    await daemon.admin.answer(question?.id ?? "", { answer: "approve", mode: "once" });
    const { code, err } = await running;
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(existsSync(join(other.worktree, "waited"))).toBe(true);
    const starts = await daemon.admin.events({ event: "exec.started", limit: 1_000 });
    expect(starts.filter(({ data }) => data.approval === question?.id)).toHaveLength(1);
  });

  test("has recorded as lost what ran, and tells its client that the connection is gone", async () => {
    const { session } = await agent.openSession(project.worktree);
    const running = agent.run(session.id, { command: "sleep 600" });
    let exec = "";
    const heard = (async () => {
      for await (const event of running) if (event.type === "started") exec = event.exec;
    })();
    await expect.poll(() => exec, { timeout: 60_000 }).not.toBe("");
    const [failed] = await Promise.allSettled([heard, daemon.stop("SIGKILL")]);
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "daemon-unreachable" } });
    await daemon.start();
    const lost = await daemon.admin.events({ event: "exec.lost" });
    expect(lost.map(({ data }) => data)).toContainEqual(expect.objectContaining({ exec }));
  });
});
