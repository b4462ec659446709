/** Which groups may connect to which socket: the admin group by name, an agent's by project or by who owns its worktrees. */
import { readFileSync, statSync } from "node:fs";
import { RecintoError } from "../errors.ts";
import type { Project } from "../settings/types.ts";

/** The number of a group given by name or number. Throws `bad-config` for a name that the machine does not know. */
export function groupId(group: string | number): number {
  if (typeof group === "number") return group;
  for (const line of readFileSync("/etc/group", "utf8").split("\n")) {
    const [name, , gid] = line.split(":");
    if (name === group) return Number(gid);
  }
  throw new RecintoError("bad-config", `there is no group ${JSON.stringify(group)} in /etc/group`, {
    hint: `make it (groupadd ${group}), or name another one`,
  });
}

/** For a project that is being added. Throws `project-refused` for an agent group that the machine does not know. */
export function requireAgentGroup({ id, agentGroup }: Project): void {
  if (agentGroup === null) return;
  try {
    groupId(agentGroup);
  } catch (cause) {
    if (!(cause instanceof RecintoError)) throw cause;
    throw new RecintoError("project-refused", `project ${id}: ${cause.message}`, {
      hint: cause.hint,
      cause,
    });
  }
}

/**
 * The group of a project's agent socket: the project's own choice, else the group that owns its worktrees, else that of
 * its root. null, when that would be root's: group root is a wall between agents and approvers, not a way in.
 */
export function agentGroupId(project: Project, worktrees: readonly string[]): number | null {
  if (project.agentGroup !== null) return groupId(project.agentGroup);
  const owners = new Set(worktrees.map((path) => statSync(path).gid));
  owners.delete(0);
  const [only, second] = owners;
  const gid = only !== undefined && second === undefined ? only : statSync(project.root).gid;
  return gid === 0 ? null : gid;
}
