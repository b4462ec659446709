/** Real bash as the oracle (issue 3): what it runs, in a container of recorders, is in the segments that were judged. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { understand } from "../../daemon/policy/shell/understand.ts";
import { BashRecorder, WORK, whyNoOracle } from "../fuzz/bash-recorder.ts";
import { CORPUS, corpusLines } from "../fuzz/parsers.ts";
import { Random } from "../fuzz/random.ts";
import { showMiss } from "../fuzz/shell.ts";
import { ShellGrammar, SPELLINGS } from "../fuzz/shell-grammar.ts";
import { compare } from "../fuzz/shell-oracle.ts";

const why = whyNoOracle();
if (why !== null) {
  if (process.env.RECINTO_REQUIRE_ENGINE === "1") throw new Error(why);
  console.warn(`skipped: ${why}`);
}
/** Printed, so that a failure can be had again with `npm run fuzz -- shell --seed S`. */
const seed = Number(process.env.RECINTO_SEED ?? Math.floor(Math.random() * 2 ** 32));
const GENERATED = 300;
/** One corpus line in this many. */
const STRIDE = 60;

/** Commands of the corpora that hold: those end up in the worktree of a project, here in the oracle's. */
function commandsFile(): string[] {
  const path = join(dirname(CORPUS), "commands.jsonl");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { command: string }).command)
    .filter((command) => !command.includes("\0"))
    .map((command) => command.replaceAll("/srv/projects/p1/.worktrees/a1", WORK));
}

describe.skipIf(why !== null)("real bash as the oracle", () => {
  let recorder: BashRecorder;
  beforeAll(() => {
    recorder = new BashRecorder();
  });
  afterAll(() => recorder.close());

  const judged = (
    commands: readonly string[],
  ): { asked: number; ran: number; misses: string[] } => {
    const { asked, ran, misses } = compare(recorder, commands);
    return { asked, ran, misses: misses.map(showMiss) };
  };

  test("the oracle itself sees words, folders, and what hides in a line", () => {
    const [first, second] = recorder.run([
      "cd src && v1 'a b' $(v2)",
      "env -i PATH=/usr/bin nosuch; nosuch2 x",
    ]);
    expect(first).toEqual(
      expect.arrayContaining([
        { argv: ["/usr/bin/v1", "a b"], cwd: `${WORK}/src` },
        { argv: ["/usr/bin/v2"], cwd: `${WORK}/src` },
      ]),
    );
    expect(second).toEqual([{ argv: ["nosuch2", "x"], cwd: WORK }]);
  });

  test("a segment that is taken away is a miss", () => {
    const command = "v1 a; v2 b";
    const { segments } = understand(command, { cwd: WORK, home: "/", env: {} });
    expect(segments).toHaveLength(2);
    const blind = compare(recorder, [command], (text) => {
      const all = understand(text, { cwd: WORK, home: "/", env: {} });
      return { ...all, segments: all.segments.slice(0, 1) };
    });
    expect(blind.misses.map(({ ran }) => ran.argv)).toEqual([["/usr/bin/v2", "b"]]);
  });

  test("spellings that parsers get wrong", () => {
    const { misses, ran } = judged(SPELLINGS);
    expect(ran).toBeGreaterThan(150);
    expect(misses).toEqual([]);
  });

  test(`${GENERATED} generated commands, seed ${seed}`, () => {
    console.log(`bash oracle: seed ${seed}`);
    const grammar = new ShellGrammar(new Random(seed));
    const { misses, asked, ran } = judged(Array.from({ length: GENERATED }, () => grammar.line()));
    expect(asked).toBeLessThan(GENERATED / 2);
    expect(ran).toBeGreaterThan(GENERATED / 2);
    expect(misses).toEqual([]);
  });

  test("commands of the corpora", () => {
    const commands = [
      ...commandsFile(),
      ...(corpusLines() ?? []).filter((_, at) => at % STRIDE === 0),
    ];
    if (commands.length === 0) console.warn(`skipped: no corpora beside ${CORPUS}`);
    expect(judged(commands).misses).toEqual([]);
  });
});
