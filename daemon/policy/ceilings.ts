/** The two ceilings (A4, rung 3): protected branches, and files that instruct agents or run on the host. Always ask. */
import { branchCeiling } from "./ceilings-git.ts";
import { protectedByGlob, protectedName } from "./protected-names.ts";
import type { Facts, Match, PolicySettings } from "./types.ts";
import { operands, type SegmentView, short } from "./view.ts";

export function ceilingMatches(
  view: SegmentView,
  settings: PolicySettings,
  facts: Facts,
  earlier: readonly SegmentView[],
): readonly Match[] {
  const found: Match[] = [];
  const what = protectedFile(view, settings);
  if (what !== null) {
    const reason = `changes ${what}, which instructs agents or runs on the host`;
    found.push({ rung: "ceiling", rule: "ceiling/protected-file", decision: "ask", reason });
  }
  const branch = branchCeiling(view, settings, facts, earlier);
  if (branch !== null) found.push({ rung: "ceiling", decision: "ask", ...branch });
  return found;
}

/** Verbs that put what they are given into a folder under its own name. */
const INTO_FOLDER =
  /^(?:cp|mv|ln|install|rsync|rename|git mv|git rm|git checkout|git restore|git stash|unzip|tar|patch|git apply|git am|cpio|link|busybox)(?: |$)/;

function protectedFile(view: SegmentView, settings: PolicySettings): string | null {
  const { description, located } = view;
  let writes = false;
  for (const [i, use] of description.uses.entries()) {
    const changes = use.effect === "write" || use.class === "write" || use.class === "scratch";
    if (changes || use.effect === "git-write") writes = true;
    // `git add` and `git commit` record a file; what they do not do is change it.
    if (!changes) continue;
    for (const { path, real } of located[i]?.touched ?? []) {
      for (const each of real === undefined ? [path] : [path, real]) {
        const tree = use.tree === true || MOVES.test(description.form);
        const hit = protectedName(each, tree, settings.protectedFiles, settings.worktree);
        if (hit !== null) return hit;
      }
    }
    const value = use.path?.value;
    if (value?.kind === "glob") {
      const hit = protectedByGlob(value.pattern);
      if (hit !== null) return hit;
    }
    if (value?.kind === "listed") return LISTED;
  }
  const edits =
    /^(?:perl|ruby)[\d.]*$/.test(view.verb) && view.argvs.some((argv) => short(argv, "i"));
  if (edits) return namedAmongOperands(view, settings);
  if (writes && (INTO_FOLDER.test(description.form) || !description.known)) {
    return namedAmongOperands(view, settings);
  }
  return null;
}

const LISTED = "whatever is listed, a file among it perhaps";

/** Verbs that take a folder as a whole. */
const MOVES = /^(?:mv|rm|cp|git mv|git rm|rsync|ln)$/;

function namedAmongOperands(view: SegmentView, settings: PolicySettings): string | null {
  for (const argv of view.argvs) {
    for (const word of operands(argv)) {
      if (word === null) continue;
      const hit = /[*?[]/.test(word)
        ? protectedByGlob(word)
        : protectedName(word, true, settings.protectedFiles, settings.worktree);
      if (hit !== null) return hit;
    }
  }
  return null;
}
