/** `recinto policy`: `check` and `explain` judge commands here and now, without a daemon and without Docker. */
import { readFileSync, statSync } from "node:fs";
import { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { BUILTIN_RULES } from "../policy/builtin-rules.ts";
import { NO_DENIALS } from "../policy/denials.ts";
import { evaluate } from "../policy/evaluate.ts";
import { explain } from "../policy/explain.ts";
import { absolute, normalise } from "../policy/paths.ts";
import { mergeRuleFiles } from "../policy/rule-files.ts";
import type { EvaluateInput, Facts, Verdict } from "../policy/types.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../settings/profiles.ts";
import { SANDBOX_HOME, SANDBOX_SCRATCH } from "../settings/sandbox-home.ts";
import type { Profile } from "../settings/types.ts";
import { EveryName, type GivenFacts, givenFacts, judgeOnDisk, worktreeOf } from "./policy-facts.ts";
import { distrustCommand, filesCommand, trustCommand } from "./policy-files.ts";
import { importCommand } from "./policy-import.ts";
import { replayCommand } from "./policy-replay.ts";

interface CheckOptions {
  readonly root?: string;
  readonly cwd?: string;
  readonly profile: string;
  readonly profilesDir?: string;
  readonly json?: boolean;
  readonly batch?: string;
}

export function policyCommand(): Command {
  const policy = new Command("policy").description("judge commands by the policy");
  policy
    .command("check")
    .description("say what the policy makes of a command; no daemon needed")
    .argument("[command...]", "the command, after --")
    .option("--root <folder>", "project root (default: the current folder)")
    .option("--cwd <folder>", "where the command starts (default: the root)")
    .option("--profile <name>", "profile to judge by", "default")
    .option("--profiles-dir <folder>", "look for profiles here first")
    .option(
      "--batch <file>",
      "judge JSON lines {id, command, cwd, facts?} from FILE, or - for stdin",
    )
    .option("--json", "print the verdict as one JSON object")
    .action(async (words: string[], options: CheckOptions) => {
      if (options.batch !== undefined) return checkBatch(options.batch, options);
      const verdict = judgeOne(await commandText(words), options, profileOf(options));
      print(options.json === true ? JSON.stringify(verdict) : summary(verdict));
    });
  policy
    .command("explain")
    .description("print the walk down the ladder for a command")
    .argument("<command...>", "the command, after --")
    .option("--root <folder>", "project root (default: the current folder)")
    .option("--cwd <folder>", "where the command starts (default: the root)")
    .option("--profile <name>", "profile to judge by", "default")
    .option("--profiles-dir <folder>", "look for profiles here first")
    .action(async (words: string[], options: CheckOptions) => {
      const verdict = judgeOne(await commandText(words), options, profileOf(options));
      print(explain(verdict).join("\n"));
    });
  return policy
    .addCommand(filesCommand())
    .addCommand(trustCommand())
    .addCommand(distrustCommand())
    .addCommand(importCommand())
    .addCommand(replayCommand());
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function summary({ verdict, reason, instead }: Verdict): string {
  return [`${verdict}: ${reason}`, ...(instead === undefined ? [] : [`instead: ${instead}`])].join(
    "\n",
  );
}

/** One word is the command as it is; several are quoted back into a line. */
async function commandText(words: readonly string[]): Promise<string> {
  const [only] = words;
  if (only === undefined) {
    throw new RecintoError("bad-request", "no command to judge", {
      hint: "recinto policy check --root R --cwd D -- 'CMD'",
    });
  }
  if (words.length === 1) return only;
  const { quote } = await import("shell-quote");
  return quote(words);
}

function profileOf({ profile, profilesDir }: CheckOptions): Profile {
  const own = profilesDir === undefined ? [] : [profilesDir];
  return loadProfile(profile, [...own, SHIPPED_PROFILES_DIR]);
}

function rootOf({ root }: CheckOptions): string {
  return absolute(root ?? process.cwd(), process.cwd());
}

function judgeOne(command: string, options: CheckOptions, profile: Profile): Verdict {
  const root = rootOf(options);
  // A misspelt root would put every path out of scope, and the verdict would be about nothing.
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new RecintoError(
      "bad-usage",
      `--root ${JSON.stringify(options.root)}: ${root} is no folder`,
      {
        hint: "name the project's root; only --batch judges for roots that are not here",
      },
    );
  }
  const cwd = absolute(options.cwd ?? root, process.cwd());
  return judgeOnDisk(evaluate, inputOf(command, cwd, root, profile, {}));
}

function inputOf(
  command: string,
  cwd: string,
  root: string,
  { name, policy, readable }: Profile,
  facts: Facts,
): EvaluateInput {
  const { rules, ...rest } = policy;
  return {
    request: { command, cwd },
    settings: {
      ...rest,
      profile: name,
      root,
      worktree: worktreeOf(cwd, root),
      readable,
      scratch: SANDBOX_SCRATCH,
      home: SANDBOX_HOME,
    },
    facts,
    rules: mergeRuleFiles([
      { source: "admin", rules, merge: true },
      { source: "builtin", rules: BUILTIN_RULES, merge: true },
    ]),
    authority: { grants: [] },
    denials: NO_DENIALS,
  };
}

interface BatchLine {
  readonly id: unknown;
  readonly command: string;
  readonly cwd: string;
  readonly facts: GivenFacts;
}

/** Exit 0 when every line was judged; a line that cannot be read is answered with an error and makes it 65. */
function checkBatch(file: string, options: CheckOptions): void {
  const profile = profileOf(options);
  const root = rootOf(options);
  const lines = readFileSync(file === "-" ? 0 : file, "utf8").split("\n");
  const out: string[] = [];
  lines.forEach((text, index) => {
    if (text.trim() === "") return;
    const line = readLine(text, index + 1, root);
    if (line instanceof RecintoError) {
      process.exitCode = line.exitCode;
      out.push(JSON.stringify({ id: null, ...line.toJSON() }));
      return;
    }
    const { id, command, cwd, facts } = line;
    // A batch has no worktree to look at: what it does not say about branch and programs is taken as harmless.
    const assumed: Facts = { branch: null, localBins: new EveryName(), ...givenFacts(facts) };
    const verdict = judgeOnDisk(evaluate, inputOf(command, cwd, root, profile, assumed));
    out.push(JSON.stringify({ id, ...verdict }));
  });
  if (out.length > 0) print(out.join("\n"));
}

function readLine(text: string, number: number, root: string): BatchLine | RecintoError {
  const fault = (message: string) =>
    new RecintoError("bad-request", `line ${number}: ${message}`, {
      hint: 'each line is {"id", "command", "cwd", "facts"?}',
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault(`not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null) return fault("must be an object");
  const { id, command, cwd = root, facts = {} } = value as Record<string, unknown>;
  if (typeof command !== "string") return fault("command must be text");
  if (typeof cwd !== "string" || !cwd.startsWith("/")) return fault("cwd must be an absolute path");
  const wrong = wrongFacts(facts);
  if (wrong !== null) return fault(wrong);
  return { id, command, cwd: normalise(cwd), facts: facts as GivenFacts };
}

function wrongFacts(facts: unknown): string | null {
  if (typeof facts !== "object" || facts === null) return "facts must be an object";
  const { branch, realpath, localBins, escapingLinks } = facts as Record<string, unknown>;
  if (branch !== undefined && branch !== null && typeof branch !== "string") {
    return "facts.branch must be text or null";
  }
  const texts = (value: unknown): boolean =>
    Array.isArray(value) && value.every((each) => typeof each === "string");
  if (localBins !== undefined && !texts(localBins))
    return "facts.localBins must be a list of names";
  if (escapingLinks !== undefined && !texts(escapingLinks)) {
    return "facts.escapingLinks must be a list of paths";
  }
  if (realpath === undefined) return null;
  const targets = typeof realpath === "object" && realpath !== null ? Object.values(realpath) : [0];
  return targets.every((target) => target === null || typeof target === "string")
    ? null
    : "facts.realpath must map paths to paths or null";
}
