/** Which socket and which worktree `run` and `agent` mean. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { whereOf, withAdmin } from "./context.ts";

export interface AgentTarget {
  readonly socketPath: string;
  readonly project: string;
  /** Absolute where it could be told on this side; else as it was given, for the daemon to find. */
  readonly worktree: string;
}

/** The options that name a target, with the variables that `recinto agent` sets for what it starts. */
export function targetOptions(command: Command): Command {
  return command
    .option(
      "--project <id>",
      "the project (RECINTO_PROJECT)",
      process.env.RECINTO_PROJECT || undefined,
    )
    .option(
      "--worktree <folder>",
      "the worktree: a path, a path below the project's root, or its last name (RECINTO_WORKTREE)",
      process.env.RECINTO_WORKTREE || undefined,
    );
}

/** Throws `bad-usage` when project or worktree is missing. */
export async function targetOf(command: Command): Promise<AgentTarget> {
  const { project, worktree } = command.opts<{ project?: string; worktree?: string }>();
  if (project === undefined) throw missing("--project P");
  if (worktree === undefined) throw missing("--worktree W");
  // It becomes a part of a path here.
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(project)) {
    throw new RecintoError("unknown-project", `${JSON.stringify(project)} is not a project's id`);
  }
  const { runDir } = await whereOf(command);
  const socketPath = process.env.RECINTO_SOCKET ?? join(runDir, "projects", project, "agent.sock");
  // A bare word is the name of a worktree wherever one stands: /dev is not what `--worktree dev` means.
  const path = /^\.\.?$|\//.test(worktree) ? resolve(worktree) : null;
  return { socketPath, project, worktree: path !== null && isFolder(path) ? path : worktree };
}

/** For root, who must know the worktree's owner before it connects: asks over the admin socket what a name means. */
export async function absoluteWorktree(command: Command, target: AgentTarget): Promise<string> {
  const isPath = target.worktree.startsWith("/");
  if (isPath && !belongsToRoot(target.worktree)) return target.worktree;
  const [project, { worktreeOf }] = await Promise.all([
    withAdmin(command, (admin) => admin.project(target.project)),
    import("../settings/worktrees.ts"),
  ]);
  const worktree = worktreeOf(project, target.worktree);
  // A folder of root's is refused later on with the word to give it away: that is said of worktrees, never of /etc.
  return isPath ? target.worktree : worktree;
}

function belongsToRoot(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === 0;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function missing(option: string): RecintoError {
  return new RecintoError("bad-usage", `${option} is missing`);
}
