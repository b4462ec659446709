/** Whether a live grant covers one use of a segment: its effect, and the resource that the effect is on (rung 7). */
import type { Use } from "./catalogue/description.ts";
import { coversPath } from "./globs.ts";
import type { LiveGrant } from "./types.ts";
import type { SegmentView } from "./view.ts";

/** The first grant that covers use number `index` of the segment, or null. */
export function coveringGrant(
  view: SegmentView,
  index: number,
  grants: readonly LiveGrant[],
): LiveGrant | null {
  const use = view.description.uses[index];
  if (use === undefined) return null;
  return grants.find((grant) => covers(grant, use, view, index)) ?? null;
}

/** Whether a grant names this very command: such a grant says what its options are, too. */
export function namesCommand(grant: LiveGrant, view: SegmentView): boolean {
  return view.argvs.every((argv) =>
    grant.commands.some(
      (prefix) => prefix.length > 0 && prefix.every((word, i) => argv[i] === word),
    ),
  );
}

function covers(grant: LiveGrant, use: Use, view: SegmentView, index: number): boolean {
  if (!grant.effects.includes(use.effect)) return false;
  if (grant.commands.length > 0 && !namesCommand(grant, view)) return false;
  if (use.effect === "network") {
    return use.host !== undefined && grant.hosts.includes(use.host);
  }
  const touched = view.located[index]?.touched ?? [];
  if (touched.length === 0) return grant.commands.length > 0;
  if (grant.paths.length === 0) return grant.commands.length > 0 && touched.every((t) => t.root);
  return touched.every(({ path, real }) =>
    [path, real ?? path].every((each) => grant.paths.some((glob) => coversPath(glob, each))),
  );
}
