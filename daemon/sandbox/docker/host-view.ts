/** What the daemon can tell about a sandbox from the host's /proc, where both share a machine: fast, and no command in it. */
import { readFileSync, statSync } from "node:fs";

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

/** `DEVICE:INODE` of folders as the process sees them, or null where they cannot be looked at from here. */
export function identitiesFromHost(
  hostPid: number,
  sandboxId: string,
  paths: readonly string[],
): readonly string[] | null {
  try {
    if (!isOf(hostPid, sandboxId)) return null;
    return paths.map((path) => {
      const { dev, ino } = statSync(`/proc/${hostPid}/root${path}`, { bigint: true });
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
