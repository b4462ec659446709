/** What people on the admin socket may do, where an admin does not want all of them to do everything. */
import { RecintoError } from "../errors.ts";
import type { RoleAssignment, RoleName } from "../settings/types.ts";
import type { Caller } from "./types.ts";

/** To look; to answer questions; to move tasks on (contracts, phases, grants); everything. */
export type Right = "read" | "answer" | "orchestrate" | "administer";

const RIGHTS: Readonly<Record<RoleName, ReadonlySet<Right>>> = {
  admin: new Set(["read", "answer", "orchestrate", "administer"]),
  approver: new Set(["read", "answer"]),
  orchestrator: new Set(["read", "orchestrate"]),
  auditor: new Set(["read"]),
};

/** The roles of one caller. */
export class Rights {
  readonly #roles: readonly RoleAssignment[];

  constructor(roles: readonly RoleAssignment[]) {
    this.#roles = roles;
  }

  /** `project` null: about no project in particular, and so about all of them. */
  may(right: Right, project: string | null): boolean {
    return this.#roles.some(
      ({ role, projects }) =>
        RIGHTS[role].has(right) &&
        (projects === undefined || (project !== null && projects.includes(project))),
    );
  }

  /** About some project at least. */
  maySomewhere(right: Right): boolean {
    return this.#roles.some(({ role }) => RIGHTS[role].has(right));
  }

  toString(): string {
    const named = this.#roles.map(({ role, projects }) =>
      projects === undefined ? role : `${role} of ${projects.join(", ")}`,
    );
    return named.length === 0 ? "no role" : named.join(" and ");
  }
}

/** Who calls, as the account files know them. */
export interface Names {
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

/** undefined: everything, as for root, and for everybody where nobody has been given a role. */
export function rightsOf(
  uid: number,
  roles: readonly RoleAssignment[],
  daemonUid: number,
  names: () => Names,
): Rights | undefined {
  if (roles.length === 0 || uid === 0 || uid === daemonUid) return undefined;
  const { users, groups } = names();
  return new Rights(
    roles.filter(
      (each) =>
        each.users.some((user) => users.includes(user)) ||
        each.groups.some((group) => groups.includes(group)),
    ),
  );
}

/** Whether this caller may see what belongs to a project: an admin without limits all, an agent nothing by this. */
export function mayLookAt({ socket }: Caller, project: string): boolean {
  return socket.kind === "admin" && (socket.rights?.may("read", project) ?? true);
}

/** Throws `not-permitted` for a caller on the admin socket whose roles do not reach so far. */
export function requireRight({ socket }: Caller, right: Right, project: string): void {
  if (socket.kind !== "admin" || (socket.rights?.may(right, project) ?? true)) return;
  throw beyond(socket.rights as Rights, right);
}

export function beyond(rights: Rights, right: Right): RecintoError {
  return new RecintoError(
    "not-permitted",
    `${rights} may not do this: it takes the right to ${right}`,
    {
      hint: rights.maySomewhere(right)
        ? "name one of your projects"
        : "ask an admin, who gives roles in the daemon's config",
    },
  );
}
