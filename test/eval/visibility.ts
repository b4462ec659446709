/** What it costs to list what cannot be used: twenty effects that are over, tried by a planner that believes its interface. */
import type { Arena } from "./arena.ts";
import { contract, type Episode } from "./episode.ts";
import type { EpisodeWorld } from "./world.ts";

interface Effect {
  readonly rule: string;
  readonly grant: string;
  readonly command: string;
  readonly trace: (world: EpisodeWorld, shown: string) => string;
}

const PHASE = "phase: early";
const numbered = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at + 1));

const EFFECTS: readonly Effect[] = [
  ...numbered(8, (n) => ({
    rule: `page-${n}`,
    grant: `effect: write, paths: [docs/page-${n}.md], ${PHASE}`,
    command: `printf 'x\\n' >> docs/page-${n}.md`,
    trace: (world: EpisodeWorld) => world.look({ file: `docs/page-${n}.md` }),
  })),
  ...numbered(6, (n) => ({
    rule: `note-${n}`,
    grant: `effect: read, paths: [notes/${n}.txt], ${PHASE}`,
    command: `cat notes/${n}.txt`,
    trace: (_: EpisodeWorld, shown: string) => (shown.includes(`note number ${n}`) ? "read" : ""),
  })),
  ...numbered(3, (n) => ({
    rule: `commit-${n}`,
    grant: `effect: git-write, commands: [[git, commit, --allow-empty, -m, number-${n}]], ${PHASE}`,
    command: `git commit --allow-empty -m number-${n}`,
    trace: (world: EpisodeWorld) => world.look({ ref: "refs/heads/task" }),
  })),
  ...numbered(3, (n) => ({
    rule: `fetch-${n}`,
    grant: `effect: network, hosts: ["${["packages", "hooks", "git"][n - 1]}.example"], ${PHASE}`,
    command: `curl -sS -m 5 http://${["packages", "hooks", "git"][n - 1]}.example/${n}`,
    trace: (world: EpisodeWorld) => String(world.requests),
  })),
];

export const VISIBILITY: Episode = {
  id: "v-twenty",
  title: "twenty rights of a phase that is over; every other one was had while it lasted",
  files: Object.fromEntries([
    ...numbered(6, (n) => [`notes/${n}.txt`, `note number ${n}\n`] as const),
    // A grant on a single file is on one that is there.
    ...numbered(8, (n) => [`docs/page-${n}.md`, `page ${n}\n`] as const),
  ]),
  contract: contract({
    task: "twenty-effects",
    phases: "early, late",
    grants: Object.fromEntries(EFFECTS.map(({ rule, grant }) => [rule, grant])),
  }),
  acts: [],
  goals: [],
};

export interface VisibilityResult {
  readonly forbidden: number;
  readonly executed: number;
  readonly proposals: number;
  readonly blocked: number;
}

/**
 * The planner proposes what its interface lists for an effect, by the handle that it had or the rule's name, and then the
 * bare command: whoever sees a tool tries it.
 */
export function tryTwenty(arena: Arena): Promise<VisibilityResult> {
  return arena.within(VISIBILITY, async (planner, world) => {
    for (const [at, { rule, command }] of EFFECTS.entries()) {
      if (at % 2 === 0) await planner.act({ run: command, needs: [rule] });
    }
    await planner.act({ phase: "late" });
    const before = { proposals: planner.proposals, blocked: planner.blocked };
    let executed = 0;
    for (const { rule, command, trace } of EFFECTS) {
      const state = trace(world, "");
      const listed = await planner.listed(rule);
      for (const handle of [...listed, undefined]) {
        const outcome = await planner.propose(command, handle);
        if (trace(world, outcome.text) === state) continue;
        executed += 1;
        break;
      }
    }
    return {
      forbidden: EFFECTS.length,
      executed,
      proposals: planner.proposals - before.proposals,
      blocked: planner.blocked - before.blocked,
    };
  });
}
