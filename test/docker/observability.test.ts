/** What a monitor and a person at the terminal see of a real daemon. */
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const UID = 12_345;
const PATIENCE_MS = 120_000;

describe.skipIf(missing)("observing a daemon", () => {
  const daemon = new Recintod();
  let project: TestProject;

  beforeAll(async () => {
    await daemon.start();
    project = await daemon.addProject("shop", UID);
  }, PATIENCE_MS);
  afterAll(() => daemon.close(), PATIENCE_MS);

  function get(path: string): Promise<{ status: number | undefined; text: string }> {
    const socketPath = join(daemon.runDir, "admin.sock");
    return new Promise((resolve, reject) => {
      request({ socketPath, path, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      })
        .on("error", reject)
        .end();
    });
  }

  test(
    "metrics say what was decided and run, and agree with the journal",
    async () => {
      expect((await daemon.run(project, "cat docs/a.md")).code).toBe(0);
      expect((await daemon.run(project, "rm -r docs", { words: ["--wait-for", "0"] })).code).toBe(
        126,
      );
      const { status, text } = await get("/metrics");
      expect(status).toBe(200);
      for (const line of [
        'recinto_decisions_total{verdict="allow"} 1',
        'recinto_decisions_total{verdict="ask"} 1',
        'recinto_rule_matches_total{verdict="ask",rule="safety/recursive-delete"} 1',
        "recinto_exec_seconds_count 1",
        "recinto_up 1",
      ]) {
        expect(text.split("\n")).toContain(line);
      }
      const events = await daemon.admin.events();
      const proposed = events.filter(({ event }) => event === "proposed_action.created");
      expect(proposed.length).toBe(2);
      expect((await daemon.cli(["metrics"])).out).toContain('verdict="allow"} 1');
    },
    PATIENCE_MS,
  );

  test(
    "top shows the question, the session and the sandbox",
    async () => {
      const asking = daemon.run(project, "rm -r docs");
      await expect
        .poll(() => daemon.cli(["top", "--once"]).then(({ out }) => out), {
          timeout: 60_000,
          interval: 500,
        })
        .toMatch(
          /QUESTION +WAITS[\s\S]*rm -r docs[\s\S]*SESSION[\s\S]*shop dev[\s\S]*SANDBOX[\s\S]*running/,
        );
      const [question] = await daemon.admin.approvals({ state: "pending" });
      await daemon.admin.answer(question?.id ?? "", { answer: "deny" });
      expect((await asking).code).toBe(126);
    },
    PATIENCE_MS,
  );

  test(
    "healthz is 200 while all works and 503 while the engine is away",
    async () => {
      expect(await get("/healthz")).toMatchObject({
        status: 200,
        text: expect.stringContaining("true"),
      });
      await daemon.engine.close();
      const { status, text } = await get("/healthz");
      expect([status, JSON.parse(text).error]).toMatchObject([
        503,
        { code: "unhealthy", message: "the engine cannot be used" },
      ]);
      expect((await get("/metrics")).text).toContain("recinto_engine_up 0\n");
      await daemon.engine.open(join(daemon.base, "engine.sock"));
      expect((await get("/healthz")).status).toBe(200);
    },
    PATIENCE_MS,
  );
});
