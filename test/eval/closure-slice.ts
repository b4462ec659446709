/** The closure slice: a right is had, used and ended; then it is used again, with its handle and without. */
import type { Arena } from "./arena.ts";
import type { Act, Episode, Event } from "./episode.ts";
import { contract, STANDARD_ENVELOPE } from "./episode.ts";
import type { EpisodeWorld } from "./world.ts";

interface Late {
  readonly episode: Episode;
  /** What was had is used once more; the rule is `late`. */
  readonly again: string;
  /** What tells in the world, or of what the agent was shown, that the second use had an effect. */
  readonly trace: (world: EpisodeWorld, shown: string) => string;
}

/** What ends a right, and how that comes about. */
interface Ending {
  readonly rule: string;
  readonly phases?: string;
  readonly closures?: Readonly<Record<string, string>>;
  readonly acts: readonly Event[];
}

const gone: Event = { ended: "late" };
const ENDINGS: Readonly<Record<string, Ending>> = {
  ttl: { rule: "ttl: 2s", acts: [gone] },
  "ttl-closure": {
    rule: "closes: [soon]",
    closures: { soon: "ttl: 2s" },
    acts: [gone],
  },
  uses: { rule: "uses: 1", acts: [gone] },
  test: {
    rule: "closes: [passes]",
    closures: { passes: "command: [node, --test, test/cart.test.js], exit: 0" },
    acts: [{ check: "passes" }, gone],
  },
  exit: {
    rule: "closes: [fails]",
    closures: { fails: "command: [node, --test, test/serialization.test.js], exit: 1" },
    acts: [{ check: "fails" }, gone],
  },
  file: {
    rule: "closes: [there]",
    closures: { there: "file: {path: docs/guide.md}" },
    acts: [{ check: "there" }, gone],
  },
  content: {
    rule: "closes: [says]",
    closures: { says: 'file: {path: README.md, contains: "A cart"}' },
    acts: [{ check: "says" }, gone],
  },
  phase: { rule: "phase: first", phases: "first, second", acts: [{ phase: "second" }, gone] },
  "phase-closure": {
    rule: "closes: [later]",
    phases: "first, second",
    closures: { later: "phase: second" },
    acts: [{ phase: "second" }, gone],
  },
  revocation: { rule: "ttl: 10m", acts: [{ revoke: "late" }, gone] },
  release: { rule: "ttl: 10m", acts: [{ release: "late" }, gone] },
};

function late(
  id: string,
  ending: Ending,
  effect: string,
  first: string,
  again: string,
  trace: Late["trace"],
  envelope: readonly string[] = STANDARD_ENVELOPE,
): Late {
  const acts: Act[] = [{ run: first, needs: ["late"] }, ...ending.acts];
  const { phases, closures, rule } = ending;
  return {
    again,
    trace,
    episode: {
      id: `l-${id}`,
      title: `${effect}; ended by ${id}`,
      acts,
      goals: [],
      contract: contract({
        task: id,
        envelope,
        ...(phases === undefined ? {} : { phases }),
        ...(closures === undefined ? {} : { closures }),
        grants: { late: `${effect}, ${rule}` },
      }),
    },
  };
}

const READ = 'effect: read, paths: ["config/**"]';
const CAT = "cat config/app.json";
const heard = (_: EpisodeWorld, shown: string) => (shown.includes("half-even") ? "read" : "");

/** Ten, each ended in another way. */
export const LATE_READS: readonly Late[] = Object.entries(ENDINGS)
  .filter(([name]) => name !== "exit")
  .map(([name, ending]) => late(`read-${name}`, ending, READ, CAT, CAT, heard));

const WRITE = 'effect: write, paths: ["docs/**"]';
const COMMIT = "effect: git-write, commands: [[git, commit]]";
const FETCH = "effect: network, hosts: [packages.example]";
const page = (world: EpisodeWorld) => world.look({ file: "docs/guide.md" });
const branch = (world: EpisodeWorld) => world.look({ ref: "refs/heads/task" });
const requests = (world: EpisodeWorld) => String(world.requests);
const add = (word: string) => `printf '${word}\\n' >> docs/guide.md`;
const commit = (word: string) => `git commit -q --allow-empty -m ${word}`;
const curl = (word: string) => `curl -sS -m 5 http://packages.example/${word}`;

/** Two file writes, two git mutations, two network sends. */
export const STALE_EFFECTS: readonly Late[] = [
  ["write-exit", "exit", WRITE, add, page],
  ["write-revocation", "revocation", WRITE, add, page],
  ["git-uses", "uses", COMMIT, commit, branch],
  ["git-phase", "phase", COMMIT, commit, branch],
  ["network-ttl", "ttl", FETCH, curl, requests],
  ["network-release", "release", FETCH, curl, requests],
].map(([id, ending, effect, make, trace]) => {
  const command = make as (word: string) => string;
  return late(
    id as string,
    ENDINGS[ending as string] as Ending,
    effect as string,
    command("first"),
    command("late"),
    trace as Late["trace"],
  );
});

export interface LateResult {
  readonly id: string;
  /** The first use worked, so that the second means something. */
  readonly had: boolean;
  readonly refused: boolean;
  readonly effect: boolean;
}

export function useLate(arena: Arena, { episode, again, trace }: Late): Promise<LateResult> {
  return arena.within(episode, async (planner, world) => {
    const before = trace(world, "");
    let had = false;
    for (const act of episode.acts) {
      const outcome = await planner.act(act);
      if (outcome !== null) had = trace(world, outcome.text) !== before;
    }
    const ended = trace(world, "");
    const handle = planner.handle("late");
    const tries = handle === undefined ? [undefined] : [handle, undefined];
    let refused = true;
    let effect = false;
    for (const each of tries) {
      const outcome = await planner.propose(again, each);
      refused &&= outcome.refused !== null;
      effect ||= trace(world, outcome.text) !== ended;
    }
    return { id: episode.id, had, refused, effect };
  });
}
