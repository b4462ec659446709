/** The authority a session has without a handle: its profile's standing permission, narrowed by its contract's envelope (C1). */
import type { Standing, StandingClass } from "../policy/types.ts";
import type { Grant } from "./ledger-types.ts";
import { absoluteGlobs, folderOf } from "./resources.ts";
import { STANDING_CLASSES } from "./standing-classes.ts";
import type { Contract, GrantableEffect, Resource } from "./types.ts";

/** Part of the standing authority, with the classes of action that the profile allows of it. */
export interface StandingEntry extends Resource {
  readonly effect: GrantableEffect;
  readonly classes: readonly StandingClass[];
}

const STANDING_EFFECTS = ["read", "write", "run", "git-write", "network"] as const;

/**
 * Without a contract all that the profile allows; with one, what both allow. The contract never adds: an entry that the
 * profile asks about is not in it.
 */
export function standingEnvelope(
  contract: Contract | null,
  standing: Standing,
): readonly StandingEntry[] {
  const everything = STANDING_EFFECTS.map((effect) => ({
    effect,
    paths: [],
    hosts: [],
    commands: [],
  }));
  return (contract?.envelope ?? everything).flatMap((entry) => {
    const classes = STANDING_CLASSES[entry.effect].filter((cls) => standing[cls] === "allow");
    return classes.length === 0 ? [] : [{ ...entry, classes }];
  });
}

/**
 * Absolute paths that a command with a write or run effect may write, for the kernel: the worktree's folders and files
 * that the envelope and the grants it runs on name. null: the whole worktree, since there is no contract.
 */
export function writablePaths(
  contract: Contract | null,
  grants: readonly Grant[],
  worktree: string,
): readonly string[] | null {
  if (contract === null) return null;
  const writes = [...contract.envelope, ...grants].filter(({ effect }) => effect === "write");
  const paths = writes.flatMap((entry) => entry.paths.map((path) => folderOf(path) ?? path));
  return absoluteGlobs([...new Set(paths)], worktree).map((path) => path.replace(/\/$/, ""));
}
