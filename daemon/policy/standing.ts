/** What a profile allows by itself: the table of docs/policy.md, as a question about one class of action. */
import type { ActionClass, PolicySettings, StandingClass } from "./types.ts";

const STANDING: ReadonlySet<string> = new Set<StandingClass>([
  "read",
  "build",
  "run",
  "write",
  "scratch",
  "git-write",
  "loopback",
]);

/** Network, engine, installation, processes, privilege and the unknown are never standing. */
function isStanding(cls: ActionClass): cls is StandingClass {
  return STANDING.has(cls);
}

/** What a profile allows only because the kernel keeps it where it was judged to stay. */
const ON_KERNEL: ReadonlySet<ActionClass> = new Set<ActionClass>(["run", "write", "unknown"]);

/** The profile may allow it, and this sandbox cannot enforce what that rests on. */
export function lacksKernel(settings: PolicySettings, cls: ActionClass): boolean {
  return settings.kernelConfinement === false && ON_KERNEL.has(cls);
}

export function standingAllows(settings: PolicySettings, cls: ActionClass): boolean {
  if (lacksKernel(settings, cls)) return false;
  if (isStanding(cls)) return settings.standing[cls] === "allow";
  return cls === "unknown" && settings.unknown === "confine";
}
