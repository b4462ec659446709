/** Over MCP the tool list is the authority: it grows with a grant, shrinks when one ends, and what has vanished is refused (C3, C6). */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agentSocketPath } from "../../daemon/api/socket.ts";
import { CLI_WORDS } from "../cli/run-cli.ts";
import { connectStdio, ERAS, type Era } from "../mcp/mcp-client.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing =
  (await whyNot()) ?? (process.getuid?.() === 0 ? null : "only root can act as an agent");
const PATIENT = { timeout: 110_000 };
const SOON = { timeout: 60_000 };

const CONTRACT = `
task: write-the-manual
phases: [write, check]
envelope:
  - {effect: read, paths: ["**"]}
grants:
  docs: {effect: write, paths: ["docs/**"], phase: write, closes: [written], description: the manual}
  shell: {effect: run, commands: [[python3]], ttl: 10m, uses: 2}
  news: {effect: write, paths: ["news.txt"], ttl: 10m, approval: person}
closures:
  written: {file: {path: docs/done, exists: true}}
`;
const POST = `
  const { socketPath, path, body } = JSON.parse(process.argv[1]);
  const headers = { host: "recinto", "content-type": "application/json" };
  require("http").request({ socketPath, path, method: "POST", headers }, (response) =>
    response.pipe(process.stdout)).end(JSON.stringify(body));`;
const ALWAYS = [
  "exec",
  "read_file",
  "write_file",
  "list",
  "status",
  "request_grant",
  "release_grant",
];

