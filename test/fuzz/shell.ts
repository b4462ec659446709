/** The shell fuzzer: generated command lines in real bash, against the segments that were read. */

import { BashRecorder, whyNoOracle } from "./bash-recorder.ts";
import { Random } from "./random.ts";
import { ShellGrammar } from "./shell-grammar.ts";
import { compare, type Miss } from "./shell-oracle.ts";

const COUNT_DEFAULT = 20_000;
/** Commands of one container: enough to spread its start, few enough that a miss is seen early. */
const BATCH = 500;
const SHOWN_MAX = 20;

export function showMiss({ command, ran, segments }: Miss): string {
  return `${command}\n  ran ${JSON.stringify(ran.argv)} in ${ran.cwd}\n  read ${segments.join("\n       ")}`;
}

export function fuzzShell(options: { count: number | undefined; seed: number }): number {
  const why = whyNoOracle();
  if (why !== null) {
    console.error(`fuzz: shell: ${why}`);
    return 1;
  }
  const count = options.count ?? COUNT_DEFAULT;
  const grammar = new ShellGrammar(new Random(options.seed));
  const recorder = new BashRecorder();
  let [asked, ran, misses] = [0, 0, 0];
  try {
    for (let done = 0; done < count; done += BATCH) {
      const size = Math.min(BATCH, count - done);
      const commands = Array.from({ length: size }, () => grammar.line());
      const result = compare(recorder, commands);
      asked += result.asked;
      ran += result.ran;
      for (const miss of result.misses) {
        misses += 1;
        if (misses <= SHOWN_MAX) console.log(`miss: ${showMiss(miss)}`);
      }
    }
  } finally {
    recorder.close();
  }
  console.log(
    `fuzz: shell: ${count} commands, ${asked} asked, ${ran} programs ran, ${misses} not judged`,
  );
  return misses;
}
