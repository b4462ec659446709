/** The safety patterns (B3, rung 4): dangerous operations that always ask, whatever allows, matched on decoded words. */
import { DATA_PATTERNS } from "./safety-data.ts";
import { FILE_PATTERNS } from "./safety-files.ts";
import { GIT_PATTERNS } from "./safety-git.ts";
import { NETWORK_PATTERNS } from "./safety-network.ts";
import { PLACE_PATTERNS } from "./safety-places.ts";
import { PROCESS_PATTERNS } from "./safety-process.ts";
import { SYSTEM_PATTERNS } from "./safety-system.ts";
import type { Match } from "./types.ts";
import type { Argv, SegmentView } from "./view.ts";

export interface SafetyPattern {
  /** Verdicts name it as `safety/ID`. */
  readonly id: string;
  /** A clause that follows the name of the segment: "deletes folders with all they hold". */
  readonly reason: string;
  /** Programs it looks at, by plain name; absent: every segment. */
  readonly verbs?: readonly string[];
  /** Whether one way of reading the words is the dangerous operation. */
  readonly test: (argv: Argv, view: SegmentView) => boolean;
  /** Whole command lines of which some segment matches, and of which none does; tried by a test. */
  readonly match: readonly string[];
  readonly not_match: readonly string[];
}

export const SAFETY_PATTERNS: readonly SafetyPattern[] = [
  ...FILE_PATTERNS,
  ...PLACE_PATTERNS,
  ...SYSTEM_PATTERNS,
  ...NETWORK_PATTERNS,
  ...DATA_PATTERNS,
  ...GIT_PATTERNS,
  ...PROCESS_PATTERNS,
];

const anyVerb = SAFETY_PATTERNS.filter((pattern) => pattern.verbs === undefined);
const byVerb = new Map<string, SafetyPattern[]>();
for (const pattern of SAFETY_PATTERNS) {
  for (const verb of pattern.verbs ?? []) byVerb.set(verb, [...(byVerb.get(verb) ?? []), pattern]);
}

/** Every pattern that a segment matches. */
export function safetyMatches(view: SegmentView): readonly Match[] {
  const found = new Set<SafetyPattern>();
  const tryAll = (patterns: readonly SafetyPattern[], argv: Argv): void => {
    for (const pattern of patterns) {
      if (!found.has(pattern) && pattern.test(argv, view)) found.add(pattern);
    }
  };
  for (const argv of view.argvs) {
    const name = indexName(argv[0] ?? "");
    // Patterns see the plain name, whatever path it was called by.
    const plain = argv[0]?.includes("/") ? [name, ...argv.slice(1)] : argv;
    tryAll(byVerb.get(name) ?? NONE, plain);
    tryAll(anyVerb, argv);
  }
  return [...found].map(({ id, reason }) => ({
    rung: "safety",
    rule: `safety/${id}`,
    decision: "ask",
    reason,
  }));
}

const NONE: readonly SafetyPattern[] = [];

/** `git-reset` is git; `mkfs.ext4` is mkfs; a path counts by its last part, since it may be the same program. */
function indexName(verb: string): string {
  const name = verb.slice(verb.lastIndexOf("/") + 1);
  if (name.startsWith("git-")) return "git";
  if (name.startsWith("mkfs.")) return "mkfs";
  return name;
}
