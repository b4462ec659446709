/** Becoming the agent's user: root could approve, so that root itself is never an agent. */
import { readFileSync, statSync } from "node:fs";
import { RecintoError } from "../errors.ts";

export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** null: the machine has no user of this number. */
  readonly name: string | null;
  readonly home: string | null;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The owner of a folder. Throws `worktree-refused` for root's. */
export function ownerOf(folder: string): Account {
  const { uid, gid } = statSync(folder);
  if (uid === 0) {
    throw new RecintoError("worktree-refused", `${folder} belongs to root`);
  }
  return { ...accountOf(uid), gid };
}

export function accountOf(uid: number): Account {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , id, gid, , home] = line.split(":");
    if (Number(id) === uid && id !== undefined && id !== "") {
      return { uid, gid: Number(gid), name: name ?? null, home: home ?? null };
    }
  }
  return { uid, gid: uid, name: null, home: null };
}

/** Node has it since 0.9, its type package does not. */
type WithInitgroups = NodeJS.Process & { initgroups(user: string, extraGroup: number): void };

/** Gives up root for good: groups first, since a plain user can change neither. */
export function become(account: Account): void {
  if (account.name === null) process.setgroups?.([account.gid]);
  else (process as WithInitgroups).initgroups(account.name, account.gid);
  process.setgid?.(account.gid);
  process.setuid?.(account.uid);
}
