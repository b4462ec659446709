/** Agents and approvers are told apart by what their process could do, not by what it says. */
import { expect, test } from "vitest";
import { adminWall } from "../../daemon/supervisor/accounts.ts";
import { couldApprove } from "../../daemon/supervisor/identity.ts";
import { agent } from "./world.ts";

const accounts = {
  passwd:
    "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/:/bin/sh\nbob:x:1001:500::/:/bin/sh\ncid:x:1002:1002::/:/bin/sh\n",
  group: "root:x:0:\nrecinto:x:500:ann\nother:x:600:cid\n",
};

test("root, the daemon's user and the admin group's members could open admin.sock", () => {
  const wall = adminWall({ adminGroup: "recinto", agentsShareApproverUid: false }, 77, accounts);
  expect(wall).toEqual({
    uids: new Set([0, 77, 1000, 1001]),
    gids: new Set([0, 500]),
    agentsShareApproverUid: false,
  });
});

test("without an admin group it is root and the daemon's user alone", () => {
  const wall = adminWall({ adminGroup: null, agentsShareApproverUid: true }, 0, accounts);
  expect(wall).toEqual({ uids: new Set([0]), gids: new Set([0]), agentsShareApproverUid: true });
});

test("a member counts by its user, and a process by any of its groups", () => {
  const wall = adminWall({ adminGroup: "recinto", agentsShareApproverUid: false }, 0, accounts);
  const as = (uid: number, gid: number, groups: readonly number[] = []) =>
    couldApprove({ ...agent(), uid, gid, groups }, wall);
  expect(as(1000, 1000)).toBe(true);
  expect(as(1002, 1002)).toBe(false);
  expect(as(1002, 500)).toBe(true);
  expect(as(1002, 1002, [600, 500])).toBe(true);
  expect(as(1002, 1002, [600])).toBe(false);
});
