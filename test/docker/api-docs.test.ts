/** The curl examples of docs/api.md, run as their reader would against a real daemon. */
import { execFile, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = (await whyNot()) ?? noTools();
const UID = 12_345;
/** Not the synchronous one: the daemon reaches its engine through this very process. */
const run = promisify(execFile);
const PATIENCE_MS = 120_000;

function noTools(): string | null {
  if (spawnSync("bash", ["-c", "command -v curl jq"]).status === 0) return null;
  const reason = "there is no curl or no jq (./scripts/engine tools installs them)";
  if (process.env.RECINTO_REQUIRE_ENGINE === "1") throw new Error(reason);
  console.warn(`skipped: ${reason}`);
  return reason;
}

const page = readFileSync("docs/api.md", "utf8");
const blocks = [...page.matchAll(/^### (.+)\n[\s\S]*?^```sh (agent|admin)\n([\s\S]*?)^```/gm)].map(
  ([, title = "", as = "", shell = ""]) => ({ title, as, shell }),
);

/** What each prints, where it is the same every time. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  "Open a session": /"project": "shop"[\s\S]*"profile": "default"/,
  "See what the policy says, without doing anything": /"verdict": "ask"[\s\S]*curl example.org/,
  "Run a command": /^the shop\n+0$/,
  "Run one in the background, and look at it later": /seq 3; sleep 60/,
  Ask: /^$/,
  "Answer it": /"command": "rm -r build"[\s\S]*"approved"/,
  "Read and change files": /the shop[\s\S]*README.md/,
  "What happened, and by whose authority": /\d+\t[a-z.]+[\s\S]*true/,
  "An error says what to do": /"code": "unknown-session"/,
};

describe.skipIf(missing)("docs/api.md", () => {
  const daemon = new Recintod();
  let project: TestProject;

  beforeAll(async () => {
    await daemon.start();
    project = await daemon.addProject("shop", UID);
    writeFileSync(join(project.worktree, "README.md"), "the shop\n");
    mkdirSync(join(project.worktree, "build"));
    for (const name of ["README.md", "build"]) chownSync(join(project.worktree, name), UID, UID);
  }, PATIENCE_MS);
  afterAll(() => daemon.close(), PATIENCE_MS);

  test("has an example for each expectation", () => {
    expect(blocks.map(({ title }) => title)).toEqual(Object.keys(EXPECTED));
  });

  test.each(blocks)(
    "$title",
    async ({ title, as, shell }) => {
      const folder = join(daemon.base, as);
      mkdirSync(folder, { recursive: true });
      const uid = as === "agent" ? UID : 0;
      chownSync(folder, uid, uid);
      // What one block sets, the next one has, as in a reader's terminal.
      const script = `cd ${folder}; [ ! -e names ] || . ./names
set -eo pipefail
${shell.replaceAll("/run/recinto", daemon.runDir)}
declare -p | grep -E ' (AGENT|ADMIN|SESSION|JOB|QUESTION)=' >names; declare -f >>names`;
      const words = [
        "--reuid",
        `${uid}`,
        "--regid",
        `${uid}`,
        "--clear-groups",
        "bash",
        "-c",
        script,
      ];
      const { stdout } = await run("setpriv", words, { timeout: 30_000 });
      expect(stdout.trim()).toMatch(EXPECTED[title] as RegExp);
    },
    PATIENCE_MS,
  );

  test(
    "and the command that was asked about then ran",
    async () => {
      const answer = () => readFileSync(join(daemon.base, "agent/answer.ndjson"), "utf8");
      await expect.poll(answer, { timeout: 30_000 }).toContain('"type":"exit"');
      const names = readdirSync(project.worktree);
      expect(names).not.toContain("build");
    },
    PATIENCE_MS,
  );
});
