/** `recinto hazards`, `sandboxes` and `health`: how things stand in the worktrees, the engine and the daemon. */
import { Command } from "commander";
import { withAdmin } from "./context.ts";
import { localTime, print, printJson, table } from "./terminal-text.ts";

export function hazardsCommand(): Command {
  return new Command("hazards")
    .description("what in the worktrees could hurt the host")
    .argument("[project]", "one project; all of them when absent")
    .option("--json", "as JSON")
    .action((project: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const worktrees = await admin.hazards(project);
        if (json) return printJson(worktrees);
        const rows = worktrees.flatMap(({ hazards }) =>
          hazards.map((one) => [
            one.kind,
            localTime(one.foundAt),
            one.target === undefined ? one.path : `${one.path} → ${one.target}`,
            one.reason,
          ]),
        );
        if (rows.length > 0) print(table(["KIND", "FOUND", "PATH", "REASON"], rows));
        else print(`no hazards in ${worktrees.length} watched worktrees\n`);
        for (const { worktree, watcher } of worktrees) {
          if (watcher.degraded !== null) print(`${worktree}: ${watcher.degraded}\n`);
        }
      }),
    );
}

export function sandboxesCommand(): Command {
  return new Command("sandboxes")
    .description("the containers of all worktrees")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const sandboxes = await admin.sandboxes();
        if (json) return printJson(sandboxes);
        if (sandboxes.length === 0) return print("no sandboxes: the first command makes one\n");
        const rows = sandboxes.map((one) => [
          one.id.slice(0, 12),
          one.state,
          one.project,
          one.worktree,
        ]);
        print(table(["SANDBOX", "STATE", "PROJECT", "WORKTREE"], rows));
      }),
    );
}

export function healthCommand(): Command {
  return new Command("health")
    .description("whether engine and journal work; exit 0 only when they do")
    .action((_options, command: Command) =>
      withAdmin(command, async (admin) => {
        const health = await admin.health();
        printJson(health);
        if (!health.ok) process.exitCode = 69;
      }),
    );
}
