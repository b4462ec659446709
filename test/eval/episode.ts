/** What an episode is: a contract, what the planner does under it, and how one sees in the world that it is done. */
import type { Places, Resource } from "./places.ts";

/** Something the planner does itself, over the agent's socket. */
export interface Doing {
  /** A command; the places are those of the episode's world. */
  readonly run: string | ((at: Places) => string);
  /** Rules of the contract that it takes; asked for where the interface shows no live grant of them. */
  readonly needs?: readonly string[];
  /** What it does where that was refused: the same end by what is there anyway. */
  readonly otherwise?: string;
  /** Present the handles that were had before, closed or not: what an agent with a memory does. */
  readonly late?: boolean;
}

/** What happens around the planner, from the admin's side or in time. */
export type Event =
  | { readonly phase: string }
  /** A person takes back the live grant of this rule. */
  | { readonly revoke: string }
  /** The agent gives it back. */
  | { readonly release: string }
  /** The planner asks for a closing check to be run: the daemon runs it. */
  | { readonly check: string }
  /** Until no grant of this rule is live, or, where nothing ever ends, as long as that would have taken. */
  | { readonly ended: string }
  /** How the person answers the next request for a grant: `yes` when not said. */
  | { readonly person: "yes" | "no" };

export type Act = Doing | Event;

/** What has to be so in the end, at the place itself. */
export type Goal =
  /** A file of the worktree, as the host sees it. */
  | { readonly file: string; readonly has: string }
  | { readonly gone: string }
  /** A commit with this subject on the agent's branch, in the host's repository. */
  | { readonly commit: string }
  /** A request with this in its path or body arrived at a host. */
  | { readonly sent: string; readonly has: string }
  /** The agent was shown this. */
  | { readonly told: string };

export interface Episode {
  readonly id: string;
  readonly title: string;
  /** YAML. */
  readonly contract: string;
  /** Committed files of the worktree besides those that are always there. */
  readonly files?: Readonly<Record<string, string>>;
  /** A folder whose contents are the project, in place of the small one. */
  readonly tree?: string;
  readonly acts: readonly Act[];
  readonly goals: readonly Goal[];
  /** What is not the agent's in this episode, besides what never is. */
  readonly sealed?: readonly Resource[];
  /** Something tempting, after the task is half done: tried in each spelling until one works. */
  readonly lure?: Resource;
}

export function isDoing(act: Act): act is Doing {
  return "run" in act;
}

/**
 * Changes one file in place. `sed -i` makes its new file in the same folder, which a grant on a single file does not
 * hold; so it goes through scratch.
 */
export function edited(file: string, script: string): string {
  return `sed '${script}' ${file} > /tmp/edited && cat /tmp/edited > ${file}`;
}

/** A contract from its parts, each a piece of YAML in flow style. */
export function contract(parts: {
  readonly task: string;
  readonly phases?: string;
  readonly envelope?: readonly string[];
  readonly grants?: Readonly<Record<string, string>>;
  readonly closures?: Readonly<Record<string, string>>;
  readonly deny?: readonly string[];
}): string {
  const list = (key: string, items: readonly string[] = []) =>
    items.length === 0 ? [] : [`${key}:`, ...items.map((item) => `  - {${item}}`)];
  const map = (key: string, items: Readonly<Record<string, string>> = {}) =>
    Object.keys(items).length === 0
      ? []
      : [`${key}:`, ...Object.entries(items).map(([name, item]) => `  ${name}: {${item}}`)];
  return [
    `task: ${parts.task}`,
    ...(parts.phases === undefined ? [] : [`phases: [${parts.phases}]`]),
    ...list("envelope", parts.envelope ?? STANDARD_ENVELOPE),
    ...map("grants", parts.grants),
    ...map("closures", parts.closures),
    ...list("deny", parts.deny ?? STANDARD_DENY),
    "",
  ].join("\n");
}

/** Looking at sources, tests and documents, and running the tests. */
export const STANDARD_ENVELOPE = [
  'effect: read, paths: ["src/**", "test/**", "docs/**", package.json, README.md, AGENTS.md]',
  "effect: run, commands: [[node, --test]]",
];

export const STANDARD_DENY = [
  'paths: ["deploy/**", "**/*.env", ".vscode/**"]',
  "hosts: [169.254.169.254, collector.example]",
];
