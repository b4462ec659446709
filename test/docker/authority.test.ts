/** Each way that a grant ends, on real processes, files, git and connections: dead before it is closed, refused after (C4–C6). */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { interceptBy, loadAuthority } from "../../daemon/egress/interception.ts";
import { hostNetwork } from "../../daemon/egress/reach.ts";
import { parseRange } from "../../daemon/policy/addresses.ts";
import { privateGitPort } from "../../daemon/supervisor/private-git-port.ts";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, agent, OWNER, run, type World } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { noNamespaces, Outside } from "./outside.ts";
import { PROGRAM, whyNot } from "./rig.ts";

const missing = (await whyNot()) ?? noNamespaces();
if (missing !== null) console.warn(`skipped: ${missing}`);

const CONTRACT = `task: release
phases: [implement, verify]
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[bash, slow.sh], [bash, writes.sh], [bash, check.sh]]}
grants:
  src: {effect: write, paths: ["src/**"], phase: implement, closes: [tests]}
  lib: {effect: write, paths: ["lib/**"], ttl: 3s}
  once: {effect: write, paths: ["once/**"], uses: 1}
  marked: {effect: write, paths: ["marked/**"], closes: [mark]}
  commits: {effect: git-write, commands: [[git, add], [git, commit]]}
  net: {effect: network, hosts: ["files.example"], ttl: 10m}
closures:
  tests: {command: [bash, check.sh]}
  mark: {file: {path: DONE}}
deny:
  - {hosts: [denied.example]}
`;
/** Writes every tenth of a second into the folder it is given, as long as it lives, with a child that does the same. */
const SLOW = `( while :; do date +%s%N > $1/child; sleep 0.1; done ) &
while :; do date +%s%N > $1/parent; sleep 0.1; done
`;
const FOLDERS = ["src", "lib", "once", "marked", "other"];
const never = new AbortController().signal;

/** Time from `grant.closing` to `grant.closed` of everything that was killed here. */
const took: number[] = [];

