/** What an approval can give beyond one command: the asking parts of a verdict as grants, each with an end. Pure. */
import { parseWritePath } from "../../authority/resources.ts";
import { GRANTABLE_EFFECTS, type GrantableEffect } from "../../authority/types.ts";
import type { SegmentVerdict, Verdict } from "../../policy/types.ts";
import type { OfferedGrant } from "../types.ts";

const GRANTABLE: ReadonlySet<string> = new Set(GRANTABLE_EFFECTS);

/**
 * One for each effect of each simple command that asks, on what it names. Empty where any of them asks for more than
 * the lack of a right: no grant lifts a safety pattern, a ceiling or what was not understood.
 */
export function offeredGrants(
  { verdict, segments }: Verdict,
  worktree: string,
): readonly OfferedGrant[] {
  if (verdict !== "ask") return [];
  const asking = segments.filter((segment) => segment.verdict === "ask");
  const offered = new Map<string, OfferedGrant>();
  for (const segment of asking) {
    const stands = segment.matches.some(
      ({ rung, decision }) => decision === "ask" && rung !== "default" && rung !== "scope",
    );
    if (stands || segment.argv === undefined || segment.argv.length === 0) return [];
    for (const effect of segment.effects) {
      const grant = grantFor(effect, segment, worktree);
      if (grant === null) return [];
      offered.set(JSON.stringify(grant), grant);
    }
  }
  return [...offered.values()];
}

function grantFor(
  effect: string,
  { argv = [], paths, hosts = [], classes }: SegmentVerdict,
  worktree: string,
): OfferedGrant | null {
  if (!GRANTABLE.has(effect)) return null;
  const nothing = { paths: [], hosts: [], commands: [] };
  if (effect === "network") {
    // The sandbox's own loopback needs no grant, and a host that is not named cannot be had.
    if (hosts.length === 0) return null;
    return { ...nothing, effect, hosts };
  }
  if (effect === "read" || effect === "write") {
    const named = paths.filter(({ access }) => access === effect).map(({ path }) => path);
    const below = named.map((path) => relativeTo(worktree, path));
    if (below.some((path) => path === null || parseWritePath(path).refused !== undefined))
      return null;
    if (below.length === 0) return null;
    return { ...nothing, effect, paths: below as string[] };
  }
  if (effect === "install" && classes.includes("network")) {
    return { ...nothing, effect, hosts, commands: [argv] };
  }
  return { ...nothing, effect: effect as GrantableEffect, commands: [argv] };
}

function relativeTo(worktree: string, path: string): string | null {
  return path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : null;
}
