/** `recinto run`: a command in its sandbox that behaves like the command itself. */
import { Command } from "commander";
import { absoluteWorktree, targetOf, targetOptions } from "./agent-target.ts";
import { wholeNumberOf } from "./arguments.ts";
import { whereOf } from "./context.ts";

export function runCommand(): Command {
  return targetOptions(new Command("run"))
    .description("run a command in a worktree's sandbox, as its agent would")
    .option("-t, --tty", "on a terminal: this one, raw while it runs")
    .option("-i, --interactive", "pass standard input through even from a terminal, as --stdin")
    .option("-d, --detach", "print the id of its job once it runs, and leave it running")
    .option("--timeout <seconds>", "wall-clock limit of the command")
    .option("--idle-timeout <seconds>", "end it when it is silent for so long")
    .option("--wait-for <seconds>", "longest wait for a person; 0: do not ask anybody")
    .option("--cwd <folder>", "working directory; the worktree when absent")
    .option("--grant <handle>", "the grant it acts on; picked by the daemon when absent")
    .option("--json", "print every event as one JSON object a line instead of the streams")
    .option("--stdin", "pass standard input through even from a terminal")
    .option("--no-stdin", "give the command an empty standard input")
    .passThroughOptions()
    .argument("<words...>", "after --: one word is a command line; several are quoted into one")
    .addHelpText(
      "after",
      `
Streams, standard input and exit code are the command's own. 126: refused, with the reason on
stderr; 124: over its time; 128+N: ended by signal N. Signals go to the command, a second one of
the same kind ends it. As root it becomes the worktree's owner first,
since root could approve what it asks for.

  recinto run --project shop --worktree dev -- 'git status && npm test'
  recinto run --project shop --worktree dev -- grep -rn "two words" src
  recinto run --project shop --worktree dev -it -- vim src/main.c
  recinto run --project shop --worktree dev --detach -- npm run dev`,
    )
    .action(async (words: string[], _options, command: Command) => {
      const options = command.opts<{
        tty?: boolean;
        interactive?: boolean;
        detach?: boolean;
        timeout?: string;
        idleTimeout?: string;
        waitFor?: string;
        cwd?: string;
        grant?: string;
        json?: boolean;
        stdin?: boolean;
      }>();
      const limits = {
        ...seconds("timeoutMs", "--timeout", options.timeout, 1),
        ...seconds("idleTimeoutMs", "--idle-timeout", options.idleTimeout, 1),
        ...seconds("waitMs", "--wait-for", options.waitFor, 0),
      };
      const [{ runInSandbox }, { default: shellQuote }, asUser] = await Promise.all([
        import("./run-session.ts"),
        import("shell-quote"),
        import("./as-user.ts"),
      ]);
      let target = await targetOf(command);
      if (asUser.isRoot()) {
        target = { ...target, worktree: await absoluteWorktree(command, target) };
        asUser.become(asUser.ownerOf(target.worktree));
      }
      const [only] = words;
      const { tty = false, interactive = false, detach = false } = options;
      process.exitCode = await runInSandbox({
        socketPath: target.socketPath,
        waitForStart: (await whereOf(command)).waitForStart,
        worktree: target.worktree,
        request: {
          command: words.length === 1 && only !== undefined ? only : shellQuote.quote(words),
          ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
          ...(options.grant === undefined ? {} : { handle: options.grant }),
          ...limits,
        },
        json: options.json ?? false,
        stdin: options.stdin ?? (interactive || "auto"),
        tty,
        detach,
      });
    });
}

function seconds<Key extends string>(
  key: Key,
  option: string,
  text: string | undefined,
  min: number,
): { [K in Key]?: number } {
  if (text === undefined) return {};
  return { [key]: wholeNumberOf(option, text, min) * 1000 } as { [K in Key]: number };
}
