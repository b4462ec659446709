/** What keeps commands from running in a project's worktrees, and what mends it. */
import { lstatSync } from "node:fs";
import type { Project } from "../settings/types.ts";
import { listWorktrees } from "../settings/worktrees.ts";

export interface WorktreeTrouble {
  readonly found: string;
  readonly fix: string;
}

/** Worktrees of root's: nothing runs in them, and no group but root's could use the agent socket. null: none is. */
export function rootOwned(project: Project): WorktreeTrouble | null {
  const owned = listWorktrees(project).filter(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.uid === 0,
  );
  if (owned.length === 0) return null;
  const paths = owned.map((path) => (/^[\w./+-]+$/.test(path) ? path : JSON.stringify(path)));
  const group = typeof project.agentGroup === "string" ? project.agentGroup : "";
  return {
    found: `${owned.join(", ")}: owned by root, so no command runs there`,
    fix: `chown -R AGENT:${group} ${paths.join(" ")}      (AGENT: the user that the agent runs as)`,
  };
}

/** null: the project has worktrees. */
export function noWorktree(project: Project): WorktreeTrouble | null {
  const { root, worktrees } = project;
  if (listWorktrees(project).length > 0) return null;
  return {
    found: `no folder below ${root} matches --worktrees ${worktrees} yet`,
    fix: "make one, or remove the project and add it with another glob (. is the root itself)",
  };
}
