/** Who may be an agent and who may approve: the two must not be the same process. */
import { RecintoError } from "../errors.ts";
import type { Caller } from "./types.ts";

/** Who could open admin.sock, whatever socket they came over. */
export interface AdminWall {
  /** Root, the daemon's own user, members of the admin group. */
  readonly uids: ReadonlySet<number>;
  /** Group root and the admin group. */
  readonly gids: ReadonlySet<number>;
  /** The admin's word that agents may run as a user that approves. */
  readonly agentsShareApproverUid: boolean;
}

/** Whether this process could approve what it asks for. */
export function couldApprove(caller: Caller, wall: AdminWall): boolean {
  return (
    wall.uids.has(caller.uid) ||
    [caller.gid, ...caller.groups].some((group) => wall.gids.has(group))
  );
}

/** Throws `approver-cannot-be-agent`. */
export function refuseApproverAsAgent(caller: Caller, wall: AdminWall): void {
  if (wall.agentsShareApproverUid || !couldApprove(caller, wall)) return;
  throw new RecintoError(
    "approver-cannot-be-agent",
    `uid ${caller.uid} could open the admin socket and so approve its own commands`,
  );
}

/** Throws `not-permitted` unless the caller came over the admin socket. */
export function requireAdmin(caller: Caller): void {
  if (caller.socket.kind === "admin") return;
  throw new RecintoError("not-permitted", "this is for the admin socket", {
    hint: "use the admin socket, as root or a member of the admin group",
  });
}

/**
 * Throws `not-permitted` off the admin socket, `agent-cannot-approve` when the caller's user is one that agents of this
 * project use.
 */
export function refuseAgentAsApprover(
  caller: Caller,
  agentUids: ReadonlySet<number>,
  wall: AdminWall,
): void {
  requireAdmin(caller);
  if (wall.agentsShareApproverUid || !agentUids.has(caller.uid)) return;
  throw new RecintoError(
    "agent-cannot-approve",
    `agents of this project run as uid ${caller.uid}, so it cannot answer for a person`,
  );
}

/** Whether a question is one that this caller may know of: an agent its own, an admin all. */
export function sees(
  { socket, uid }: Caller,
  question: { readonly project: string; readonly uid: number },
): boolean {
  if (socket.kind === "admin") return socket.rights?.may("read", question.project) ?? true;
  return question.project === socket.project && question.uid === uid;
}
