/** The ceiling of protected branches: every way to merge into one, push to one, commit on one or move one. */

import { branchName, gitCall, refspec } from "./git-call.ts";
import { matchesBranch } from "./globs.ts";
import type { Facts, Match, PolicySettings } from "./types.ts";
import { type Argv, long, operands, type SegmentView, short } from "./view.ts";

type Ceiling = Pick<Match, "rule" | "reason">;

/** Where the worktree may stand when a segment runs: its own branch, and what earlier segments switch to. */
interface Standing {
  readonly branches: readonly (string | null)[];
  /** Some of it is not known. */
  readonly unknown: boolean;
}

/** The first reason why a segment touches a protected branch, or null. */
export function branchCeiling(
  view: SegmentView,
  { protectedBranches: globs }: PolicySettings,
  facts: Facts,
  earlier: readonly SegmentView[],
): Ceiling | null {
  if (globs.length === 0) return null;
  const isProtected = (ref: string): boolean => matchesBranch(branchName(ref), globs);
  for (const argv of view.argvs) {
    const found =
      hostingCeiling(argv) ?? gitCeiling(argv, isProtected, () => standing(facts, earlier));
    if (found !== null) return found;
  }
  return null;
}

/** Merging on the hosting site: the branch it goes into is not in the text. */
function hostingCeiling(argv: Argv): Ceiling | null {
  const [verb, noun, action] = argv;
  if (verb === "gh" || verb === "glab" || verb === "hub" || verb === "tea") {
    const words = argv.filter((word) => word !== null);
    if (words.includes("merge") || words.includes("accept")) {
      return ceiling("merge", `merges a request on the hosting site (${verb} ${noun} ${action})`);
    }
    if (
      words.includes("api") &&
      words.some((w) => /\/merges?(?:$|[/?])|\/git\/refs|\/branches\//.test(w))
    ) {
      return ceiling("merge", "merges or moves branches through the hosting site's API");
    }
  }
  return null;
}

function ceiling(id: string, reason: string): Ceiling {
  return { rule: `ceiling/${id}`, reason };
}

function standing(facts: Facts, earlier: readonly SegmentView[]): Standing {
  const branches: (string | null)[] = [];
  let unknown = facts.branch === undefined;
  if (facts.branch !== undefined) branches.push(facts.branch);
  for (const view of earlier) {
    for (const argv of view.argvs) {
      const call = gitCall(argv);
      if (call?.sub !== "checkout" && call?.sub !== "switch") continue;
      const [to] = operands(call.argv);
      if (to === undefined) continue;
      if (to === null || to === "-" || /^@\{-/.test(to)) unknown = true;
      else branches.push(to.replace(/^origin\//, ""));
    }
  }
  return { branches, unknown };
}

const ON_CURRENT: Readonly<Record<string, string>> = {
  commit: "commits on",
  merge: "merges into",
  pull: "merges into",
  rebase: "rewrites",
  "cherry-pick": "commits on",
  revert: "commits on",
  am: "commits on",
  reset: "moves",
  "commit-tree": "commits on",
  "fast-export": "commits on",
  subtree: "merges into",
};

function gitCeiling(
  argv: Argv,
  isProtected: (ref: string) => boolean,
  where: () => Standing,
): Ceiling | null {
  const call = gitCall(argv);
  if (call === null || call.sub === null || call.sub === "") return null;
  const { sub, argv: words } = call;
  const onCurrent = (id: string, does: string): Ceiling | null => {
    const { branches, unknown } = where();
    const hit = branches.find((name) => name !== null && isProtected(name));
    if (hit !== undefined && hit !== null)
      return ceiling(id, `${does} the protected branch ${hit}`);
    return unknown
      ? ceiling(id, `${does} the current branch, and it is not known whether that is protected`)
      : null;
  };
  if (sub === "push" || sub === "send-pack") return pushCeiling(words, isProtected, onCurrent);
  if (sub === "branch") return branchMoves(words, isProtected, onCurrent);
  if (sub === "update-ref" || sub === "symbolic-ref") {
    const hit = operands(words).find((word) => word === null || isProtected(word));
    if (hit !== undefined || long(words, "--stdin")) {
      return ceiling("branch", `moves ${hit ?? "branches"}, which is or may be protected`);
    }
    return operands(words)[0] === "HEAD" && sub === "update-ref"
      ? onCurrent("branch", "moves")
      : null;
  }
  if (sub === "checkout" || sub === "switch") {
    const creates = short(words, "BC") || long(words, "--force-create");
    const [name] = operands(words);
    return creates && name !== undefined && (name === null || isProtected(name))
      ? ceiling("branch", `moves ${name ?? "a branch"}, which is or may be protected`)
      : null;
  }
  if (sub === "fetch") {
    // `git fetch origin x:main` moves the local main.
    const hit = operands(words)
      .slice(1)
      .find(
        (word) => word === null || (word.includes(":") && isProtected(refspec(word).destination)),
      );
    return hit === undefined
      ? null
      : ceiling("branch", `moves ${hit ?? "a branch"}, which is or may be protected`);
  }
  const does = Object.hasOwn(ON_CURRENT, sub) ? ON_CURRENT[sub] : undefined;
  if (does === undefined) return null;
  if (sub === "merge" || sub === "rebase" || sub === "cherry-pick" || sub === "revert") {
    if (long(words, "--abort", "--quit")) return null;
  }
  if (sub === "commit" && long(words, "--dry-run")) return null;
  if (sub === "reset" && words.includes("--")) return null;
  if (sub === "rebase") {
    // `git rebase main topic` first switches to topic, `git rebase topic main` to main.
    const onto = words.includes("--onto") ? 1 : 0;
    const last = operands(words)[onto + 1];
    if (last !== undefined && (last === null || isProtected(last))) {
      return ceiling("commit", `rewrites ${last ?? "a branch"}, which is or may be protected`);
    }
  }
  if (sub === "reset" && !movesHead(words)) return null;
  return onCurrent(sub === "merge" || sub === "pull" ? "merge" : "commit", does);
}

/** `git reset` with paths, or to HEAD itself, only changes the index; to another commit it moves the branch. */
function movesHead(words: Argv): boolean {
  const [to, ...paths] = operands(words);
  return to !== undefined && to !== "HEAD" && paths.length === 0;
}

function pushCeiling(
  words: Argv,
  isProtected: (ref: string) => boolean,
  onCurrent: (id: string, does: string) => Ceiling | null,
): Ceiling | null {
  if (long(words, "--all", "--mirror", "--branches")) {
    return ceiling("push", "pushes every branch, protected ones too");
  }
  const refs = operands(words).slice(1);
  for (const ref of refs) {
    if (ref === null) return ceiling("push", "pushes a branch that cannot be told from the text");
    const { destination, source } = refspec(ref);
    if (isProtected(destination))
      return ceiling("push", `pushes to the protected branch ${destination}`);
    if (/[*]/.test(destination))
      return ceiling("push", `pushes every branch that ${destination} names`);
    if (destination === "HEAD" || destination === "@" || destination === ":") {
      const found = onCurrent("push", "pushes to");
      if (found !== null) return found;
    }
    if (source === "" && destination === "") return ceiling("push", "pushes matching branches");
  }
  if (refs.length === 0 && !(long(words, "--tags") && operands(words).length > 0)) {
    return onCurrent("push", "pushes to");
  }
  return null;
}

/** `git branch -f main x`, `-M x main`, `-D main`, and `-m x`, which renames the current one. */
function branchMoves(
  words: Argv,
  isProtected: (ref: string) => boolean,
  onCurrent: (id: string, does: string) => Ceiling | null,
): Ceiling | null {
  const renames = short(words, "mM") || long(words, "--move");
  if (!renames && !short(words, "fDdCc") && !long(words, "--force", "--delete", "--copy"))
    return null;
  const names = operands(words);
  const hit = names.find((word) => word === null || isProtected(word));
  if (hit !== undefined) {
    const what = `moves, renames or deletes ${hit ?? "a branch"}, which is or may be protected`;
    return ceiling("branch", what);
  }
  return renames && names.length === 1 ? onCurrent("branch", "renames") : null;
}
