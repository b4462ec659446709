/** Facts for judging without a daemon: what a caller gives, and what this machine's disk shows. */
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { isWithin } from "../policy/paths.ts";
import type { EvaluateInput, Facts, PolicySettings, Verdict } from "../policy/types.ts";
import { realPathFacts } from "../worktree/real-paths.ts";

/** What a line of a batch may say about the world. */
export interface GivenFacts {
  readonly branch?: string | null;
  readonly realpath?: Readonly<Record<string, string | null>>;
  readonly localBins?: readonly string[];
  readonly escapingLinks?: readonly string[];
}

/** Links may lead to links; beyond this many looks the command asks. */
const ROUNDS_MAX = 8;
/** Entries of a folder that are looked at when a wildcard names it. */
const ENTRIES_MAX = 10_000;

/** Where a link that leads nowhere is taken to lead: outside, since its target can still appear. */
const DANGLING = "/nowhere";

/** Facts that were given, in the policy's words; a path of which the caller says null counts as a dangling link. */
export function givenFacts({ realpath, ...rest }: GivenFacts): Facts {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const leads = Object.entries(realpath ?? {}).map(([path, target]) => [path, target ?? DANGLING]);
  return {
    ...(Object.fromEntries(given) as Facts),
    ...(realpath === undefined ? {} : { realpath: Object.fromEntries(leads) }),
  };
}

/** Judges, looks up what the verdict names where the root is on this disk, and judges again until nothing is new. */
export function judgeOnDisk(
  evaluate: (input: EvaluateInput) => Verdict,
  input: EvaluateInput,
): Verdict {
  const { settings, facts } = input;
  let verdict = evaluate(input);
  if (!existsSync(settings.root)) return verdict;
  const known: Record<string, string | null> = {};
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const open = mentioned(verdict, settings).filter((path) => !Object.hasOwn(known, path));
    if (open.length === 0) return verdict;
    Object.assign(known, realPathFacts(open, { roots: [settings.root, ...settings.readable] }));
    verdict = evaluate({
      ...input,
      facts: { ...facts, realpath: { ...known, ...facts.realpath } },
    });
  }
  return verdict.verdict === "allow"
    ? { ...verdict, verdict: "ask", roots: [], reason: "links lead on further than is followed" }
    : verdict;
}

/** Every path of a verdict, and for folders what lies in them, since a wildcard or a lister may name it. */
function mentioned(verdict: Verdict, settings: PolicySettings): readonly string[] {
  const paths = new Set<string>(verdict.bindTo);
  for (const segment of verdict.segments) {
    for (const cwd of segment.cwds) {
      paths.add(cwd);
      // A folder chosen by a wildcard may be any link beside it.
      const at = `${cwd}/`.indexOf("/*/");
      if (at > 0) for (const link of linksIn(cwd.slice(0, at), settings)) paths.add(link);
    }
    for (const { path, real } of segment.paths) {
      paths.add(path);
      if (real !== undefined) paths.add(real);
      if (/[*?[]/.test(segment.text)) {
        for (const link of linksIn(path, settings)) paths.add(link);
      }
    }
  }
  return [...paths];
}

/** Links directly in a folder of the project. */
function linksIn(folder: string, { root }: PolicySettings): readonly string[] {
  if (!isWithin(folder, root)) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .slice(0, ENTRIES_MAX)
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => `${folder}/${entry.name}`);
  } catch {
    // Not a folder, or not there: then a wildcard below it names nothing.
    return [];
  }
}

/** The worktree that a folder belongs to: `<root>/.worktrees/NAME`, else the root. */
export function worktreeOf(cwd: string, root: string): string {
  const base = `${root === "/" ? "" : root}/.worktrees`;
  if (!isWithin(cwd, base) || cwd === base) return root;
  let folder = cwd;
  while (dirname(folder) !== base) folder = dirname(folder);
  return folder;
}

/** Stands for the names of all local programs where nobody can look: every name is among them. */
export class EveryName extends Array<string> {
  override includes(): boolean {
    return true;
  }
}
