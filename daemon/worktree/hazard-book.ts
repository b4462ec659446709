/** The hazards of one worktree as they stand, and word of each that comes or goes. */
import { createHash } from "node:crypto";
import { HAZARDS_MAX } from "../limits.ts";
import { type BytePath, fromBytePath } from "./byte-path.ts";
import type { Finding } from "./hazard-rules.ts";
import type { Hazard } from "./types.ts";

export interface HazardBook {
  /**
   * What is wrong at `path` now, all of it; an empty list clears it. A link whose text or end changed is gone and found
   * again, so that a consent to the old one does not cover the new one. `slot` keeps what a folder's content says apart
   * from what its own entry says.
   */
  set(path: BytePath, slot: "entry" | "content", findings: readonly Finding[]): void;
  all(): readonly Hazard[];
  /** Hazards that were seen and not kept, over HAZARDS_MAX. */
  readonly dropped: number;
}

export function createHazardBook(options: {
  readonly now: () => number;
  readonly onFound: (hazard: Hazard) => void;
  readonly onGone: (hazard: Hazard) => void;
}): HazardBook {
  const held = new Map<string, readonly Hazard[]>();
  let count = 0;
  let dropped = 0;
  return {
    get dropped() {
      return dropped;
    },
    all: () => [...held.values()].flat(),
    set(path, slot, findings) {
      const key = `${slot} ${path}`;
      const before = held.get(key) ?? [];
      if (before.length === 0 && findings.length === 0) return;
      const after: Hazard[] = [];
      const found: Hazard[] = [];
      for (const finding of findings) {
        const same = before.find((hazard) => isSame(hazard, finding));
        if (same !== undefined) after.push(same);
        else if (count + found.length >= HAZARDS_MAX) dropped += 1;
        else {
          const hazard = hazardOf(path, finding, options.now());
          after.push(hazard);
          found.push(hazard);
        }
      }
      const gone = before.filter((hazard) => !after.includes(hazard));
      if (after.length > 0) held.set(key, after);
      else held.delete(key);
      count += found.length - gone.length;
      for (const hazard of gone) options.onGone(hazard);
      for (const hazard of found) options.onFound(hazard);
    },
  };
}

function hazardOf(path: BytePath, finding: Finding, now: number): Hazard {
  const digest = createHash("sha256").update(`${finding.kind} ${path}`, "latin1").digest("hex");
  return {
    id: `${finding.kind}-${digest.slice(0, 16)}`,
    path: fromBytePath(path),
    foundAt: now,
    ...finding,
  };
}

function isSame(hazard: Hazard, finding: Finding): boolean {
  return (
    hazard.kind === finding.kind &&
    hazard.reason === finding.reason &&
    hazard.target === finding.target &&
    hazard.resolved === finding.resolved
  );
}
