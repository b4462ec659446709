/** `recinto hazards`, `sandboxes` and `health`: how things stand in the worktrees, the engine and the daemon. */
import { Command } from "commander";
import { withAdmin } from "./context.ts";
import { localTime, print, printJson, table } from "./terminal-text.ts";

export function hazardsCommand(): Command {
  const accept = new Command("accept")
    .description("let agents read through one link, as long as it leads where it does now")
    .argument("<id>", "as recinto hazards lists it")
    .action((id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        const { path, target, resolved } = await admin.acceptHazard(id);
        print(`accepted: ${path} → ${target} (${resolved ?? "nothing is there"})\n`);
      }),
    );
  const forget = new Command("forget")
    .description("take that back: commands through the link ask again")
    .argument("<id>")
    .action((id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        print(`forgotten: ${(await admin.forgetHazard(id)).forgotten}\n`);
      }),
    );
  return new Command("hazards")
    .description("what in the worktrees could hurt the host")
    .addCommand(accept)
    .addCommand(forget)
    .argument("[project]", "one project; all of them when absent")
    .option("--json", "as JSON")
    .action((project: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const worktrees = await admin.hazards(project);
        if (json) return printJson(worktrees);
        const rows = worktrees.flatMap(({ hazards }) =>
          hazards.map((one) => [
            one.id,
            one.acceptedAt === undefined ? "" : "accepted",
            localTime(one.foundAt),
            one.target === undefined ? one.path : `${one.path} → ${one.target}`,
            one.reason,
          ]),
        );
        if (rows.length > 0) print(table(["ID", "", "FOUND", "PATH", "REASON"], rows));
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