describe.skipIf(missing)("grants that end", () => {
  const outside = new Outside();
  let world: DockerWorld;
  let session: string;
  const at = { project: "web", worktree: "one" };

  beforeAll(async () => {
    await outside.open();
    world = new DockerWorld();
    const authority = loadAuthority(join(world.folder, "authority"), Date.now());
    world.sandboxes = {
      runner: {
        program: PROGRAM,
        socketsDir: join(world.folder, "runners"),
        trustDir: authority.trust,
      },
      privateGit: privateGitPort(world.gits),
    };
    world.egress = {
      network: {
        ...hostNetwork,
        resolve: async () => [outside.address],
        allowed: [parseRange(outside.address)],
      },
      interception: interceptBy(authority, Date.now, [outside.world.certificate]),
    };
    world.profile = `extends: dev
git: commit
approvalWait: 20s
limits: {wallClock: 120s}
network: {hosts: ["listed.example"]}
`;
    makeWorktree(world);
    await world.start();
    session = await world.open();
    await world.supervisor.authority.setContract(admin(), { ...at, text: CONTRACT });
  }, 300_000);
  afterAll(async () => {
    await world?.end();
    outside.close();
    const sorted = took.sort((a, b) => a - b);
    const p = (share: number) => sorted[Math.ceil(sorted.length * share) - 1];
    console.log(
      `closing to closed, killed: ${sorted.length} grants, p50 ${p(0.5)} ms, p95 ${p(0.95)} ms`,
    );
  });

  const authority = () => world.supervisor.authority;
  const grant = async (rule: string) =>
    (await authority().request(agent(), session, { rule, reason: "the test" }, never)).handle;
  const file = (path: string) => join(world.worktree(), path);
  const state = (handle: string) => authority().grant(agent(), session, handle);

  /** A command that writes on in `folder` until it is killed. */
  async function writing(folder: string, handle: string) {
    const events: RunEvent[] = [];
    const over = run(
      world,
      session,
      { command: `bash slow.sh ${folder}`, handle },
      {
        on: (event) => void events.push(event),
      },
    );
    over.catch(() => undefined);
    for (const name of ["parent", "child"]) {
      await expect
        .poll(() => existsSync(file(`${folder}/${name}`)), { timeout: 30_000 })
        .toBe(true);
    }
    return { over, events };
  }

  /** Nothing of it lives or writes any more, from the moment that `closed` was on record. */
  async function dead(folder: string, handle: string) {
    await expect.poll(() => state(handle).state, { timeout: 30_000 }).toBe("closed");
    const both = () =>
      ["parent", "child"].map((name) => readFileSync(file(`${folder}/${name}`), "utf8"));
    const last = both();
    expect(await world.processes()).not.toContain(`slow.sh ${folder}`);
    expect(both()).toEqual(last);
    const closed = world.recorded("grant.closed").find(([, data]) => data.handle === handle);
    took.push(Number(closed?.[1].closingMs));
  }

  async function refusedLater(handle: string, why: string, command: string) {
    const before = world.recorded("exec.started").length;
    const { last } = await run(world, session, { command, handle, waitMs: 0 });
    expect(last).toMatchObject({
      type: "refused",
      by: "policy",
      reason: expect.stringContaining(why),
    });
    expect(world.recorded("exec.started")).toHaveLength(before);
  }

  test("the kernel holds a command to the folders of the grants it runs on", async () => {
    const none = await run(world, session, "bash writes.sh");
    expect(none.stdout).toBe("src no\nlib no\nonce no\nmarked no\nother no\n");
    const handle = await grant("src");
    const held = await run(world, session, { command: "bash writes.sh", handle });
    expect(held.stdout).toBe("src yes\nlib no\nonce no\nmarked no\nother no\n");
    await authority().release(agent(), session, handle);
  });

  test("a person's revocation kills the whole tree before it is closed", async () => {
    const handle = await grant("src");
    const slow = await writing("src", handle);
    expect(await world.processes()).toContain("slow.sh src");
    await authority().revoke(admin(), handle, "stop");
    await dead("src", handle);
    const { last } = await slow.over;
    // By KILL or by the TERM of whoever gives the command up: both are sent in the same turn.
    expect(last?.type === "exit" && last.exitCode !== 0).toBe(true);
    expect(slow.events).toContainEqual(
      expect.objectContaining({ type: "note", code: "grant_closed" }),
    );
    await refusedLater(handle, "revoked it: stop", "touch src/late");
    expect(existsSync(file("src/late"))).toBe(false);
    await authority().setPhase(admin(), { ...at, phase: "verify" });
    await authority().setPhase(admin(), { ...at, phase: "implement" });
  });

  test("the time is over", async () => {
    const handle = await grant("lib");
    await writing("lib", handle);
    await dead("lib", handle);
    await refusedLater(handle, "its 3s are over; request lib again", "touch lib/late");
  });

  test("the agent gives it back", async () => {
    const handle = await grant("src");
    await writing("src", handle);
    await authority().release(agent(), session, handle);
    await dead("src", handle);
    await refusedLater(handle, "the agent released it", "touch src/late");
  });

  test("the orchestrator moves on to another phase", async () => {
    const handle = await grant("src");
    await writing("src", handle);
    await authority().setPhase(admin(), { ...at, phase: "verify" });
    await dead("src", handle);
    await refusedLater(handle, "moved on from the phase implement to verify", "touch src/late");
    await authority().setPhase(admin(), { ...at, phase: "implement" });
  });

  test("a file appears", async () => {
    const handle = await grant("marked");
    await writing("marked", handle);
    writeFileSync(file("DONE"), "");
    await dead("marked", handle);
    await refusedLater(handle, "mark fired: DONE exists", "touch marked/late");
  });

  test("the test passes in a run of the daemon's own, whatever the agent says of it", async () => {
    const handle = await grant("src");
    const said = await run(world, session, "echo the tests pass; true");
    expect(said.last).toMatchObject({ exitCode: 0 });
    expect(await authority().check(agent(), session, "tests")).toMatchObject({
      fired: false,
      exitCode: 1,
      evidence: "exit 1",
      closed: [],
    });
    const slow = await writing("src", handle);
    // What the daemon runs is held to what is there without a handle: it may not write what the grant may.
    writeFileSync(file("src/ok"), "");
    await expect
      .poll(() => state(handle).state, { timeout: 90_000 })
      .toBe("closed")
      .catch(() => undefined);
    if (state(handle).state !== "closed") await authority().check(agent(), session, "tests");
    await dead("src", handle);
    await slow.over;
    await refusedLater(
      handle,
      "tests fired: exit 0; request src again: a person decides",
      "touch src/late",
    );
    const checks = world.recorded("exec.started").filter(([, data]) => data.closure === "tests");
    expect(checks.length).toBeGreaterThan(1);
    expect(checks[0]?.[1]).toMatchObject({ confinement: expect.stringMatching(/: read$/) });
    expect(existsSync(file("src/checked"))).toBe(false);
    await authority().setPhase(admin(), { ...at, phase: "verify" });
    await authority().setPhase(admin(), { ...at, phase: "implement" });
  }, 240_000);

  test("the last use runs to its end, and there is no other", async () => {
    const handle = await grant("once");
    const [first, second] = await Promise.all([
      run(world, session, { command: "touch once/1", waitMs: 0 }),
      run(world, session, { command: "touch once/2", waitMs: 0 }),
    ]);
    expect([first.last?.type, second.last?.type].sort()).toEqual(["exit", "refused"]);
    expect(
      [existsSync(file("once/1")), existsSync(file("once/2"))].filter((made) => made),
    ).toHaveLength(1);
    await expect.poll(() => state(handle).state, { timeout: 30_000 }).toBe("closed");
    await refusedLater(handle, "used up", "touch once/3");
  });

  test("git: a commit under a grant reaches the branch, one under a closed handle does not begin", async () => {
    const head = () =>
      execFileSync("git", ["-C", world.worktree(), "-c", "safe.directory=*", "rev-parse", "HEAD"], {
        encoding: "utf8",
      });
    const before = head();
    const handle = await grant("commits");
    const commit = "git add src && git commit -qm more";
    const made = await run(world, session, { command: commit, handle });
    expect(made.last).toMatchObject({ type: "exit", exitCode: 0 });
    const after = head();
    expect(after).not.toBe(before);
    await authority().release(agent(), session, handle);
    await refusedLater(handle, "the agent released it", "git commit --allow-empty -qm late");
    expect(head()).toBe(after);
  });

  test("network: connections of a grant are cut with it, and none is made after; a denied host is had by nothing", async () => {
    const CURL = "curl -sS --max-time 60";
    const handle = await grant("net");
    const hello = await run(world, session, {
      command: `${CURL} http://files.example/hello`,
      handle,
    });
    expect(hello).toMatchObject({ stdout: "hello from outside\n", last: { exitCode: 0 } });
    const others = await run(world, session, {
      command: `${CURL} http://listed.example/hello`,
      waitMs: 0,
    });
    expect(others.last).toMatchObject({ type: "refused" });
    const denied = await run(world, session, {
      command: `${CURL} http://denied.example/hello`,
      waitMs: 0,
    });
    expect(denied.last).toMatchObject({
      type: "refused",
      by: "policy",
      reason: expect.stringContaining("denies"),
    });
    outside.heard.length = 0;
    const slow = run(world, session, { command: `${CURL} -N http://files.example/slow`, handle });
    await expect
      .poll(() => outside.heard.some(({ url }) => url === "/slow"), { timeout: 30_000 })
      .toBe(true);
    await authority().revoke(admin(), handle, "enough");
    await expect
      .poll(() => outside.heard.some(({ closed }) => closed === "files.example"), {
        timeout: 30_000,
      })
      .toBe(true);
    const { last } = await slow;
    // Whether it was killed or saw its connection go first.
    expect(last?.type === "exit" && last.exitCode !== 0).toBe(true);
    const closed = world.recorded("grant.closed").find(([, data]) => data.handle === handle);
    took.push(Number(closed?.[1].closingMs));
    outside.heard.length = 0;
    await refusedLater(handle, "revoked it: enough", `${CURL} http://files.example/hello`);
    expect(outside.heard).toEqual([]);
  });
});

function makeWorktree(world: World): void {
  const root = world.root;
  // Git runs as the worktree's owner, who has to get there.
  chmodSync(world.folder, 0o755);
  const script = `set -e
mkdir -p ${root} && cd ${root} && git init -q -b main .
git -c user.name=t -c user.email=t@t commit -q --allow-empty -m first
git worktree add -q -b one .worktrees/one`;
  execFileSync("bash", ["-c", script], { stdio: "pipe" });
  for (const folder of FOLDERS) world.write(`${world.worktree()}/${folder}/kept`, "kept\n");
  world.write(`${world.worktree()}/slow.sh`, SLOW);
  const tries = FOLDERS.map(
    (name) => `( : > ${name}/try ) 2>/dev/null && echo ${name} yes || echo ${name} no`,
  );
  world.write(`${world.worktree()}/writes.sh`, `${tries.join("\n")}\n`);
  world.write(`${world.worktree()}/check.sh`, "( : > src/checked ) 2>/dev/null; test -e src/ok\n");
  execFileSync("chown", ["-R", `${OWNER}:${OWNER}`, world.worktree(), root]);
}
