/** `recinto mcp`: the session's tools for an agent that speaks MCP over standard input and output. */
import { Command } from "commander";
import { absoluteWorktree, targetOf, targetOptions } from "./agent-target.ts";
import { whereOf } from "./context.ts";

export function mcpCommand(): Command {
  return targetOptions(new Command("mcp"))
    .description("serve a worktree's tools over MCP (stdio), as its agent's")
    .addHelpText(
      "after",
      `
An agent starts it: {"command": "recinto", "args": ["mcp", "--project", "P", "--worktree", "W"]};
without --worktree it is the one around the folder in which it is started.
Tools: exec, read_file, write_file, list, status, request_grant, release_grant, and one for each live
grant; the list follows the session's authority. As root it becomes the worktree's owner first.`,
    )
    .action(async (_options, command: Command) => {
      const [{ serveMcp }, { agentClient }, asUser, { version }] = await Promise.all([
        import("../mcp/serve-mcp.ts"),
        import("../api/client.ts"),
        import("./as-user.ts"),
        import("./version.ts"),
      ]);
      if (command.opts<{ worktree?: string }>().worktree === undefined) {
        // Agents start it in the folder that they work in.
        command.setOptionValue("worktree", process.cwd());
      }
      let target = await targetOf(command);
      if (asUser.isRoot()) {
        target = { ...target, worktree: await absoluteWorktree(command, target) };
        asUser.become(asUser.ownerOf(target.worktree));
      }
      const { waitForStart } = await whereOf(command);
      await serveMcp({
        client: agentClient({ socketPath: target.socketPath, waitForStart }),
        worktree: target.worktree,
        version: version(),
        input: process.stdin,
        output: process.stdout,
      });
    });
}
