/** What tests that run for long share: their length, numbers from a seed, families of processes, who is in a container. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export const LONG = process.env.RECINTO_LONG === "1";

/** Printed with each result, so that a failure can be run again. */
export const seed = Number(process.env.RECINTO_SEED ?? randomBytes(4).readUInt32LE());

export function numbers(from: number): (below: number) => number {
  let state = from >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Ways to have processes, and to get rid of whoever started them. */
export const FAMILIES: readonly string[] = [
  "sleep 701 & sleep 702",
  "setsid sleep 703 & wait",
  "(setsid nohup sleep 704 >/dev/null 2>&1 &); sleep 705",
  "trap '' TERM INT HUP; sleep 706 & sleep 707",
  "exec env -i setsid sleep 708",
  "for i in 1 2 3; do (sleep 709 | sleep 710) & done; wait",
  "sleep 711 & exit 3",
  "(env -i setsid sleep 712 >/dev/null 2>&1 &); true",
  "exec nohup setsid bash -c 'sleep 713 & sleep 714' >/dev/null 2>&1 </dev/null",
  `exec python3 -c '
import os, time
if os.fork(): os._exit(0)
os.setsid(); os.chdir("/"); os.umask(0)
if os.fork(): os._exit(0)
for fd in range(64):
    try: os.close(fd)
    except OSError: pass
time.sleep(715)'`,
];

export interface SeenProcess {
  readonly pid: number;
  readonly state: string;
  readonly args: string;
  readonly rssMb: number;
}

/** Everything in a container as the host sees it, whatever its user; sorted by words. Needs the engine on this machine. */
export function containerProcesses(container: string): readonly SeenProcess[] {
  const seen: SeenProcess[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const read = (file: string) => readFileSync(`/proc/${name}/${file}`, "utf8");
      if (!read("cgroup").includes(container)) continue;
      const status = read("status");
      const field = (key: string) => new RegExp(`^${key}:\\s+(\\S+)`, "m").exec(status)?.[1];
      seen.push({
        pid: Number(name),
        state: field("State") ?? "?",
        args: read("cmdline").replaceAll("\0", " ").trim() || `(${field("Name")})`,
        rssMb: Number(field("VmRSS") ?? 0) / 1024,
      });
    } catch {
      // It ended while it was looked at.
    }
  }
  return seen.sort((a, b) => (a.args < b.args ? -1 : a.args > b.args ? 1 : 0));
}
