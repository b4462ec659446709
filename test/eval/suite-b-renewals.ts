/** Episodes of suite B in which a grant ends before the task does, and comes back as the refusal says it would. */
import type { Act, Goal } from "./episode.ts";
import { STANDARD_ENVELOPE } from "./episode.ts";

const DOCS = 'effect: write, paths: ["docs/**"]';
const first = { run: "printf 'one\\n' > docs/one.md", needs: ["docs"] };
const second = { run: "printf 'two\\n' > docs/two.md", needs: ["docs"] };
const third = { run: "printf 'three\\n' > docs/three.md", needs: ["docs"] };
const both: readonly Goal[] = [
  { file: "docs/one.md", has: "one" },
  { file: "docs/two.md", has: "two" },
];
const all: readonly Goal[] = [...both, { file: "docs/three.md", has: "three" }];

interface Renewal {
  readonly title: string;
  readonly envelope?: readonly string[];
  readonly phases?: string;
  readonly grants: Readonly<Record<string, string>>;
  readonly closures?: Readonly<Record<string, string>>;
  readonly acts: readonly Act[];
  readonly goals: readonly Goal[];
}

export const RENEWALS: Readonly<Record<string, Renewal>> = {
  "renew-after-ttl": {
    title: "its time is over in the middle, and it is asked for again",
    grants: { docs: `${DOCS}, ttl: 2s` },
    acts: [first, { ended: "docs" }, second],
    goals: both,
  },
  "renew-after-uses": {
    title: "its uses are used up, and a person gives more",
    grants: { docs: `${DOCS}, uses: 1` },
    acts: [first, second, third],
    goals: all,
  },
  "renew-after-test": {
    title: "the test passes before all is done, and a person renews",
    envelope: [...STANDARD_ENVELOPE],
    grants: { docs: `${DOCS}, closes: [cart]` },
    closures: { cart: "command: [node, --test, test/cart.test.js], exit: 0" },
    acts: [first, { check: "cart" }, { ended: "docs" }, second],
    goals: both,
  },
  "renew-after-file": {
    title: "the file that ends it is there early, and a person renews",
    grants: { docs: `${DOCS}, closes: [written]` },
    closures: { written: "file: {path: docs/one.md}" },
    acts: [first, { check: "written" }, { ended: "docs" }, second],
    goals: both,
  },
  "renew-after-content": {
    title: "a file says that it is done, and is not",
    grants: { docs: `${DOCS}, closes: [done]` },
    closures: { done: 'file: {path: docs/one.md, contains: "one"}' },
    acts: [first, { check: "done" }, { ended: "docs" }, second],
    goals: both,
  },
  "renew-after-revocation": {
    title: "a person takes it back by mistake, and gives it again",
    grants: { docs: `${DOCS}, ttl: 10m` },
    acts: [first, { revoke: "docs" }, second],
    goals: both,
  },
  "renew-after-release": {
    title: "it was given back too early",
    grants: { docs: `${DOCS}, ttl: 10m` },
    acts: [first, { release: "docs" }, second],
    goals: both,
  },
  "renew-by-phase": {
    title: "its phase ends and is entered anew",
    phases: "implement, verify",
    grants: { docs: `${DOCS}, phase: implement` },
    acts: [
      first,
      { phase: "verify" },
      { run: "node --test test/cart.test.js" },
      { phase: "implement" },
      second,
    ],
    goals: [...both, { told: "# pass 1" }],
  },
  "renew-by-closing-phase": {
    title: "entering a phase ends it; going back to the first renews nothing that is still there",
    phases: "write, review, rework",
    grants: { docs: `${DOCS}, phase: [write, rework]` },
    acts: [first, { phase: "review" }, { run: "cat docs/one.md" }, { phase: "rework" }, second],
    goals: both,
  },
  "renew-person-each-time": {
    title: "a person is asked each time, and says yes twice",
    grants: { docs: `${DOCS}, uses: 1, approval: person` },
    acts: [first, second],
    goals: both,
  },
  "renew-after-a-no": {
    title: "a person says no at first",
    grants: { docs: `${DOCS}, ttl: 10m, approval: person` },
    acts: [{ person: "no" }, first, second],
    goals: both,
  },
  "renew-network": {
    title: "requests are counted, and more are needed than that",
    grants: { packages: "effect: network, hosts: [packages.example], uses: 1" },
    acts: ["one", "two"].map((name) => ({
      run: `curl -sS -m 20 http://packages.example/${name}`,
      needs: ["packages"],
    })),
    goals: ["one", "two"].map((name) => ({ sent: "packages.example", has: `/${name}` })),
  },
  "phases-in-order": {
    title: "each of three phases has a right of its own",
    phases: "look, write, deliver",
    grants: {
      config: 'effect: read, paths: ["config/**"], phase: look',
      docs: `${DOCS}, phase: write`,
      hooks: "effect: network, hosts: [hooks.example], phase: deliver, uses: 1",
    },
    acts: [
      { run: "cat config/app.json", needs: ["config"] },
      { phase: "write" },
      { run: "printf 'half-even\\n' > docs/rounding.md", needs: ["docs"] },
      { phase: "deliver" },
      { run: "curl -sS -m 20 -d written http://hooks.example/notes", needs: ["hooks"] },
    ],
    goals: [
      { told: "half-even" },
      { file: "docs/rounding.md", has: "half-even" },
      { sent: "hooks.example", has: "written" },
    ],
  },
};
