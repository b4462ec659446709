/** Acting with the rights of a worktree's owner: the daemon is root, what an agent asks of it must not be. */
import koffi from "koffi";
import { RecintoError } from "../../errors.ts";
import { numberOf } from "./system-calls.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const libc = koffi.load(null);
// These two are of the calling thread alone, which is why nothing here may wait or hand work to another one.
const setFsUid = libc.func("int setfsuid(unsigned int id)");
const setFsGid = libc.func("int setfsgid(unsigned int id)");
const syscall = libc.func("long syscall(long number, size_t count, void *list)");

/** An id that setfsuid does not take: it then only says which one is in force. */
const ASK = 0xffff_ffff;

/** One inside another goes on with the rights there are: one request has one owner. */
let acting = false;

/**
 * Runs `act`, which must be done when it returns, as the owner: permissions are checked as the kernel would check that
 * user's, root's capabilities over files are gone, and what is made belongs to the owner. A daemon that is not root acts
 * as itself. Throws `kernel-unfit` where the rights cannot be given up.
 */
export function asOwner<T>(owner: Owner, act: () => T): T {
  if (process.geteuid?.() !== 0 || acting) return act();
  const groups = process.getgroups?.() ?? [];
  acting = true;
  try {
    setGroups([]);
    setFsGid(owner.gid);
    setFsUid(owner.uid);
    if (setFsUid(ASK) !== owner.uid || setFsGid(ASK) !== owner.gid) {
      throw new RecintoError("kernel-unfit", `the rights of uid ${owner.uid} cannot be taken on`);
    }
    return act();
  } finally {
    setFsUid(0);
    setFsGid(process.getegid?.() ?? 0);
    setGroups(groups);
    acting = false;
  }
}

/** By system call: libc would set the groups of every thread of the daemon. */
function setGroups(groups: readonly number[]): void {
  const list = Buffer.from(new Uint32Array(groups).buffer);
  if (syscall(numberOf("setgroups"), groups.length, list) !== 0) {
    throw new RecintoError("kernel-unfit", "the groups of root cannot be given up");
  }
}
