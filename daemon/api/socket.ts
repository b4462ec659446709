/** Makes the folders and Unix sockets that callers reach the daemon through, with owners and modes as the trust model says. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { connect, type Server } from "node:net";
import { join } from "node:path";
import { RecintoError } from "../errors.ts";

export interface SocketAccess {
  /** Group that may connect besides the owner; null: the owner alone. */
  readonly gid: number | null;
}

export function adminSocketPath(runDir: string): string {
  return join(runDir, "admin.sock");
}

export function agentSocketPath(runDir: string, project: string): string {
  return join(runDir, "projects", project, "agent.sock");
}

/** The run directory: everyone may pass to the sockets, nobody can list which projects there are. */
export function prepareRunDir(runDir: string): void {
  prepareFolder(runDir, 0o755, null);
  prepareFolder(join(runDir, "projects"), 0o711, null);
}

/** A folder of its own for one project's socket: 0750, or 0700 when no group may enter. */
export function prepareAgentFolder(runDir: string, project: string, access: SocketAccess): void {
  prepareFolder(join(runDir, "projects", project), access.gid === null ? 0o700 : 0o750, access.gid);
}

/** Projects that have a folder for their socket now. */
export function agentFolders(runDir: string): readonly string[] {
  return readdirSync(join(runDir, "projects"));
}

/** Takes the folder away with what a killed daemon may have left in it. */
export function removeAgentFolder(runDir: string, project: string): void {
  rmSync(join(runDir, "projects", project), { recursive: true, force: true });
}

/**
 * Listens on `path`. Somebody is dialled first: a live socket is `socket-in-use`, a dead one is replaced.
 *
 * The race: two daemons that start at the same moment can both find a dead socket, and the second then removes the
 * first's fresh one. Nothing is unsafe then (both are root's), but the first is deaf; whoever starts daemons (systemd,
 * quickstart) owns starting one only. The file is born without any right for group and others, since between bind and
 * chmod anybody could connect.
 */
export async function listen(server: Server, path: string, access: SocketAccess): Promise<void> {
  if (await isLive(path)) {
    throw new RecintoError("socket-in-use", `another process listens on ${path}`);
  }
  removeDead(path);
  // bind happens inside listen(), before it returns, so the mask holds for nothing else.
  const mask = process.umask(0o177);
  const listening = new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
    server.listen({ path, backlog: 511 });
  });
  process.umask(mask);
  await listening;
  if (access.gid !== null) chownSync(path, process.getuid?.() ?? 0, access.gid);
  chmodSync(path, access.gid === null ? 0o600 : 0o660);
}

/** Serves a socket that another process made, and keeps after this one is gone. */
export async function listenOn(server: Server, fd: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
    server.listen({ fd });
  });
}

function isLive(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED" || error.code === "ENOTSOCK") {
        resolve(false);
      } else if (error.code === "EAGAIN") {
        resolve(true); // Its queue is full: very much alive.
      } else {
        reject(
          new RecintoError("not-permitted", `cannot tell whether ${path} is in use: ${error.code}`),
        );
      }
    });
  });
}

function removeDead(path: string): void {
  const found = statOf(path);
  if (found === null) return;
  if (!found.isSocket()) {
    throw new RecintoError("bad-config", `${path} is there and is not a socket`, {
      hint: "remove it, or name another run directory",
    });
  }
  unlinkSync(path);
}

function prepareFolder(path: string, mode: number, gid: number | null): void {
  mkdirSync(path, { recursive: true, mode });
  const found = statOf(path);
  const me = process.getuid?.() ?? 0;
  // A folder that somebody else owns would let them swap our socket for theirs.
  if (found === null || !found.isDirectory() || found.uid !== me) {
    throw new RecintoError("unsafe-admin-file", `${path} is not a folder of uid ${me}`);
  }
  if (gid !== null) chownSync(path, me, gid);
  chmodSync(path, mode);
}

function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}
