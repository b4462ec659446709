/** The command line as a whole: help, mistakes, and what it says when no daemon is there. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "../../daemon/cli/commands.ts";
import { HAZARD } from "../api/fake-supervisor.ts";
import { type RunningApi, startApi } from "../api/running-api.ts";
import { cli } from "./run-cli.ts";

let api: RunningApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

test("a mistake in the words is one line and exit 64", async () => {
  for (const [words, message] of [
    [["nonsense"], "unknown command 'nonsense' (recinto --help shows how)"],
    [["run", "--project", "p"], "missing required argument 'words' (recinto run --help shows how)"],
    [["run", "ls"], "--project P is missing (recinto run --help shows how it is called)"],
    [["events", "--since", "12"], '--since "12" is not a duration (write 90s, 10m, 2h or 7d)'],
    [
      ["approvals", "approve"],
      "missing required argument 'id' (recinto approvals approve --help shows how)",
    ],
    [["--nope"], "unknown option '--nope' (recinto --help shows how)"],
  ] as const) {
    expect(await cli([...words])).toEqual({ code: 64, out: "", err: `recinto: ${message}\n` });
  }
});

test("without a daemon it says so and how to go on, exit 69", async () => {
  const nowhere = mkdtempSync(join(tmpdir(), "recinto-none-"));
  expect(await cli(["--run-dir", nowhere, "approvals", "list"])).toEqual({
    code: 69,
    out: "",
    err: `recinto: no daemon listens on ${nowhere}/admin.sock (start recintod, or name its run directory with --run-dir)\n`,
  });
});

test("a run directory comes from the line, then the environment, then the config file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recinto-conf-"));
  const config = join(folder, "config.yaml");
  writeFileSync(config, `runDir: ${api.runDir}\n`, { mode: 0o600 });
  for (const [words, env] of [
    [["--run-dir", api.runDir], { RECINTO_RUN_DIR: "/nowhere" }],
    [[], { RECINTO_RUN_DIR: api.runDir }],
    [["--config", config], {}],
  ] as const) {
    expect((await cli([...words, "project", "list"], { env })).out).toContain("alpha");
  }
});

test("every command is in the help, and each has one of its own", async () => {
  const { code, out } = await cli(["--help"]);
  expect(code).toBe(0);
  const names = [...out.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map((found) => found[1]);
  expect(names).toEqual([...Object.keys(COMMANDS), "help"]);
});

test("admin commands print what the daemon says", async () => {
  const at = ["--run-dir", api.runDir];
  api.supervisor.entries.push({
    seq: 1,
    at: 0,
    event: "daemon.started",
    project: null,
    session: null,
    uid: null,
    data: { note: "\u202e" },
    hash: "00",
  });
  expect((await cli([...at, "events", "--json"])).out).toBe(
    `${JSON.stringify(api.supervisor.entries[0])}\n`,
  );
  expect((await cli([...at, "events"])).out).toMatch(/daemon\.started note="⟨U\+202E⟩"\n$/);
  expect((await cli([...at, "journal", "verify"])).out).toBe("1 entries, chain whole, head 00\n");
  expect((await cli([...at, "hazards"])).out).toBe("no hazards in 0 watched worktrees\n");
  const { id } = HAZARD;
  expect((await cli([...at, "hazards", "accept", id])).out).toBe(
    "accepted: /tmp/out → /etc (/etc)\n",
  );
  expect((await cli([...at, "hazards", "forget", id])).out).toBe(`forgotten: ${id}\n`);
  expect((await cli([...at, "hazards", "forget", id.replace("aa", "bb")])).code).toBe(66);
  expect((await cli([...at, "denials", "reset", "--project", "alpha"])).out).toBe(
    "3 counters reset\n",
  );
  expect((await cli([...at, "session", "list"])).out).toBe("no live sessions\n");
  const added = await cli([...at, "project", "add", "gamma", "--root", "/tmp", "--worktrees", "."]);
  expect(added.out).toBe(`gamma: agents connect to ${api.runDir}/projects/gamma/agent.sock\n`);
  expect(JSON.parse((await cli([...at, "project", "show", "gamma"])).out)).toEqual({
    id: "gamma",
    root: "/tmp",
    profile: "default",
    worktrees: ".",
    agentGroup: null,
  });
  expect((await cli([...at, "project", "remove", "gamma"])).out).toBe("gamma: removed\n");
});

test("adding a project warns of what keeps commands from running there, with what mends it", async () => {
  const root = mkdtempSync(join(tmpdir(), "recinto-owned-"));
  const at = ["--run-dir", api.runDir, "project", "add"];
  const none = await cli([...at, "delta", "--root", root, "--worktrees", "trees/*"]);
  expect(none.code).toBe(0);
  expect(none.err).toContain(`warning: no folder below ${root} matches --worktrees trees/* yet\n`);
  const owned = await cli([...at, "epsilon", "--root", root, "--worktrees", "."]);
  const warning = `warning: ${root}: owned by root, so no command runs there\n         chown -R AGENT: ${root} `;
  expect(owned.err.startsWith(warning)).toBe(process.getuid?.() === 0);
  api.supervisor.problems = ["/etc/recinto/profiles/x.yaml:1:6: git: wrong (mend it)"];
  const { code, out } = await cli(["--run-dir", api.runDir, "doctor"]);
  expect(code).toBe(69);
  expect(out).toContain(
    "BAD  settings       /etc/recinto/profiles/x.yaml:1:6: git: wrong (mend it)\n",
  );
  expect(out.includes(`BAD  worktree       ${root}: owned by root`)).toBe(process.getuid?.() === 0);
  expect(out).toContain(`agent socket   ${api.runDir}/projects/epsilon/agent.sock`);
  expect(out).not.toContain("recinto/daemon is not built");
});

test("what the daemon finds wrong in a request is told by the words of the command line", async () => {
  const at = ["--run-dir", api.runDir];
  for (const [words, start, end] of [
    [
      ["project", "add", "Bad Id", "--root", "/tmp"],
      "id: ",
      '(it is "Bad Id") (recinto project add --help shows how)',
    ],
    [
      ["events", "--event", "nope"],
      "--event: ",
      '(it is "nope") (recinto events --help shows how)',
    ],
    [
      ["approvals", "show", "a b"],
      "id: ",
      '(it is "a b") (recinto approvals show --help shows how)',
    ],
  ] as const) {
    const { code, err } = await cli([...at, ...words]);
    expect(code).toBe(65);
    expect(err.startsWith(`recinto: ${start}`)).toBe(true);
    expect(err.endsWith(`${end}\n`)).toBe(true);
  }
});

test("rules list without a project lists those of all", async () => {
  const rule = { prefix: ["touch"], effects: ["write" as const], paths: [], expiresAt: null };
  const saved = { ...rule, savedAt: 0, savedBy: 1, savedFor: "touch a" };
  api.supervisor.savedRules.alpha = [{ id: "r1", ...saved }];
  api.supervisor.savedRules.beta = [{ id: "r2", ...saved }];
  const at = ["--run-dir", api.runDir, "rules", "list"];
  const rules = async (...words: string[]) =>
    (await cli([...at, ...words])).out.match(/^\w+ +r\d(?= )/gm)?.map((row) => row.split(/ +/));
  expect(await rules()).toEqual([
    ["alpha", "r1"],
    ["beta", "r2"],
  ]);
  expect(await rules("beta")).toEqual([["beta", "r2"]]);
});
