/** What the daemon can tell about a sandbox from the host's /proc, where both share a machine: fast, and no command in it. */
import { readdirSync, readFileSync, statSync } from "node:fs";

/**
 * The number that the sandbox gives to a process of the host, or 0 where the daemon does not see the engine's processes
 * (it lives in another container, or the engine elsewhere).
 */
export function pidInSandbox(hostPid: number, sandboxId: string): number {
  try {
    if (!isOf(hostPid, sandboxId)) return 0;
    const status = readFileSync(`/proc/${hostPid}/status`, "utf8");
    return Number(/^NSpid:.*\s(\d+)$/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * `DEVICE:INODE` of folders as the sandbox sees them, or null where they cannot be looked at from here. `hostPid` is its
 * first process, which under gVisor has no file system of its own: its gofer has the mounts and serves them.
 */
export function identitiesFromHost(
  hostPid: number,
  sandboxId: string,
  runtime: string,
  paths: readonly string[],
): readonly string[] | null {
  try {
    const holder = runtime === "runsc" ? goferBeside(hostPid, sandboxId) : hostPid;
    if (holder === null || (holder === hostPid && !isOf(hostPid, sandboxId))) return null;
    return paths.map((path) => {
      const { dev, ino } = statSync(`/proc/${holder}/root${path}`, { bigint: true });
      return `${dev}:${ino}`;
    });
  } catch {
    return null;
  }
}

/** The number may mean another process here than where the engine lives; its cgroup tells. */
function isOf(hostPid: number, sandboxId: string): boolean {
  return readFileSync(`/proc/${hostPid}/cgroup`, "utf8").includes(sandboxId);
}

/** Both are children of the engine's shim, which nobody else can start any of; both name the sandbox they are for. */
function goferBeside(hostPid: number, sandboxId: string): number | null {
  const isFor = (pid: number, name: string) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words[0] === name && words.some((word) => word.split("/").at(-1) === sandboxId);
  };
  if (!isFor(hostPid, "runsc-sandbox")) return null;
  const status = readFileSync(`/proc/${hostPid}/status`, "utf8");
  const shim = Number(/^PPid:\s(\d+)$/m.exec(status)?.[1]);
  const children = readdirSync(`/proc/${shim}/task`).flatMap((task) =>
    readFileSync(`/proc/${shim}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return children.map(Number).find((pid) => isFor(pid, "runsc-gofer")) ?? null;
}
