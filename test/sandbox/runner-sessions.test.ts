/** Stored sessions that no daemon would have, against the runner's program built with sanitizers; more: npm run fuzz -- runner. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FuzzedRunner, SEEDS, session } from "../fuzz/runner.ts";

describe.skipIf(process.getuid?.() !== 0)("minders on a socket, told nonsense", () => {
  const runner = new FuzzedRunner();
  beforeAll(() => runner.start(), 120_000);
  afterAll(() => runner.stop());

  test.each(SEEDS)("session %i", async (seed) => {
    expect({ ended: await runner.run(seed), report: runner.report }).toEqual({
      ended: true,
      report: "",
    });
  });

  test("the same seed is the same session", () => {
    expect(session(7)).toEqual(session(7));
    expect(session(7)).not.toEqual(session(8));
  });
});
