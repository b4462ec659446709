/** A second MCP client, which is none of ours: the protocol's inspector, fetched from the registry for this test alone. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI_WORDS } from "../cli/run-cli.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const INSPECTOR = "@modelcontextprotocol/inspector-cli@0.15.0";
const FETCH_MS = 180_000;
const folder = mkdtempSync(join(tmpdir(), "recinto-inspector-"));

const missing =
  (await whyNot()) ??
  (process.getuid?.() === 0 ? null : "only root can act as an agent") ??
  fetched();
if (missing !== null) {
  console.log(`skipped, ${INSPECTOR}: ${missing}`);
  rmSync(folder, { recursive: true, force: true });
}

/** Why it could not be fetched; null: it is there. */
function fetched(): string | null {
  writeFileSync(join(folder, "package.json"), '{"private": true}');
  const words = ["install", "--no-audit", "--no-fund", "--ignore-scripts", INSPECTOR];
  const npm = spawnSync("npm", words, { cwd: folder, encoding: "utf8", timeout: FETCH_MS });
  return npm.status === 0 ? null : `npm could not fetch it: ${npm.stderr.slice(0, 300)}`;
}

describe.skipIf(missing)("the inspector's command line", () => {
  let daemon: Recintod;
  let project: TestProject;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    project = await daemon.addProject("alpha", 5_001, "dev");
    // It takes options of the server for its own.
    const at = ["mcp", "--project", project.id, "--worktree", project.worktree];
    const server = [...CLI_WORDS, "--run-dir", daemon.runDir, ...at].join(" ");
    writeFileSync(join(folder, "server.sh"), `exec ${server}\n`);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await daemon?.close();
  });

  test("lists the tools", async () => {
    const { tools } = await inspect("--method", "tools/list");
    const names = (tools as { name: string }[]).map(({ name }) => name);
    expect(names).toContain("exec");
  });

  test("runs a command, and takes a refusal for one", async () => {
    expect(await exec("ls docs")).toMatchObject({
      structuredContent: { stdout: "a.md\n", exitCode: 0 },
    });
    expect(await exec("curl http://example.invalid/", "waitSeconds=0")).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "refused", rule: "profile/network" } },
    });
  });

  function exec(command: string, ...more: string[]) {
    const args = [`command=${command}`, ...more].flatMap((arg) => ["--tool-arg", arg]);
    return inspect("--method", "tools/call", "--tool-name", "exec", ...args);
  }
});

/** Not spawnSync: this process relays the engine to the daemon. */
function inspect(...words: string[]): Promise<Record<string, unknown>> {
  const program = join(folder, "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js");
  const server = ["sh", join(folder, "server.sh")];
  const child = spawn(process.execPath, [program, "--cli", ...server, ...words], { cwd: "/" });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("close", (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(err));
    });
  });
}
