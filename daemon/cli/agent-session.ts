/** An agent's session on the worktree that the options name, for commands that do one thing with it. */
import type { Command } from "commander";
import type { AgentClient } from "../api/client.ts";
import { absoluteWorktree, targetOf } from "./agent-target.ts";
import { whereOf } from "./context.ts";

/** As root it becomes the worktree's owner first, since root could approve what it asks for. */
export async function withAgent<T>(
  command: Command,
  use: (agent: AgentClient, session: string) => Promise<T>,
): Promise<T> {
  const [{ agentClient }, asUser] = await Promise.all([
    import("../api/client.ts"),
    import("./as-user.ts"),
  ]);
  let target = await targetOf(command);
  if (asUser.isRoot()) {
    target = { ...target, worktree: await absoluteWorktree(command, target) };
    asUser.become(asUser.ownerOf(target.worktree));
  }
  const { waitForStart } = await whereOf(command);
  const agent = agentClient({ socketPath: target.socketPath, waitForStart });
  try {
    const { session } = await agent.openSession(target.worktree);
    return await use(agent, session.id);
  } finally {
    agent.close();
  }
}
