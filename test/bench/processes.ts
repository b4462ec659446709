/** What processes cost, as the kernel counts it: memory by name or by container, processor time of a container. */
import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a process, MB; 0 once it is gone. */
export function rssMb(pid: string): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return 0;
  }
}

/** Of all processes of these names, MB. */
export function rssMbOf(names: readonly string[]): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return sum(pids.filter((pid) => names.includes(nameOf(pid))).map(rssMb));
}

/** Of all that runs in a container, MB: pages that its processes share are counted for each. */
export function sandboxRssMb(id: string): number {
  const procs = read([
    `/sys/fs/cgroup/pids/docker/${id}/cgroup.procs`,
    `/sys/fs/cgroup/system.slice/docker-${id}.scope/cgroup.procs`,
    `/sys/fs/cgroup/docker/${id}/cgroup.procs`,
  ]);
  return sum(procs.split("\n").filter(Boolean).map(rssMb));
}

/** Processor time that a container used so far, seconds. */
export function sandboxCpuSeconds(id: string): number {
  const text = read([
    `/sys/fs/cgroup/cpuacct/docker/${id}/cpuacct.usage`,
    `/sys/fs/cgroup/system.slice/docker-${id}.scope/cpu.stat`,
    `/sys/fs/cgroup/docker/${id}/cpu.stat`,
  ]);
  const usec = /^usage_usec (\d+)/m.exec(text)?.[1];
  return usec === undefined ? Number(text) / 1e9 : Number(usec) / 1e6;
}

/** Where cgroups are depends on their version and on who manages them. */
function read(paths: readonly string[]): string {
  for (const path of paths) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // The next layout.
    }
  }
  throw new Error(`none of these is there: ${paths.join(", ")}`);
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
