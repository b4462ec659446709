/** Rules from every source, from the file on disk to the verdict (B1, B8): who outranks whom, and what nobody lifts. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Decision } from "../../daemon/policy/types.ts";
import { AGENT, admin, agent, answering, codeOf, run, World } from "./world.ts";

let world: World;

beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

/** A file of the admin, there before the daemon starts. */
function held(name: string, text: string): void {
  const file = join(world.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** One rule as a file's text. */
const rule = (action: Decision, pattern: string, more = "") =>
  `rules: [{pattern: ${pattern}, action: ${action}}]\n${more}`;

async function verdict(command: string, session?: string): Promise<readonly [Decision, string]> {
  const id = session ?? (await world.open());
  const { verdict, segments } = await world.supervisor.check(agent(), id, { command });
  return [verdict, segments[0]?.rule ?? ""];
}

const give = (text: string, more: object = {}) =>
  world.supervisor.ruleFiles.giveSession(admin(), {
    project: "web",
    worktree: "one",
    text,
    ...more,
  });

describe("precedence (B1)", () => {
  test("session > project > user > built-in, whatever is stricter", async () => {
    held(`rules/users/${AGENT}.yaml`, rule("deny", "npm publish *"));
    await world.start();
    expect(await verdict("npm publish")).toEqual(["deny", `user/${AGENT}/1`]);
    held("projects/web.rules.yaml", rule("ask", "npm publish *"));
    await world.supervisor.shutdown();
    await world.restart();
    expect(await verdict("npm publish")).toEqual(["ask", "project/web/1"]);
    give(rule("deny", "npm publish *"));
    expect(await verdict("npm publish")).toEqual(["deny", "session/any/1"]);
    expect((await verdict("cargo publish"))[1]).toBe("builtin/publish/5");
  });

  test("within a source the strictest wins", async () => {
    held("projects/web.rules.yaml", rule("allow", "touch *"));
    held("projects/web.rules.json", '{"rules":[{"pattern":"@coder exec touch","action":"ask"}]}');
    await world.start();
    expect(await verdict("touch a")).toEqual(["ask", "project/web/1"]);
  });

  test("a user's rules are that user's alone", async () => {
    held(`rules/users/${AGENT + 5}.yaml`, rule("deny", "ls *"));
    await world.start();
    expect((await verdict("ls"))[0]).toBe("allow");
  });

  test("a rule that allows lets a command run that would have asked", async () => {
    held("projects/web.rules.yaml", rule("allow", "touch *"));
    await world.start();
    const ran = await run(world, await world.open(), "touch made.txt");
    expect(ran.last).toMatchObject({ type: "exit", exitCode: 0 });
    expect((await verdict("touch ../../../out"))[0]).toBe("ask");
  });

  test("what *always* stored is the project's: it outranks the user's rule that asked, a session's outranks it (A6)", async () => {
    held(`rules/users/${AGENT}.yaml`, rule("ask", "mkdir *"));
    await world.start();
    const session = await world.open();
    const always = { answer: "approve", mode: "always", width: 1 } as const;
    const ran = await run(world, session, "mkdir a", { on: answering(world, always) });
    expect(ran.last).toMatchObject({ type: "exit" });
    const [decision, by] = await verdict("mkdir b", session);
    expect([decision, by.startsWith("saved/")]).toEqual(["allow", true]);
    give(rule("ask", "mkdir *"));
    expect(await verdict("mkdir b", session)).toEqual(["ask", "session/any/1"]);
  });
});

describe("what no rule lifts (A4, B3, B8)", () => {
  test("the admin's denies, safety patterns and ceilings stand against an allow of every source and merge: false", async () => {
    const everything = rule("allow", "'*'", "merge: false\n");
    held(`rules/users/${AGENT}.yaml`, everything);
    held("projects/web.rules.yaml", everything);
    await world.start();
    give(everything);
    const session = await world.open();
    const verdicts = await Promise.all(
      ["uname -a", "rm -rf src", "git push origin main", "echo x > AGENTS.md"].map((command) =>
        verdict(command, session),
      ),
    );
    expect(verdicts.map(([decision]) => decision)).toEqual(["deny", "ask", "ask", "ask"]);
    expect(verdicts[0]?.[1]).toBe("test/no-uname");
  });

  test("merge: false of the project drops what users and the program say", async () => {
    held(`rules/users/${AGENT}.yaml`, rule("deny", "git fetch *"));
    held("projects/web.rules.yaml", rule("ask", "make x", "merge: false\n"));
    await world.start();
    expect(await verdict("git fetch")).toEqual(["ask", "profile/network"]);
    expect((await verdict("npm publish"))[1]).not.toMatch(/^builtin/);
  });

  test("a rule file nobody ever understood makes everything ask", async () => {
    held("projects/web.rules.yaml", "rules: [{pattern: ls, action: forbid}]\n");
    await world.start();
    expect(await verdict("ls")).toEqual(["ask", "unread/project/web/exec"]);
    expect(await verdict("< file.txt", undefined)).toEqual([
      "ask",
      expect.stringContaining("unread"),
    ]);
    const [info] = world.supervisor.ruleFiles.list(admin(), "web");
    expect(info).toMatchObject({ state: "broken", problem: expect.stringContaining("1:31") });
  });
});

describe("rules of a session (B1)", () => {
  test("only the admin side gives them, never the agent, never a uid that agents use", async () => {
    await world.start();
    await world.open();
    const request = { project: "web", worktree: "one", text: rule("allow", "touch *") };
    const { ruleFiles } = world.supervisor;
    expect(await codeOf(() => ruleFiles.giveSession(agent(), request))).toBe("not-permitted");
    expect(await codeOf(() => ruleFiles.giveSession(admin(AGENT), request))).toBe(
      "agent-cannot-approve",
    );
    expect((await verdict("touch a"))[0]).toBe("ask");
  });

  test("neither a new session nor a restart sheds them; taking back and time do", async () => {
    let now = Date.now();
    world.now = () => now;
    await world.start();
    give(rule("deny", "ls *"), { uid: AGENT });
    const first = await world.open();
    await world.supervisor.closeSession(agent(), first);
    expect((await verdict("ls"))[0]).toBe("deny");
    await world.restart();
    expect((await verdict("ls"))[0]).toBe("deny");
    give("rules: []", { uid: AGENT });
    expect((await verdict("ls"))[0]).toBe("allow");
    give(rule("allow", "touch *"), { expiresInMs: 60_000 });
    expect((await verdict("touch a"))[0]).toBe("allow");
    now += 60_001;
    expect((await verdict("touch a"))[0]).toBe("ask");
    const events = world.recorded("session.rules").map(([, data]) => data.rules);
    expect(events).toMatchObject([[{ action: "deny" }], [], [{ action: "allow" }]]);
  });

  test("a file with a fault gives nothing", async () => {
    await world.start();
    expect(await codeOf(() => give("rules: [{pattern: a, action: b}]"))).toBe("bad-rules");
    expect(world.recorded("session.rules")).toEqual([]);
  });
});

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

describe("a policy file that agents can write (B1, B8)", () => {
  const text = rule("allow", "touch *");
  const file = () => join(world.worktree(), ".recinto/policy.yaml");
  const trust = (hash = sha(text), caller = admin()) =>
    world.supervisor.ruleFiles.trust(caller, "web", file(), hash);
  const state = () =>
    world.supervisor.ruleFiles
      .list(admin(), "web")
      .map((info) => [info.file.slice(world.root.length), info.state]);

  test("counts for nothing until a person trusts this content, and nothing again once it changed", async () => {
    await world.start();
    world.write(file(), text);
    expect((await verdict("touch a"))[0]).toBe("ask");
    expect(trust()).toMatchObject({ state: "trusted", sha256: sha(text) });
    expect((await verdict("touch a"))[0]).toBe("allow");
    world.write(file(), `${text}# more\n`);
    expect((await verdict("touch a"))[0]).toBe("ask");
    world.write(file(), text);
    expect((await verdict("touch a"))[0]).toBe("allow");
    await world.restart();
    expect((await verdict("touch a"))[0]).toBe("allow");
    expect(world.supervisor.ruleFiles.distrust(admin(), "web", file())).toBe(1);
    expect((await verdict("touch a"))[0]).toBe("ask");
    expect(world.recorded("policy.trusted", "policy.distrusted").map(([event]) => event)).toEqual([
      "policy.trusted",
      "policy.distrusted",
    ]);
    expect(readFileSync(join(world.folder, "state/trust/web.yaml"), "utf8")).not.toContain(
      sha(text),
    );
  });

  test("trust is for what was read: another content, an agent and the agent's uid are refused", async () => {
    await world.start();
    world.write(file(), text);
    await world.open();
    expect(await codeOf(() => trust(sha("something else")))).toBe("facts-changed");
    expect(await codeOf(() => trust(sha(text), agent()))).toBe("not-permitted");
    expect(await codeOf(() => trust(sha(text), admin(AGENT)))).toBe("agent-cannot-approve");
    expect((await verdict("touch a"))[0]).toBe("ask");
  });

  test("ChatCLI's file at the root counts too, and trusted it lifts no deny, safety or ceiling, nor replaces files", async () => {
    held("projects/web.rules.yaml", rule("deny", "git fetch *"));
    await world.start();
    const all = '{"rules":[{"pattern":"@coder exec *","action":"allow"}],"merge":false}';
    const chatcli = join(world.root, "coder_policy.json");
    world.write(chatcli, all);
    const info = world.supervisor.ruleFiles.trust(admin(), "web", chatcli, sha(all));
    expect(info).toMatchObject({
      state: "trusted",
      problem: "merge: false is not heeded: an agent can write this file",
    });
    const session = await world.open();
    const decisions = await Promise.all(
      ["touch a", "git fetch", "uname -a", "rm -rf x", "npm publish"].map(
        async (command) => (await verdict(command, session))[0],
      ),
    );
    expect(decisions).toEqual(["allow", "deny", "deny", "ask", "allow"]);
  });

  test("a link is not followed, and a file that is no policy is told and cannot be trusted", async () => {
    await world.start();
    held("outside.yaml", text);
    mkdirSync(dirname(file()), { recursive: true });
    symlinkSync(join(world.folder, "outside.yaml"), file());
    expect(state()).toEqual([["/.worktrees/one/.recinto/policy.yaml", "broken"]]);
    expect(await codeOf(() => trust())).toBe("bad-rules");
    rmSync(file());
    world.write(file(), "rules: 7");
    expect(await codeOf(() => trust(sha("rules: 7")))).toBe("bad-rules");
    world.write(file(), "#".repeat(300_000));
    expect(state()).toEqual([["/.worktrees/one/.recinto/policy.yaml", "broken"]]);
    expect((await verdict("touch a"))[0]).toBe("ask");
  });

  test("whatever an agent puts in its place, commands are judged as without it", async () => {
    await world.start();
    const session = await world.open();
    const folder = join(world.worktree(), ".recinto");
    for (const put of [
      () => writeFileSync(folder, "a file"),
      () => symlinkSync(folder, folder),
      () => symlinkSync("/etc", folder),
      () => mkdirSync(join(folder, "policy.yaml"), { recursive: true }),
    ]) {
      rmSync(folder, { recursive: true, force: true });
      put();
      expect((await verdict("touch a", session))[0]).toBe("ask");
      expect((await verdict("ls", session))[0]).toBe("allow");
    }
  });

  test("the agent is told once for each content, and it is on record", async () => {
    await world.start();
    world.write(file(), text);
    const session = await world.open();
    const notes = async () =>
      (await run(world, session, "ls")).events.filter(({ type }) => type === "note");
    expect(await notes()).toEqual([
      {
        type: "note",
        code: "policy_not_trusted",
        paths: [file()],
        reason: `${file()} counts for nothing: no person has trusted what it says now (recinto policy trust web ${file()})`,
      },
    ]);
    expect(await notes()).toEqual([]);
    world.write(file(), rule("allow", "mkdir *"));
    expect(await notes()).toHaveLength(1);
    expect(world.recorded("policy.not_trusted").map(([, { sha256 }]) => sha256)).toEqual([
      sha(text),
      sha(rule("allow", "mkdir *")),
    ]);
  });
});
