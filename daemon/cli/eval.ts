/** `recinto eval`: runs the evaluation that lies beside the sources, on daemons of its own in a folder of its own. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { wholeNumberOf } from "./arguments.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = "test/eval/evaluation.ts";
const SUITES = ["A", "B", "C", "D", "closure", "visibility"];

export function evalCommand(): Command {
  const authority = new Command("authority")
    .description(
      "authority that ends, measured against comparators (docs/evaluation.md); needs root, an engine, and a checkout",
    )
    .option(
      "--suite <name>",
      `one of ${SUITES.join(", ")}; may be repeated; all when not said`,
      added,
    )
    .option("--comparator <name>", "only this one; may be repeated", added)
    .option("--episodes <n>", "only the first so many of each suite", counted("--episodes"))
    .option("--seed <n>", "of what varies", counted("--seed"))
    .option("--json", "one JSON object")
    .action((options: Options) => evaluate(options));
  return new Command("eval").description("measure what is claimed").addCommand(authority);
}

interface Options {
  readonly suite?: readonly string[];
  readonly comparator?: readonly string[];
  readonly episodes?: number;
  readonly seed?: number;
  readonly json?: true;
}

const counted = (option: string) => (text: string) => wholeNumberOf(option, text, 1);

function added(word: string, before: readonly string[] = []): readonly string[] {
  return [...before, word];
}

/** Its daemons let comparators do what recintod never would, so no part of them is in what is installed. */
async function evaluate({
  suite = [],
  comparator = [],
  episodes,
  seed,
  json,
}: Options): Promise<void> {
  const unknown = suite.find((name) => !SUITES.includes(name));
  if (unknown !== undefined) {
    throw new RecintoError(
      "bad-usage",
      `there is no suite ${unknown}: there are ${SUITES.join(", ")}`,
    );
  }
  if (!existsSync(CHECKOUT + PROGRAM)) {
    throw new RecintoError("not-found", "the evaluation is not part of an installation", {
      hint: "run ./scripts/recinto eval authority in a checkout",
    });
  }
  const words = [
    ...suite.flatMap((name) => ["--suite", name]),
    ...comparator.flatMap((name) => ["--comparator", name]),
    ...(episodes === undefined ? [] : ["--episodes", String(episodes)]),
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
    ...(json ? ["--json"] : []),
  ];
  const program = spawn(process.execPath, ["--import", "tsx", PROGRAM, ...words], {
    cwd: CHECKOUT,
    stdio: "inherit",
  });
  process.exitCode = await new Promise<number>((resolve, reject) => {
    program.once("error", reject);
    program.once("exit", (code) => resolve(code ?? 1));
  });
}
