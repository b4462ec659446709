/** What may end at any moment ends under load (the long forms are `npm run chaos`): nothing lost, nothing left behind. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { surviveEngine } from "../chaos/engine.ts";
import { surviveKills } from "../chaos/kills.ts";
import { OwnEngine } from "../chaos/own-engine.ts";
import { Recintod } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const KILLS = 10;
const RESTARTS = 2;
const missing = await whyNot();
const seed = () => Number(process.env.RECINTO_SEED ?? randomBytes(4).readUInt32LE());

describe.skipIf(missing)("a daemon that is killed", () => {
  const daemon = new Recintod();
  beforeAll(() => daemon.start());
  afterAll(() => daemon.close());

  test("loses no entry and no question, and leaves no process", { timeout: 600_000 }, async () => {
    const report = await surviveKills({
      daemon,
      kills: KILLS,
      seed: seed(),
      lifeMsMax: 2_000,
      orphanMsMax: 30_000,
    });
    console.log(`chaos kills: ${JSON.stringify(report)}`);
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ kills: KILLS });
    // What was looked at was there to be lost.
    expect(report.effects).toBeGreaterThan(0);
    expect(report.questionsCarried).toBeGreaterThan(0);
  });
});

describe.skipIf(missing)("an engine that is killed or stopped", () => {
  const engine = new OwnEngine();
  const daemon = new Recintod({ engine: engine.socket });
  beforeAll(async () => {
    await engine.start();
    await daemon.start();
  });
  afterAll(async () => {
    await daemon.close();
    engine.close();
  });

  test("takes no daemon with it; each command ends once, and the next ones run", {
    timeout: 600_000,
  }, async () => {
    const report = await surviveEngine({ daemon, engine, restarts: RESTARTS, seed: seed() });
    console.log(`chaos engine: ${JSON.stringify(report)}`);
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ restarts: RESTARTS });
  });
});

describe.skipIf(missing)("a disk that is full", () => {
  const daemon = new Recintod();
  const state = join(daemon.base, "small");
  beforeAll(async () => {
    mkdirSync(state, { mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", state]);
    daemon.writeConfig(daemon.configFile, { state });
    await daemon.start();
  });
  afterAll(async () => {
    // Its sandbox goes with it, which close() could not ask of a daemon that is dead.
    await daemon.admin.removeProject("full").catch(() => undefined);
    await daemon.stop("SIGKILL");
    spawnSync("umount", ["--lazy", state]);
    await daemon.close();
  });

  test("lets nothing happen that cannot be recorded, and all goes on once there is room", async () => {
    const project = await daemon.addProject("full", 12_345, "dev");
    expect((await daemon.run(project, "echo before > before")).code).toBe(0);
    const filler = join(state, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"]);
    const refused = await daemon.run(project, "echo during > during");
    expect([refused.code, refused.err]).toEqual([70, expect.stringContaining("cannot record")]);
    expect(existsSync(join(project.worktree, "during"))).toBe(false);
    rmSync(filler);
    expect((await daemon.run(project, "echo after > after")).code).toBe(0);
    expect(existsSync(join(project.worktree, "after"))).toBe(true);
    expect((await daemon.admin.verifyJournal()).ok).toBe(true);
  });
});
