/** Entry of the long fuzzers: `npm run fuzz -- [NAME] [--count N] [--seed S]`; the seed that finds something is printed. */

import { parseArgs } from "node:util";
import { fuzzHttp } from "./http.ts";
import { fuzzParsers } from "./parsers.ts";
import { fuzzRunner } from "./runner.ts";
import { fuzzSettings } from "./settings.ts";
import { fuzzShell } from "./shell.ts";

interface Options {
  readonly count: number | undefined;
  readonly seed: number;
}

/** Each returns the number of failures it printed. */
const FUZZERS: Readonly<Record<string, (options: Options) => number | Promise<number>>> = {
  http: fuzzHttp,
  runner: fuzzRunner,
  settings: fuzzSettings,
  shell: fuzzShell,
  parsers: fuzzParsers,
};

const { values, positionals } = parseArgs({
  options: { count: { type: "string" }, seed: { type: "string" } },
  allowPositionals: true,
});
const names = positionals.length === 0 ? Object.keys(FUZZERS) : positionals;
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
const count = values.count === undefined ? undefined : Number(values.count);
let failures = 0;
for (const name of names) {
  const fuzzer = FUZZERS[name];
  if (fuzzer === undefined) {
    console.error(`fuzz: no fuzzer ${name}; there are: ${Object.keys(FUZZERS).join(", ")}`);
    process.exit(64);
  }
  console.log(`fuzz: ${name} --seed ${seed}`);
  failures += await fuzzer({ count, seed });
}
process.exit(failures === 0 ? 0 : 1);
