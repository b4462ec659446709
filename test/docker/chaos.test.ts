/** Kill -9 at random moments under load (the long form is `npm run chaos`): nothing lost, nothing left behind. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { surviveKills } from "../chaos/kills.ts";
import { Recintod } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const KILLS = 10;
const missing = await whyNot();

describe.skipIf(missing)("a daemon that is killed", () => {
  const daemon = new Recintod();
  beforeAll(() => daemon.start());
  afterAll(() => daemon.close());

  test("loses no entry and no question, and leaves no process", { timeout: 300_000 }, async () => {
    const seed = Number(process.env.RECINTO_SEED ?? randomBytes(4).readUInt32LE());
    console.log(`chaos: --kills ${KILLS} --seed ${seed}`);
    const report = await surviveKills({
      daemon,
      kills: KILLS,
      seed,
      lifeMsMax: 1_500,
      orphanMsMax: 30_000,
    });
    console.log(JSON.stringify(report));
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ kills: KILLS });
    // What was looked at was there to be lost.
    expect(report.effects).toBeGreaterThan(0);
    expect(report.questionsCarried).toBeGreaterThan(0);
  });
});
