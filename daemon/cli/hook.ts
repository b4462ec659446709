/** `recinto hook`: answers an agent that asks before it uses one of its own tools. */
import { Argument, Command } from "commander";
import { RecintoError } from "../errors.ts";
import { HOOK_ANSWER_MS, HOOK_INPUT_BYTES_MAX } from "../limits.ts";
import { absoluteWorktree, targetOf, targetOptions } from "./agent-target.ts";
import { fail, whereOf } from "./context.ts";
import {
  EXIT_BLOCKS,
  HOOK_AGENTS,
  type HookAgent,
  type HookCall,
  type HookDecision,
  hookAnswer,
  quoted,
  readHookCall,
} from "./hook-formats.ts";

export function hookCommand(): Command {
  return targetOptions(new Command("hook"))
    .description("answer an agent's PreToolUse hook by the policy: allow, ask or deny")
    .addArgument(new Argument("<agent>", "whose hook it is").choices([...HOOK_AGENTS]))
    .option("--sandbox", "let commands run in the sandbox: the answer replaces each by recinto run")
    .addHelpText(
      "after",
      `
Reads the agent's JSON on standard input and writes its answer. Judged are commands, and reading,
writing and searching files; about every other tool it asks. Without --sandbox a command passes only
if it does nothing but read, since the agent runs it on this machine. Whatever goes wrong asks or
denies, never allows: exit code 2 blocks, 0 comes with an answer, and there is no other.
The worktree is --worktree, else the one around the agent's folder. Setup: docs/integrations.md.`,
    )
    .action(async (agent: HookAgent, options: { sandbox?: boolean }, command: Command) => {
      try {
        const call = await inTime(readInput().then(readHookCall));
        const decision = await inTime(decide(command, call, options.sandbox ?? false)).catch(
          (error: unknown): HookDecision => ({
            decision: "ask",
            reason: `Recinto could not judge this: ${error instanceof Error ? error.message : error}`,
          }),
        );
        process.stdout.write(`${hookAnswer(agent, call, decision)}\n`);
        process.exitCode = 0;
      } catch (error) {
        fail(error, command);
        process.exitCode = EXIT_BLOCKS;
      }
      // What is still open (input without end, a daemon that does not answer) must not keep the agent waiting.
      process.stdin.destroy();
      setImmediate(() => process.exit());
    });
}

async function decide(command: Command, call: HookCall, sandbox: boolean): Promise<HookDecision> {
  const [{ judgeHookCall }, { agentClient }, asUser] = await Promise.all([
    import("./hook-judge.ts"),
    import("../api/client.ts"),
    import("./as-user.ts"),
  ]);
  if (command.opts<{ worktree?: string }>().worktree === undefined) {
    // A folder inside a worktree names it.
    command.setOptionValue("worktree", call.cwd);
  }
  const target = await targetOf(command);
  let { worktree } = target;
  if (asUser.isRoot()) {
    worktree = await absoluteWorktree(command, target);
    asUser.become(asUser.ownerOf(worktree));
  }
  const { runDir } = await whereOf(command);
  const self = [process.execPath, ...process.execArgv, process.argv[1] ?? "recinto"];
  const at = ["--run-dir", runDir, "run", "--project", target.project, "--worktree", worktree];
  const run = (text: string, cwd: string) =>
    [...self, ...at, "--cwd", cwd, "--", text].map(quoted).join(" ");
  const client = agentClient({ socketPath: target.socketPath });
  return judgeHookCall({ client, worktree, inSandbox: sandbox ? run : null }, call);
}

async function readInput(): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > HOOK_INPUT_BYTES_MAX) {
      throw new RecintoError(
        "body-too-large",
        `the agent handed over more than ${HOOK_INPUT_BYTES_MAX} bytes`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RecintoError("request-timeout", `not judged after ${HOOK_ANSWER_MS} ms`));
    }, HOOK_ANSWER_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
