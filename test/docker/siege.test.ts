/** The daemon under attack by one agent, while another project's agent and the admin go on. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CONNECTIONS_MAX,
  PENDING_PER_SESSION_MAX,
  REQUEST_TIMEOUT_MS,
} from "../../daemon/limits.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const PATIENCE_MS = 240_000;
const MIB = 2 ** 20;
const BESIEGER = readFileSync(fileURLToPath(new URL("./besieger.mjs", import.meta.url)), "utf8");

describe.skipIf(missing)("under siege", () => {
  const daemon = new Recintod();
  let hostile: TestProject;
  let honest: TestProject;

  beforeAll(async () => {
    await daemon.start();
    hostile = await daemon.addProject("hostile", 12_345);
    honest = await daemon.addProject("honest", 12_346);
    // Both have their sandbox, so that what is measured is the siege.
    for (const project of [hostile, honest]) {
      expect((await daemon.run(project, "cat docs/a.md")).code).toBe(0);
    }
  }, PATIENCE_MS);
  afterAll(() => daemon.close(), PATIENCE_MS);

  const socketOf = ({ id }: TestProject) => join(daemon.runDir, "projects", id, "agent.sock");
  const descriptors = () => readdirSync(`/proc/${daemon.process?.pid}/fd`).length;

  /** The besieger as a project's agent; `lines` are what it has printed. */
  function besiege(mode: string, options: object, project = hostile) {
    const uid = String(project.uid);
    const words = ["--reuid", uid, "--regid", uid, "--clear-groups", process.execPath];
    words.push("--input-type=module", "-", socketOf(project), mode, JSON.stringify(options));
    const child: ChildProcess = spawn("setpriv", words, {
      cwd: "/",
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin?.end(BESIEGER);
    const lines: string[] = [];
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      lines.splice(0, lines.length, ...text.split("\n").slice(0, -1));
    });
    const over = new Promise<Record<string, unknown>>((resolve, reject) => {
      child.once("close", (code) => {
        const last = lines.at(-1);
        if (code === 0 && last !== undefined) resolve(JSON.parse(last));
        else reject(new Error(`the besieger ended with ${code}: ${text}`));
      });
    });
    return { lines, over };
  }

  test(
    "10,000 half-open connections hold no more than their share, and nobody else is kept out",
    async () => {
      const [memory, files] = [daemon.rss(), descriptors()];
      const { lines, over } = besiege("connections", { count: 10_000, holdMs: 8_000 });
      await expect.poll(() => lines.length, { timeout: 120_000 }).toBeGreaterThan(0);
      // Meanwhile, on the other sockets:
      expect((await daemon.run(honest, "cat docs/a.md")).out).toBe("the docs of honest\n");
      expect((await daemon.admin.health()).ok).toBe(true);
      const held = await over;
      expect(held.opened).toBe(10_000);
      expect(held.most).toBeLessThanOrEqual(CONNECTIONS_MAX);
      const grown = daemon.rss() - memory;
      console.log(
        `10,000 connections: at most ${held.most} held, memory +${Math.round(grown / MIB)} MiB`,
      );
      expect(grown).toBeLessThan(96 * MIB);
      await expect.poll(descriptors, { timeout: 30_000 }).toBeLessThanOrEqual(files + 16);
      // And its own agent gets in again.
      expect((await daemon.run(hostile, "cat docs/a.md")).code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "connections that never finish their request are closed after a while",
    async () => {
      const { over } = besiege("connections", {
        count: 50,
        holdMs: REQUEST_TIMEOUT_MS + 15_000,
        first: "POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n",
      });
      expect(await over).toMatchObject({ most: 50, left: 0 });
    },
    PATIENCE_MS,
  );

  test(
    "giant and malformed requests are refused, and cost no memory",
    async () => {
      const memory = daemon.rss();
      const { sizes } = await besiege("giants", {}).over;
      expect(sizes).toEqual({
        length: expect.toBeOneOf([413, 0]),
        chunks: expect.toBeOneOf([413, 0]),
        head: expect.toBeOneOf([431, 0]),
        both: 400,
        lengths: 400,
        folded: 400,
        nul: 400,
        lf: 400,
      });
      expect(daemon.rss() - memory).toBeLessThan(128 * MIB);
    },
    PATIENCE_MS,
  );

  test(
    "a flood of questions is bounded, and another agent's question still reaches a person",
    async () => {
      const session = await sessionOf(hostile);
      const { over } = besiege("asks", { session, count: 200 });
      await expect
        .poll(async () => (await daemon.admin.approvals({ state: "pending" })).length, {
          timeout: 60_000,
        })
        .toBeGreaterThan(0);
      const asking = daemon.run(honest, "rm -r docs");
      const own = () => daemon.admin.approvals({ state: "pending", project: honest.id });
      await expect.poll(async () => (await own()).length, { timeout: 60_000 }).toBe(1);
      const [question] = await own();
      await daemon.admin.answer(question?.id ?? "", { answer: "deny" });
      expect((await asking).code).toBe(126);
      const { kinds } = (await over) as { kinds: Record<string, number> };
      console.log(`200 questions at once: ${JSON.stringify(kinds)}`);
      const pending = Object.entries(kinds).filter(([kind]) => kind.endsWith(" pending"));
      expect(pending.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(
        PENDING_PER_SESSION_MAX,
      );
      await expect
        .poll(async () => (await daemon.admin.approvals({ state: "pending" })).length, {
          timeout: 60_000,
        })
        .toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "a reader of events that stops reading costs nothing; another one gets them all",
    async () => {
      const memory = daemon.rss();
      const deaf = request({
        socketPath: join(daemon.runDir, "admin.sock"),
        path: "/v1/watch/events",
        agent: false,
      });
      deaf.on("error", () => undefined);
      deaf.on("response", (response) => response.pause());
      deaf.end();
      const before = (await daemon.admin.health()).journal.entries;
      const session = await sessionOf(honest);
      await besiege("runs", { session, count: 300 }, honest).over;
      const { entries } = (await daemon.admin.health()).journal;
      expect(entries - before).toBeGreaterThanOrEqual(900);
      expect(daemon.rss() - memory).toBeLessThan(96 * MIB);
      const seen: number[] = [];
      for await (const { seq } of daemon.admin.followEvents({ after: before })) {
        seen.push(seq);
        if (seq >= entries) break;
      }
      expect(seen).toEqual(Array.from({ length: entries - before }, (_, at) => before + 1 + at));
      deaf.destroy();
    },
    PATIENCE_MS,
  );

  test(
    "an agent cannot tell another project's session, question or job from one that is not there",
    async () => {
      const theirs = await sessionOf(honest);
      const paths = [
        ["GET", "/v1/sessions/ID"],
        ["DELETE", "/v1/sessions/ID"],
        ["POST", "/v1/sessions/ID/exec", { command: "true" }],
        ["POST", "/v1/sessions/ID/check", { command: "true" }],
        ["GET", "/v1/sessions/ID/jobs"],
        ["GET", "/v1/sessions/ID/interface"],
        ["GET", "/v1/sessions/ID/files/list?path=."],
        ["GET", "/v1/sessions/ID/approvals/q-aaaaaaaaaaaa"],
        ["POST", "/v1/sessions/ID/grants", { rule: "x", reason: "y" }],
      ];
      const { told } = (await besiege("oracle", { theirs, paths }).over) as {
        told: { path: string; same: boolean; real: unknown }[];
      };
      expect(told.filter(({ same }) => !same)).toEqual([]);
      expect(told.every(({ real }) => JSON.stringify(real).includes("unknown-session"))).toBe(true);
      // Nor does the file system tell it which projects there are, or let it knock at another's door.
      const words = ["--reuid", "12345", "--regid", "12345", "--clear-groups"];
      const { spawnSync } = await import("node:child_process");
      const ls = spawnSync("setpriv", [...words, "ls", join(daemon.runDir, "projects")]);
      expect(ls.status).not.toBe(0);
      const knock = `require("net").connect(${JSON.stringify(socketOf(honest))}).on("error", (e) => console.log(e.code)).on("connect", () => console.log("in"))`;
      const door = spawnSync("setpriv", [...words, process.execPath, "-e", knock], {
        encoding: "utf8",
      });
      expect(door.stdout.trim()).toBe("EACCES");
      expect((await daemon.run(honest, "cat docs/a.md")).code).toBe(0);
    },
    PATIENCE_MS,
  );

  async function sessionOf({ id }: TestProject): Promise<string> {
    const found = (await daemon.admin.sessions()).find(({ project }) => project === id);
    if (found === undefined) throw new Error(`no session on ${id}`);
    return found.id;
  }
});
