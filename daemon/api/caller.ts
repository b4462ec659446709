/** Who is calling: the peer credentials that the kernel keeps for a Unix socket connection. */
import type { Socket } from "node:net";
import koffi from "koffi";
import type { Caller } from "../supervisor/types.ts";

export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups; empty where the kernel does not tell (before Linux 4.13). */
  readonly groups: readonly number[];
}

// <asm-generic/socket.h>; the same on every architecture that Node 20 and Docker share.
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_PEERCRED = 17;
const SO_PEERGROUPS = 59;
const UCRED_BYTES = 12;
const GID_BYTES = 4;
/** NGROUPS_MAX of Linux: no process can have more. */
const GROUPS_MAX = 65_536;

const libc = koffi.load(null);
const getsockopt = libc.func(
  "int getsockopt(int fd, int level, int name, _Out_ void *value, _Inout_ uint32_t *length)",
);
const setsockopt = libc.func(
  "int setsockopt(int fd, int level, int name, int *value, uint32_t length)",
);

/** Credentials of the peer as they were when it connected; null when the descriptor has none. */
export function peerCredentials(fd: number): PeerCredentials | null {
  const ucred = Buffer.alloc(UCRED_BYTES);
  if (readOption(fd, SO_PEERCRED, ucred) !== UCRED_BYTES) return null;
  const uid = ucred.readUInt32LE(4);
  // The kernel says pid 0 and uid -1 for a socket that is not connected to anybody.
  if (uid === 0xffff_ffff) return null;
  return {
    pid: ucred.readInt32LE(0),
    uid,
    gid: ucred.readUInt32LE(8),
    groups: peerGroups(fd),
  };
}

function peerGroups(fd: number): number[] {
  // Most have a handful of groups; only when those do not fit is the largest possible list read.
  for (const most of [64, GROUPS_MAX]) {
    const value = Buffer.alloc(most * GID_BYTES);
    const bytes = readOption(fd, SO_PEERGROUPS, value);
    if (bytes === null) continue;
    return Array.from({ length: bytes / GID_BYTES }, (_, i) => value.readUInt32LE(i * GID_BYTES));
  }
  return [];
}

/** Bytes written into `value`, or null on error. */
function readOption(fd: number, name: number, value: Buffer): number | null {
  const length = [value.length];
  return getsockopt(fd, SOL_SOCKET, name, value, length) === 0 ? (length[0] ?? null) : null;
}

/** The caller behind a connection, or null when it has no credentials: such a connection is refused. */
export function callerOf(connection: Socket, socket: Caller["socket"]): Caller | null {
  const fd = descriptorOf(connection);
  const peer = fd === null ? null : peerCredentials(fd);
  return peer === null ? null : { ...peer, socket };
}

/** Lets the kernel hold more of what is sent, as far as it allows: who streams a lot waits and wakes up less often. */
export function widenSending(connection: Socket, bytes: number): void {
  const fd = descriptorOf(connection);
  // Where the kernel allows less it takes what it allows, and nothing rests on it.
  if (fd !== null) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, [bytes], 4);
}

/** Node does not publish the descriptor of a socket; its handle has had `fd` since 0.12. */
function descriptorOf(connection: Socket): number | null {
  const fd = (connection as Socket & { _handle?: { fd?: number } })._handle?.fd;
  return fd === undefined || fd < 0 ? null : fd;
}
