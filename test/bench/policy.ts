/** Benchmark of the decision over 12,600 real one-liners, and of text → segments beside tree-sitter-bash on the same lines. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Language, Parser } from "web-tree-sitter";
import { inputFor } from "../policy/judged.ts";

/** Whole passes over the corpus; the first warms the compiler up and is thrown away. */
const PASSES = 4;

const CORPORA =
  process.env.RECINTO_CORPORA ?? fileURLToPath(new URL("../../../shared/corpora", import.meta.url));

export interface PolicyFigures {
  readonly lines: number;
  /** The whole decision, text to verdict: for each line its fastest pass, so that the machine's pauses do not count. */
  readonly p50_us: number;
  readonly p99_us: number;
  readonly max_us: number;
  readonly per_second: number;
  readonly understand_p50_us: number;
  readonly tree_sitter_p50_us: number;
  /** Median over lines of ours ÷ theirs; below 1 is faster. */
  readonly vs_tree_sitter: number;
  readonly allowed: number;
}

/** The code that is shipped: what runs TypeScript directly wraps every function, and that shows at this scale. */
async function built() {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync("./scripts/build", ["--quiet"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  type Evaluate = typeof import("../../daemon/policy/evaluate.ts");
  type Understand = typeof import("../../daemon/policy/shell/understand.ts");
  const { evaluate }: Evaluate = await import(`${root}dist/policy/evaluate.js`);
  const { understand }: Understand = await import(`${root}dist/policy/shell/understand.js`);
  return { evaluate, understand };
}

export async function run(): Promise<PolicyFigures> {
  const { evaluate, understand } = await built();
  const file = `${CORPORA}/nl2bash.txt`;
  if (!existsSync(file)) throw new Error(`no corpus at ${file}: set RECINTO_CORPORA`);
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const { request: _, ...rest } = inputFor("");
  const cwd = rest.settings.worktree;
  let allowed = 0;
  const whole = fastest(lines, (command) => {
    if (evaluate({ ...rest, request: { command, cwd } }).verdict === "allow") allowed++;
  });
  const context = { cwd, home: rest.settings.home, env: {} };
  const ours = fastest(lines, (command) => void understand(command, context));
  const parser = await treeSitter();
  const theirs = fastest(lines, (command) => parser.parse(command)?.delete());
  const seconds = whole.reduce((sum, us) => sum + us, 0) / 1e6;
  const ratios = ours.map((us, line) => us / (theirs[line] as number));
  return {
    lines: lines.length,
    p50_us: quantile(whole, 0.5),
    p99_us: quantile(whole, 0.99),
    max_us: quantile(whole, 1),
    per_second: Math.round(lines.length / seconds),
    understand_p50_us: quantile(ours, 0.5),
    tree_sitter_p50_us: quantile(theirs, 0.5),
    vs_tree_sitter: quantile(ratios, 0.5),
    allowed: Math.round(allowed / PASSES),
  };
}

function fastest(lines: readonly string[], work: (line: string) => void): number[] {
  const best = lines.map(() => Number.POSITIVE_INFINITY);
  for (let pass = 0; pass < PASSES; pass++) {
    lines.forEach((line, index) => {
      const start = process.hrtime.bigint();
      work(line);
      const us = Number(process.hrtime.bigint() - start) / 1_000;
      if (pass > 0 && us < (best[index] as number)) best[index] = us;
    });
  }
  return best;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.floor(q * sorted.length));
  return Math.round((sorted[at] as number) * 100) / 100;
}

async function treeSitter(): Promise<Parser> {
  await Parser.init();
  const require = createRequire(import.meta.url);
  const wasm = require.resolve("tree-sitter-bash/tree-sitter-bash.wasm");
  const parser = new Parser();
  parser.setLanguage(await Language.load(readFileSync(wasm)));
  return parser;
}
