/** Whether a live grant covers one use of a segment: its effect, and the resource that the effect is on (rung 7). */
import type { Use } from "./catalogue/description.ts";
import { coversPath } from "./globs.ts";
import { namesHost } from "./host-patterns.ts";
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

/** Whether a grant spells out this very command, to its last word: then its options are granted too. */
export function namesCommand(grant: LiveGrant, view: SegmentView): boolean {
  return view.argvs.every((argv) =>
    grant.commands.some(
      (words) => words.length === argv.length && words.every((word, i) => argv[i] === word),
    ),
  );
}

function beginsAs(grant: LiveGrant, view: SegmentView): boolean {
  return view.argvs.every((argv) =>
    grant.commands.some(
      (prefix) => prefix.length > 0 && prefix.every((word, i) => argv[i] === word),
    ),
  );
}

function covers(grant: LiveGrant, use: Use, view: SegmentView, index: number): boolean {
  if (!grant.effects.includes(use.effect)) return false;
  if (grant.commands.length > 0 && !beginsAs(grant, view)) return false;
  if (use.effect === "network") {
    return use.host !== undefined && namesHost(grant.hosts, use.host);
  }
  const { touched, objections } = view.located[index] ?? { touched: [], objections: [] };
  // A grant gives reach, it does not make an unknown path known.
  if (objections.some(({ rule }) => !rule.startsWith("scope/outside-"))) return false;
  const everywhere = (globs: readonly string[]): boolean =>
    touched.every(({ path, real }) =>
      [path, real ?? path].every((each) => globs.some((glob) => coversPath(glob, each))),
    );
  if (grant.paths.length > 0) return touched.length > 0 && everywhere(grant.paths);
  return grant.commands.length > 0 && touched.every(({ root }) => root !== null);
}
