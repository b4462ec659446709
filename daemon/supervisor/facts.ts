/** The world as the policy is told about it, and what of it an approval is bound to. */
import { posix } from "node:path";
import { BOUND_FILES_MAX, RECORDED_LINKS_MAX } from "../limits.ts";
import type { AcceptedLink, Facts, PolicySettings, Verdict } from "../policy/types.ts";
import type { Project } from "../settings/types.ts";
import { realPathFacts } from "../worktree/real-paths.ts";
import type { Hazard } from "../worktree/types.ts";
import { contentHash } from "./content-hash.ts";
import { branchInHead, branchOf } from "./git-branch.ts";
import { localBins } from "./local-bins.ts";
import type { BoundFacts } from "./types.ts";

/** Facts that do not depend on what the command says. */
export function standingFacts(
  project: Pick<Project, "root" | "worktrees">,
  settings: PolicySettings,
  cwd: string,
  hazards: readonly Hazard[],
  onEscape: "alert" | "freeze",
  privateGit: string | null = null,
  isAccepted: (hazard: Hazard) => boolean = () => false,
): Facts {
  const { worktree } = settings;
  const branch = privateGit === null ? branchOf(project, worktree) : branchInHead(privateGit);
  const bins = localBins(settings.worktree, cwd);
  const links = hazards.filter(({ kind }) => kind === "escaping-link");
  const accepted = links.filter(isAccepted);
  return {
    ...(branch === undefined ? {} : { branch }),
    ...(bins === undefined ? {} : { localBins: bins }),
    escapingLinks: links.map(({ path }) => path),
    ...(accepted.length === 0 ? {} : { acceptedLinks: accepted.flatMap(ends) }),
    frozen: onEscape === "freeze" && accepted.length < links.length,
  };
}

/** Where a link leads on the host, and where its text does: the sandbox sees no further links outside. */
function ends({ path, target, resolved }: Hazard): AcceptedLink[] {
  const said = target === undefined ? null : posix.resolve(posix.dirname(path), target);
  const places = new Set([resolved, said].filter((place) => typeof place === "string"));
  return [...places].map((place) => ({ path, target: place }));
}

/** Every path that the verdict names and nobody has looked up yet. */
export function pathsToLookUp(verdict: Verdict, known: Facts["realpath"] = {}): readonly string[] {
  const paths = new Set<string>(verdict.bindTo);
  for (const segment of verdict.segments) {
    for (const cwd of segment.cwds) paths.add(cwd);
    for (const { path, real } of segment.paths) {
      paths.add(path);
      if (real !== undefined) paths.add(real);
    }
  }
  return [...paths].filter((path) => path.startsWith("/") && !Object.hasOwn(known, path));
}

/** Where paths lead as the sandbox sees it: only what is mounted there is the host's. */
export function lookUp(paths: Iterable<string>, settings: PolicySettings) {
  return realPathFacts(paths, { roots: mountedRoots(settings) });
}

/** Folders of the host that the sandbox has, at the same place. */
export function mountedRoots(settings: PolicySettings): readonly string[] {
  return [settings.worktree, ...settings.readable];
}

/** Stands for the content of a file that only the sandbox has: it cannot be shown, and so not be bound to. */
const UNSEEN = "unseen";

export async function boundFacts(
  verdict: Verdict,
  facts: Facts,
  settings: PolicySettings,
): Promise<BoundFacts> {
  const files = filesToBind(verdict);
  const known = facts.realpath ?? {};
  const realpath = {
    ...known,
    ...lookUp(
      files.filter((file) => !Object.hasOwn(known, file)),
      settings,
    ),
  };
  const roots = mountedRoots(settings);
  const content: Record<string, string | null> = {};
  for (const file of files) {
    const real = realpath[file] ?? file;
    content[file] = isBelowAny(real, roots) ? await contentHash(real) : UNSEEN;
  }
  return { branch: facts.branch, realpath, content };
}

/**
 * What the policy says would be executed, and every file that a program it does not know is given: `some-runner x.sh`
 * may well run it.
 */
function filesToBind(verdict: Verdict): readonly string[] {
  const files = new Set(verdict.bindTo);
  for (const { argv = [], cwds, classes } of verdict.segments) {
    if (!classes.includes("unknown")) continue;
    for (const word of argv) {
      if (word === "" || word.startsWith("-")) continue;
      for (const cwd of cwds) files.add(posix.resolve(cwd, word));
    }
  }
  return [...files].slice(0, BOUND_FILES_MAX);
}

/** Facts as the journal keeps them: of the local programs those that the command can mean, and not every link. */
export function recordedFacts(command: string, facts: Facts): Facts {
  const { branch, realpath, frozen, localBins, escapingLinks, acceptedLinks } = facts;
  const words = new Set(command.match(/[\w.@+-]+/g));
  return {
    ...(branch === undefined ? {} : { branch }),
    ...(realpath === undefined ? {} : { realpath }),
    ...(frozen === undefined ? {} : { frozen }),
    ...(localBins === undefined ? {} : { localBins: localBins.filter((name) => words.has(name)) }),
    ...(escapingLinks === undefined
      ? {}
      : { escapingLinks: escapingLinks.slice(0, RECORDED_LINKS_MAX) }),
    ...(acceptedLinks === undefined
      ? {}
      : { acceptedLinks: acceptedLinks.slice(0, RECORDED_LINKS_MAX) }),
  };
}

export function isBelowAny(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root === "/" ? "/" : `${root}/`));
}
