/** The walk of docs/authority.md is what a real daemon answers, and a kill of it ends no grant (C3, C7). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentClient } from "../../daemon/api/client.ts";
import { WALK_FILE, walk } from "../../scripts/authority-walk.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();

test.skipIf(missing)(
  "docs/authority.md: npx tsx scripts/authority-walk.ts --write",
  async () => {
    expect(await walk()).toBe(readFileSync(WALK_FILE, "utf8"));
  },
  300_000,
);

describe.skipIf(missing)("a daemon that is killed", () => {
  const CONTRACT = `task: t
envelope: [{effect: read, paths: ["**"]}]
grants: {docs: {effect: write, paths: ["docs/**"], ttl: 20m}}
`;
  let daemon: Recintod;
  let shop: TestProject;

  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    shop = await daemon.addProject("shop", 5_008, "dev");
    const file = join(daemon.base, "t.yaml");
    writeFileSync(file, CONTRACT);
    const at = ["--project", "shop", "--worktree", "dev"];
    expect(await daemon.cli(["contract", "set", ...at, file])).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(() => daemon?.close());

  test("comes back with the grant, its end and its session, and nothing of what ran on it", async () => {
    const at = ["--project", "shop", "--worktree", shop.worktree];
    const asked = await daemon.cli(["grants", "request", ...at, "docs", "--reason", "r", "--json"]);
    const { handle, grant } = JSON.parse(asked.out) as { handle: string; grant: object };
    const running = daemon.run(shop, "echo begun > docs/begun; sleep 300", {
      words: ["--grant", handle],
    });
    const live = async () => (await daemon.admin.grants())[0];
    await expect.poll(async () => (await live())?.running.length, { timeout: 60_000 }).toBe(1);
    const before = await live();
    const [session] = await daemon.admin.sessions();
    await daemon.stop("SIGKILL");
    await daemon.start();
    await running;
    expect(await live()).toEqual({ ...before, running: [] });
    expect(await daemon.admin.interface(session?.id ?? "")).toMatchObject({ grants: [grant] });
    const again = await daemon.run(shop, "echo more > docs/more", { words: ["--grant", handle] });
    expect(again.code).toBe(0);
  }, 180_000);

  test("an agent's socket sets no contract and no phase, and revokes nothing", async () => {
    const socketPath = join(daemon.runDir, "projects/shop/agent.sock");
    const handle = (await daemon.admin.grants())[0]?.handle ?? "";
    const agent = agentClient({ socketPath });
    const { adminClient } = await import("../../daemon/api/client.ts");
    const posing = adminClient({ socketPath });
    const codes = await Promise.all(
      [
        posing.setContract("shop", "dev", CONTRACT),
        posing.clearContract("shop", "dev"),
        posing.setPhase("shop", "dev", "x"),
        posing.revokeGrant(handle),
        posing.grants(),
      ].map((call) =>
        Promise.resolve(call).then(
          () => "done",
          (error) => error.code,
        ),
      ),
    );
    // There are no such routes on it.
    expect(new Set(codes)).toEqual(new Set(["not-found"]));
    posing.close();
    agent.close();
  });

  test("`grants revoke` ends it, and says how it comes back", async () => {
    const handle = (await daemon.admin.grants())[0]?.handle ?? "";
    const { out } = await daemon.cli(["grants", "revoke", handle, "--reason", "done"]);
    expect(out).toBe(
      `${handle}: closed; uid 0 revoked it: done; request docs again: a person decides\n`,
    );
    expect((await daemon.cli(["grants", "list"])).out).toBe("no grants\n");
  });
});
