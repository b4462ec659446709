/** The denial tracker (B2, rung 5): refusals are counted by class of action, so that a reworded command counts too. */
import type { ActionClass, DenialState, SegmentVerdict, Verdict } from "./types.ts";

interface DenialLimits {
  readonly consecutive: number;
  readonly total: number;
}

export const NO_DENIALS: DenialState = { consecutive: {}, total: 0 };

/** The strongest class names the action; the order is that of how much a person cares. */
const WEIGHT: readonly ActionClass[] = [
  "privilege",
  "engine",
  "install",
  "network",
  "process",
  "unknown",
  "git-write",
  "run",
  "write",
  "scratch",
  "loopback",
  "build",
  "read",
];

/**
 * The class of action of one segment. What a ceiling or safety pattern found names it (`safety/recursive-delete`, in
 * whatever spelling); else the strongest class with the host or the form, and whether it reaches outside:
 * `network:example.org`, `git-write:git commit`, `read:cat:outside`.
 */
export function denialKey(segment: SegmentVerdict): string {
  if (segment.rung === "ceiling" || segment.rung === "safety") return segment.rule;
  const strongest = WEIGHT.find((cls) => segment.classes.includes(cls)) ?? "read";
  const what = segment.hosts?.[0] ?? segment.form;
  const outside = segment.paths.some((path) => path.root === null) ? ":outside" : "";
  return `${strongest}:${what}${outside}`;
}

/** The classes of action that a refusal of this verdict is about: those of the segments that did not pass. */
export function denialKeys(verdict: Verdict): readonly string[] {
  const refused = verdict.segments.filter((segment) => segment.verdict !== "allow");
  return [...new Set((refused.length > 0 ? refused : verdict.segments).map(denialKey))];
}

/** After a person or the policy refused. */
export function recordRefusal(state: DenialState, verdict: Verdict): DenialState {
  const consecutive = { ...state.consecutive };
  for (const key of denialKeys(verdict)) consecutive[key] = (consecutive[key] ?? 0) + 1;
  return { consecutive, total: state.total + 1 };
}

/** After a person approved: the rows of these classes start again; the total stays. */
export function recordApproval(state: DenialState, verdict: Verdict): DenialState {
  const over = new Set(denialKeys(verdict));
  const consecutive = Object.fromEntries(
    Object.entries(state.consecutive).filter(([key]) => !over.has(key)),
  );
  return { consecutive, total: state.total };
}

/** Whether the class is blocked: refused so often in a row that it is not offered again. */
export function isBlocked(state: DenialState, key: string, limits: DenialLimits): boolean {
  return (
    Object.hasOwn(state.consecutive, key) && (state.consecutive[key] ?? 0) >= limits.consecutive
  );
}

/** All blocked classes. */
export function blocked(state: DenialState, limits: DenialLimits): readonly string[] {
  return Object.keys(state.consecutive)
    .filter((key) => isBlocked(state, key, limits))
    .sort();
}

/** Which classes that a verdict is about are blocked. */
export function blockedIn(
  state: DenialState,
  verdict: Verdict,
  limits: DenialLimits,
): readonly string[] {
  return denialKeys(verdict).filter((key) => isBlocked(state, key, limits));
}

/** Whether refusals in all are so many that everything asks. */
export function escalated(state: DenialState, limits: DenialLimits): boolean {
  return state.total >= limits.total;
}
