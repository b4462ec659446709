/** Which users and groups could open admin.sock, from the machine's account files. */
import { readFileSync, statSync } from "node:fs";
import type { AdminWall } from "./identity.ts";
import type { Names } from "./roles.ts";
import type { Caller } from "./types.ts";

export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
}

export function readAccounts(): AccountFiles {
  return {
    passwd: readFileSync("/etc/passwd", "utf8"),
    group: readFileSync("/etc/group", "utf8"),
  };
}

/**
 * The same wall as long as the account files are the same: it is asked for with every command, and reading them costs
 * as much as judging one.
 */
export function watchedWall(
  config: Parameters<typeof adminWall>[0],
  daemonUid: number,
): () => AdminWall {
  let known = { tag: "", wall: null as AdminWall | null };
  return () => {
    const stats = ["/etc/passwd", "/etc/group"].map((file) => statSync(file));
    const tag = stats
      .map(({ ino, size, mtimeMs, ctimeMs }) => [ino, size, mtimeMs, ctimeMs])
      .join(":");
    if (known.wall === null || known.tag !== tag) {
      known = { tag, wall: adminWall(config, daemonUid, readAccounts()) };
    }
    return known.wall as AdminWall;
  };
}

/**
 * The wall for an admin group given by name; null: root and the daemon's user alone. A user who is listed as a member
 * counts even while the calling process is not in the group, since `sg` would put it there.
 */
export function adminWall(
  config: { readonly adminGroup: string | null; readonly agentsShareApproverUid: boolean },
  daemonUid: number,
  accounts: AccountFiles,
): AdminWall {
  const uids = new Set([0, daemonUid]);
  const gids = new Set([0]);
  const users = records(accounts.passwd);
  for (const [name, , gidText, members = ""] of records(accounts.group)) {
    if (name !== config.adminGroup) continue;
    const gid = Number(gidText);
    gids.add(gid);
    const names = new Set(members.split(","));
    for (const [user = "", , uid, primary] of users) {
      if (names.has(user) || Number(primary) === gid) uids.add(Number(uid));
    }
  }
  return { uids, gids, agentsShareApproverUid: config.agentsShareApproverUid };
}

/** What the user and groups of a caller are called; a user listed as a member counts even before a new login. */
export function namesOf(
  { uid, gid, groups }: Pick<Caller, "uid" | "gid" | "groups">,
  accounts: AccountFiles,
): Names {
  const users = records(accounts.passwd).flatMap(([name = "", , id]) =>
    id === String(uid) ? [name] : [],
  );
  const gids = new Set([gid, ...groups].map(String));
  const named = records(accounts.group).flatMap(([name = "", , id = "", members = ""]) => {
    const member = members.split(",").some((user) => users.includes(user));
    return member || gids.has(id) ? [name] : [];
  });
  return { users, groups: named };
}

function records(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(":"));
}
