/** `recinto agent`: starts an agent under its own user, so that it cannot approve what it asks for. */
import { existsSync, readFileSync } from "node:fs";
import { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { absoluteWorktree, targetOf, targetOptions } from "./agent-target.ts";
import { wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";

interface AgentOptions {
  readonly uid?: string;
  readonly rules?: string;
}

export function agentCommand(): Command {
  return targetOptions(new Command("agent"))
    .description("start an agent under its own user, in its worktree (root only)")
    .option("--uid <uid>", "the agent's user; the worktree's owner when absent")
    .option(
      "--rules <file>",
      "rules of this agent's sessions, above the project's; kept until cleared",
    )
    .passThroughOptions()
    .argument("<words...>", "after --: the program and its arguments")
    .addHelpText(
      "after",
      `
The program sees RECINTO_SOCKET, RECINTO_PROJECT and RECINTO_WORKTREE, which recinto run reads.

  recinto agent --project shop --worktree dev -- bash`,
    )
    .action(async (words: string[], options: AgentOptions, command: Command) => {
      const { uid, rules } = options;
      const asUser = await import("./as-user.ts");
      if (!asUser.isRoot()) {
        throw new RecintoError("not-permitted", "only root can start a program as another user", {
          hint: "sudo recinto agent …",
        });
      }
      const target = await targetOf(command);
      const worktree = await absoluteWorktree(command, target);
      const account =
        uid === undefined
          ? asUser.ownerOf(worktree)
          : asUser.accountOf(wholeNumberOf("--uid", uid, 1));
      warnOfSharedTerminal();
      if (rules !== undefined) {
        await giveRules(command, { project: target.project, worktree, uid: account.uid }, rules);
      }
      asUser.become(account);
      process.chdir(worktree);
      process.exitCode = await start(words, {
        ...process.env,
        ...(account.home === null ? {} : { HOME: account.home }),
        ...(account.name === null ? {} : { USER: account.name, LOGNAME: account.name }),
        RECINTO_SOCKET: target.socketPath,
        RECINTO_PROJECT: target.project,
        RECINTO_WORKTREE: worktree,
      });
    });
}

/** Where the kernel still lets a program type into its terminal (TIOCSTI), it could type into the admin's. */
function warnOfSharedTerminal(): void {
  const setting = "/proc/sys/dev/tty/legacy_tiocsti";
  if (!process.stdin.isTTY) return;
  if (existsSync(setting) && readFileSync(setting, "utf8").trim() === "0") return;
  process.stderr.write(
    "recinto: this kernel lets the agent type into this terminal: give it one of its own, or set dev.tty.legacy_tiocsti=0\n",
  );
}

/** While it is still root: what the agent starts cannot give itself any. */
async function giveRules(
  command: Command,
  { project, worktree, uid }: { project: string; worktree: string; uid: number },
  file: string,
): Promise<void> {
  const [{ readFileSync }, { give }] = await Promise.all([
    import("node:fs"),
    import("./session-rules.ts"),
  ]);
  const text = readFileSync(file, "utf8");
  await withAdmin(command, (admin) => give(admin, text, { project, worktree, uid: String(uid) }));
}

/** Resolves with its exit code. Signals of the terminal reach it by themselves; the others are passed on. */
async function start(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [{ spawn }, { constants }] = await Promise.all([
    import("node:child_process"),
    import("node:os"),
  ]);
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, { stdio: "inherit", env });
  process.on("SIGINT", () => {});
  for (const name of ["SIGTERM", "SIGHUP"] as const) process.on(name, () => child.kill(name));
  return await new Promise((resolve, reject) => {
    child.once("error", (cause) =>
      reject(
        new RecintoError("bad-usage", `cannot start ${program}: ${cause.message}`, {
          hint: "name a program that the agent's user may run",
          cause,
        }),
      ),
    );
    child.once("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