describe.skipIf(missing)("grants over MCP", () => {
  let daemon: Recintod;
  let project: TestProject;
  let projects = 0;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
  });
  afterAll(() => daemon?.close());
  beforeEach(async () => {
    project = await daemon.addProject(`p${++projects}`, 5_001, "dev");
    await daemon.admin.setContract(project.id, project.worktree, CONTRACT);
  });

  async function connect(era: Era = "2025") {
    const at = ["--project", project.id, "--worktree", project.worktree];
    const words = [...CLI_WORDS, "--run-dir", daemon.runDir, "mcp", ...at];
    const connected = await connectStdio(words, era);
    const { client } = connected;
    return {
      ...connected,
      call: (name: string, args: object) =>
        client.callTool({ name, arguments: { ...args } }, PATIENT),
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
    };
  }

  test.each(Object.keys(ERAS) as Era[])(
    "a grant is a tool while it lives; what ends it takes the tool away, era %s",
    async (era) => {
      const { client, call, names, changes, close } = await connect(era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(ALWAYS);
      const requesting = tools.find(({ name }) => name === "request_grant")?.description;
      expect(requesting).toContain("- docs: write docs/**, for 30 min. the manual");
      expect(requesting).toContain("a person is asked");

      // Without the grant it is a question, which here nobody is asked.
      const before = await call("exec", { command: "echo x > docs/b.md", waitSeconds: 0 });
      expect(before.isError).toBe(true);

      const granted = await call("request_grant", { rule: "docs", reason: "write the manual" });
      const { tool } = granted.structuredContent as { tool: string };
      await expect.poll(() => changes.at(-1), SOON).toEqual([...ALWAYS, tool]);
      const shown = (await client.listTools()).tools.find(({ name }) => name === tool);
      expect(shown?.description).toMatch(
        /^Write a file under this grant\. write docs\/\*\* \(write the manual\), until .*written: docs\/done exists/,
      );

      expect(await call(tool, { path: "docs/b.md", content: "one\n" })).toMatchObject({
        structuredContent: { bytes: 4 },
      });
      const commanded = await call("exec", { command: "echo two >> docs/b.md" });
      expect(commanded).toMatchObject({ structuredContent: { exitCode: 0 } });
      expect(readFileSync(join(project.worktree, "docs/b.md"), "utf8")).toBe("one\ntwo\n");
      const beyond = await call(tool, { path: "AGENTS.md", content: "", waitSeconds: 0 });
      expect(beyond.isError).toBe(true);

      // The file that ends it: seen by the daemon, whoever made it.
      await call(tool, { path: "docs/done", content: "" });
      await expect.poll(() => changes.at(-1), SOON).toEqual(ALWAYS);
      expect(await names()).toEqual(ALWAYS);

      const late = await call(tool, { path: "docs/late.md", content: "late\n" });
      expect(late).toMatchObject({
        isError: true,
        structuredContent: { error: { code: "refused", by: "policy" } },
      });
      expect(JSON.stringify(late.content)).toMatch(/written/);
      expect(existsSync(join(project.worktree, "docs/late.md"))).toBe(false);
      await close();
    },
  );

  test("a vanished tool is refused in the words of the API, also by a server that never showed it", async () => {
    const first = await connect();
    const granted = await first.call("request_grant", { rule: "shell", reason: "count" });
    const { tool, grant } = granted.structuredContent as { tool: string; grant: string };
    const command = "python3 -c 'print(6*7)'";
    expect(await first.call(tool, { command })).toMatchObject({
      structuredContent: { stdout: "42\n" },
    });
    await first.call("release_grant", { grant });
    await first.close();

    const second = await connect();
    const refused = await second.call(tool, { command });
    const { error } = refused.structuredContent as { error: { reason: string; rung: string } };
    expect([refused.isError, error.rung]).toEqual([true, "stale-authority"]);
    const { session } = (await second.call("status", {})).structuredContent as { session: string };
    expect(refusedByApi(session, { command, handle: grant })).toBe(error.reason);
    const forged = await second.call("use_shell_h-222222222222", { command });
    expect(forged).toMatchObject({
      isError: true,
      structuredContent: { error: { rung: "stale-authority" } },
    });
    await second.close();
  });

  /** What the API itself answers to the agent's user. */
  function refusedByApi(session: string, body: object): string | undefined {
    const words = ["--reuid=5001", "--regid=5001", "--clear-groups", process.execPath, "-e", POST];
    const socketPath = agentSocketPath(daemon.runDir, project.id);
    const path = `/v1/sessions/${session}/exec`;
    const given = JSON.stringify({ socketPath, path, body });
    const { stdout } = spawnSync("setpriv", [...words, given], { encoding: "utf8", cwd: "/" });
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return events.find(({ type }) => type === "refused")?.reason;
  }

  test("a person's answer, a phase and a revocation change the list", async () => {
    const { client, call, names, changes, close } = await connect();
    await client.listTools();
    const told: string[] = [];
    const asking = client.callTool(
      { name: "request_grant", arguments: { rule: "news", reason: "announce it" } },
      { ...PATIENT, onprogress: ({ message }) => void told.push(message ?? "") },
    );
    const waiting = () => daemon.admin.approvals({ state: "pending" });
    await expect.poll(async () => (await waiting()).length, SOON).toBe(1);
    const [question] = await waiting();
    await daemon.admin.answer(question?.id ?? "", { answer: "approve", mode: "once" });
    const { tool, grant } = (await asking).structuredContent as { tool: string; grant: string };
    expect(told[0]).toContain(`recinto approvals show ${question?.id}`);
    await expect.poll(() => changes.at(-1), SOON).toContain(tool);

    await daemon.admin.revokeGrant(grant, "enough");
    await expect.poll(names, SOON).toEqual(ALWAYS);
    const { structuredContent } = await call(tool, { path: "news.txt", content: "x" });
    expect(JSON.stringify(structuredContent)).toContain("enough");

    const before = changes.length;
    await daemon.admin.setPhase(project.id, project.worktree, "check");
    await expect.poll(() => changes.length, SOON).toBeGreaterThan(before);
    const status = await call("status", {});
    expect(status.structuredContent).toMatchObject({ task: "write-the-manual", phase: "check" });
    expect(JSON.stringify(status.content)).not.toContain("to request: docs");
    const denied = await call("request_grant", { rule: "docs", reason: "late" });
    expect(denied).toMatchObject({
      isError: true,
      structuredContent: { error: { code: expect.any(String), reason: expect.any(String) } },
    });
    await close();
  });
});
