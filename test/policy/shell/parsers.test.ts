/** A part of the corpus of one-liners through three parsers; `npm run fuzz -- parsers` takes all of it. */

import { describe, expect, test } from "vitest";
import { CORPUS, compareParsers, corpusLines } from "../../fuzz/parsers.ts";

const lines = corpusLines();
if (lines === null)
  console.warn(`skipped: no corpus at ${CORPUS} (RECINTO_CORPORA names its folder)`);

/** One line in this many: enough to see a parser that went wrong, in a few seconds. */
const STRIDE = 8;

describe.skipIf(lines === null)("parsers over real one-liners", () => {
  test("what is read without a problem is bash, and has the same commands in mvdan-sh", {
    timeout: 60_000,
  }, () => {
    const {
      lines: count,
      clean,
      ...rest
    } = compareParsers((lines ?? []).filter((_, at) => at % STRIDE === 0));
    console.log(`parsers: ${count} lines, ${clean} read without a problem`);
    expect(clean / count).toBeGreaterThan(0.94);
    expect(rest).toMatchObject({ refusedByBash: [], refusedByMvdan: [], different: [] });
  });
});
