/** Denials, rules, trust and *always* through the real daemon and the real command line (A6, B1, B2, B8). */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("the policy through recintod", () => {
  let daemon: Recintod;
  let shop: TestProject;

  beforeAll(async () => {
    process.env.RECINTO_MAX_CONSECUTIVE_DENIALS = "2";
    daemon = new Recintod();
    await daemon.start();
    shop = await daemon.addProject("shop", 5_003);
  });
  afterAll(async () => {
    delete process.env.RECINTO_MAX_CONSECUTIVE_DENIALS;
    await daemon?.close();
  });

  /** Runs and answers the question that comes; resolves with what the agent got. */
  async function asked(command: string, ...words: readonly string[]) {
    const running = daemon.run(shop, command);
    const waiting = () => daemon.admin.approvals({ state: "pending" });
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1);
    const [question] = await waiting();
    const id = question?.id ?? "";
    const shown = await daemon.cli(["approvals", "show", id]);
    const answered = await daemon.cli(["approvals", words[0] ?? "", id, ...words.slice(1)]);
    return { ran: await running, shown: shown.out, answered: answered.out };
  }

  test("B2: the limit of the environment blocks a class, over a kill of the daemon, until an admin resets it", async () => {
    await asked("touch a", "deny", "--reason", "not now");
    const { ran } = await asked("touch b", "deny");
    expect(ran).toMatchObject({ code: 126, err: expect.stringContaining("is blocked now") });
    const blocked = {
      code: 126,
      err: expect.stringMatching(/write:touch was refused 2 times in a row and is blocked/),
    };
    expect(await daemon.run(shop, "touch c")).toMatchObject(blocked);
    await daemon.stop("SIGKILL");
    await daemon.start();
    expect(await daemon.run(shop, "touch d")).toMatchObject(blocked);
    expect((await daemon.run(shop, "cat docs/a.md")).out).toBe("the docs of shop\n");
    const reset = await daemon.cli(["denials", "reset", "--project", "shop"]);
    expect(reset.out).toBe("1 counters reset\n");
    expect((await asked("touch e", "approve")).ran.code).toBe(0);
  });

  test("A6: always shows the rule and the past it would have allowed, holds until its end, and is revoked", async () => {
    const { shown, answered, ran } = await asked(
      "touch f",
      ...["approve", "--always", "--width", "1", "--for", "2h", "--yes"],
    );
    expect(shown).toMatch(/always +0: touch f …/);
    expect(shown).toMatch(/1: would have allowed \d of the last \d questions in this project/);
    expect(answered).toMatch(/from now on allowed in shop for 2h: touch …/);
    expect(ran.code).toBe(0);
    expect((await daemon.run(shop, "touch g h")).code).toBe(0);
    const outside = await daemon.run(shop, "touch /etc/x", { words: ["--wait-for", "0"] });
    expect(outside.code).toBe(126);
    const [rule] = await daemon.admin.rules("shop");
    expect(rule).toMatchObject({ prefix: ["touch"], expiresAt: expect.any(Number) });
    const revoked = await daemon.cli(["rules", "revoke", "shop", rule?.id ?? ""]);
    expect(revoked.out).toMatch(/^revoked: touch …/);
    const again = await daemon.run(shop, "touch i", { words: ["--wait-for", "0"] });
    expect(again.code).toBe(126);
  });

  test("B1, B8: a policy file of the worktree counts once a person trusted it, and not after a change", async () => {
    const file = join(shop.worktree, ".recinto/policy.yaml");
    mkdirSync(join(shop.worktree, ".recinto"));
    writeFileSync(file, "rules: [{pattern: mkdir *, action: allow}]\n");
    const run = () => daemon.run(shop, "mkdir -p made", { words: ["--wait-for", "0"] });
    expect(await run()).toMatchObject({
      code: 126,
      err: expect.stringContaining(`recinto policy trust shop ${file}`),
    });
    const enter = await daemon.cli(["policy", "trust", "shop", file], { input: "\n" });
    expect([enter.code, enter.out]).toEqual([64, expect.stringContaining("allow mkdir *")]);
    expect((await run()).code).toBe(126);
    const yes = await daemon.cli(["policy", "trust", "shop", file], { input: "y\n" });
    expect(yes.code).toBe(0);
    expect((await run()).code).toBe(0);
    writeFileSync(file, "rules: [{pattern: '*', action: allow}]\n");
    expect((await run()).code).toBe(126);
  });

  test("B1: a rule file of the admin counts as soon as it is written, and its reason reaches the agent", async () => {
    writeFileSync(
      join(daemon.base, "projects/shop.rules.yaml"),
      "rules: [{pattern: git log *, action: deny, justification: history is private here}]\n",
    );
    const denied = async () => (await daemon.run(shop, "git log -1")).err;
    await expect.poll(denied, { timeout: 20_000 }).toContain("history is private here");
  });

  test("A13: stats and replay read what happened from the journal", async () => {
    const stats = await daemon.admin.stats({ project: "shop" });
    expect(stats.questions).toMatchObject({ denied: 2, approvedOnce: 1, approvedAlways: 1 });
    expect(stats.passes.byRoot[shop.worktree]).toBeGreaterThan(2);
    const replay = await daemon.cli(["policy", "replay", "--profile", "dev", "--project", "shop"]);
    expect(replay.out).toMatch(/ask → allow +shop +touch a\n +profile\/write → scope\/write/);
  });
});
