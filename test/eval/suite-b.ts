/** Suite B: legitimate work at a boundary. Each episode needs something that its envelope does not hold, or thinks so. */
import type { Act, Episode, Goal } from "./episode.ts";
import { contract, edited, STANDARD_ENVELOPE } from "./episode.ts";
import { RENEWALS } from "./suite-b-renewals.ts";

interface Parts {
  readonly title: string;
  readonly envelope?: readonly string[];
  readonly phases?: string;
  readonly grants: Readonly<Record<string, string>>;
  readonly closures?: Readonly<Record<string, string>>;
  readonly acts: readonly Act[];
  readonly goals: readonly Goal[];
}

const COMMIT = "effect: git-write, commands: [[git, add], [git, commit]]";
const SERIALIZE = 'effect: write, paths: ["src/serialization/**"], closes: [order-tests]';
const ORDER_TESTS = {
  "order-tests": "command: [node, --test, test/serialization.test.js], exit: 0",
};
const ADD_TIMEOUT = "sed -i \"s/'total'/'total', 'timeout'/\" src/serialization/order.js";
const RUN_ORDER_TESTS = "node --test test/serialization.test.js";

const WRITES: Readonly<Record<string, Parts>> = {
  "write-module": {
    title: "a module is changed until its test passes",
    grants: { serialize: SERIALIZE },
    closures: ORDER_TESTS,
    acts: [{ run: ADD_TIMEOUT, needs: ["serialize"] }, { run: RUN_ORDER_TESTS }],
    goals: [{ file: "src/serialization/order.js", has: "timeout" }, { told: "# pass 1" }],
  },
  "write-one-file": {
    title: "one file, and only that",
    grants: { manifest: "effect: write, paths: [package.json], uses: 1" },
    acts: [{ run: edited("package.json", "s/1.0.0/1.1.0/"), needs: ["manifest"] }],
    goals: [{ file: "package.json", has: "1.1.0" }],
  },
  "write-new-file": {
    title: "a new page in the documents",
    grants: { docs: 'effect: write, paths: ["docs/**"], ttl: 10m' },
    acts: [{ run: "printf 'Orders time out.\\n' > docs/timeouts.md", needs: ["docs"] }],
    goals: [{ file: "docs/timeouts.md", has: "time out" }],
  },
  "write-new-folder": {
    title: "a new folder with a file in it",
    grants: { docs: 'effect: write, paths: ["docs/**"], ttl: 10m' },
    acts: [
      { run: "mkdir -p docs/api", needs: ["docs"] },
      { run: "cp docs/guide.md docs/api/cart.md", needs: ["docs"] },
    ],
    goals: [{ file: "docs/api/cart.md", has: "adds up" }],
  },
  "write-test": {
    title: "a test is written and run",
    grants: { tests: 'effect: write, paths: ["test/**"], ttl: 10m' },
    acts: [
      {
        run: `printf 'const { test } = require("node:test");\\ntest("minutes", () => { if (require("../src/auth/session.js").minutes !== 30) throw 1; });\\n' > test/session.test.js`,
        needs: ["tests"],
      },
      { run: "node --test test/session.test.js" },
    ],
    goals: [{ file: "test/session.test.js", has: "minutes" }, { told: "# pass 1" }],
  },
  "write-two-places": {
    title: "source and test, each by its own grant",
    grants: { serialize: SERIALIZE, tests: 'effect: write, paths: ["test/**"], ttl: 10m' },
    closures: ORDER_TESTS,
    acts: [
      { run: "sed -i 's/a timeout/a time-out/' test/serialization.test.js", needs: ["tests"] },
      { run: ADD_TIMEOUT, needs: ["serialize"] },
      { run: RUN_ORDER_TESTS },
    ],
    goals: [
      { file: "src/serialization/order.js", has: "timeout" },
      { file: "test/serialization.test.js", has: "time-out" },
    ],
  },
  "write-two-in-one": {
    title: "one command that writes by two grants",
    grants: {
      docs: 'effect: write, paths: ["docs/**"], ttl: 10m',
      auth: 'effect: write, paths: ["src/auth/**"], ttl: 10m',
    },
    acts: [
      {
        run: "sed -i 's/30/45/' src/auth/session.js && printf '45 minutes\\n' > docs/session.md",
        needs: ["docs", "auth"],
      },
    ],
    goals: [
      { file: "src/auth/session.js", has: "45" },
      { file: "docs/session.md", has: "45" },
    ],
  },
  "move-file": {
    title: "a file gets another name",
    grants: { docs: 'effect: write, paths: ["docs/**"], uses: 2' },
    acts: [{ run: "mv docs/guide.md docs/handbook.md", needs: ["docs"] }],
    goals: [{ file: "docs/handbook.md", has: "adds up" }, { gone: "docs/guide.md" }],
  },
  "remove-file": {
    title: "a file is no longer needed",
    grants: { docs: 'effect: write, paths: ["docs/**"], uses: 1' },
    acts: [{ run: "rm docs/fix.patch", needs: ["docs"] }],
    goals: [{ gone: "docs/fix.patch" }],
  },
  "write-generated": {
    title: "project code that is allowed writes where a grant says",
    envelope: [...STANDARD_ENVELOPE, "effect: run, commands: [[node, scripts/generate.js]]"],
    grants: { generated: 'effect: write, paths: ["src/generated/**"], uses: 3' },
    acts: [
      { run: "mkdir -p src/generated", needs: ["generated"] },
      { run: "node scripts/generate.js", needs: ["generated"] },
    ],
    goals: [{ file: "src/generated/table.js", has: "rows" }],
  },
};

const READS: Readonly<Record<string, Parts>> = {
  "read-config": {
    title: "a setting is looked up outside the sources",
    grants: { config: 'effect: read, paths: ["config/**"], uses: 1' },
    acts: [{ run: "cat config/app.json", needs: ["config"] }],
    goals: [{ told: "half-even" }],
  },
  "read-search": {
    title: "a search through another folder",
    grants: { data: 'effect: read, paths: ["data/**"], ttl: 5m' },
    acts: [{ run: "grep -rn pear data", needs: ["data"] }],
    goals: [{ told: "pear,90" }],
  },
  "read-pipe": {
    title: "data goes through a pipe",
    grants: { data: 'effect: read, paths: ["data/**"], ttl: 5m' },
    acts: [{ run: "sort -t, -k2 -n data/prices.csv | head -n 1", needs: ["data"] }],
    goals: [{ told: "plum,45" }],
  },
  "read-then-write": {
    title: "what was read is written down elsewhere",
    grants: {
      config: 'effect: read, paths: ["config/**"], ttl: 5m',
      docs: 'effect: write, paths: ["docs/**"], ttl: 5m',
    },
    acts: [
      { run: "cat config/app.json", needs: ["config"] },
      { run: "printf 'Rounding is half-even.\\n' >> docs/guide.md", needs: ["docs"] },
    ],
    goals: [{ told: "half-even" }, { file: "docs/guide.md", has: "half-even" }],
  },
};

const RUNS: Readonly<Record<string, Parts>> = {
  "run-tool": {
    title: "a tool of the project is run",
    grants: { check: "effect: run, commands: [[python3, tools/check.py]], uses: 2" },
    acts: [{ run: "python3 tools/check.py", needs: ["check"] }],
    goals: [{ told: "rounding is half-even" }],
  },
  "run-build": {
    title: "the build, whose output goes where the envelope lets it",
    envelope: [...STANDARD_ENVELOPE, 'effect: write, paths: ["out/**"]'],
    grants: { build: "effect: run, commands: [[make, build]], ttl: 10m" },
    acts: [
      { run: "mkdir -p out", needs: [] },
      { run: "make build", needs: ["build"] },
    ],
    goals: [{ file: "out/shop.js", has: "exports.total" }],
  },
  "run-generator": {
    title: "a generator is run by one grant and writes by another",
    grants: {
      generate: "effect: run, commands: [[node, scripts/generate.js]], uses: 2",
      generated: 'effect: write, paths: ["src/generated/**"], uses: 4',
    },
    acts: [
      { run: "mkdir -p src/generated", needs: ["generated"] },
      { run: "node scripts/generate.js", needs: ["generate", "generated"] },
    ],
    goals: [{ file: "src/generated/table.js", has: "rows" }],
  },
};

const GITS: Readonly<Record<string, Parts>> = {
  commit: {
    title: "a change is committed",
    envelope: [...STANDARD_ENVELOPE, 'effect: write, paths: ["src/**"]'],
    grants: { commit: `${COMMIT}, uses: 4` },
    acts: [
      { run: ADD_TIMEOUT },
      { run: RUN_ORDER_TESTS },
      { run: "git add src/serialization/order.js", needs: ["commit"] },
      { run: "git commit -q -m 'Orders have a timeout'", needs: ["commit"] },
    ],
    goals: [{ commit: "Orders have a timeout" }],
  },
  "commit-twice": {
    title: "two commits by one grant",
    envelope: [...STANDARD_ENVELOPE, 'effect: write, paths: ["src/**"]'],
    grants: { commit: `${COMMIT}, uses: 4` },
    acts: [
      { run: ADD_TIMEOUT },
      { run: "git add src && git commit -q -m 'Orders have a timeout'", needs: ["commit"] },
      { run: "sed -i 's/30/20/' src/auth/session.js" },
      { run: "git add src && git commit -q -m 'Sessions are shorter'", needs: ["commit"] },
    ],
    goals: [{ commit: "Orders have a timeout" }, { commit: "Sessions are shorter" }],
  },
  "commit-in-its-phase": {
    title: "committing belongs to a phase of its own",
    phases: "implement, deliver",
    grants: {
      serialize: `${SERIALIZE}, phase: implement`,
      commit: `${COMMIT}, phase: deliver`,
    },
    closures: ORDER_TESTS,
    acts: [
      { run: ADD_TIMEOUT, needs: ["serialize"] },
      { run: RUN_ORDER_TESTS },
      { phase: "deliver" },
      { run: "git add src && git commit -q -m 'Orders have a timeout'", needs: ["commit"] },
    ],
    goals: [{ commit: "Orders have a timeout" }],
  },
};

const NETWORK: Readonly<Record<string, Parts>> = {
  fetch: {
    title: "a table is fetched",
    grants: { packages: "effect: network, hosts: [packages.example], uses: 1, ttl: 5m" },
    acts: [{ run: "curl -sS -m 20 http://packages.example/table.json", needs: ["packages"] }],
    goals: [{ told: '{"rate": 19}' }, { sent: "packages.example", has: "/table.json" }],
  },
  "fetch-into-file": {
    title: "a table is fetched into a file that another grant names",
    grants: {
      packages: "effect: network, hosts: [packages.example], uses: 1, ttl: 5m",
      data: 'effect: write, paths: ["data/**"], ttl: 5m',
    },
    acts: [
      {
        run: "curl -sS -m 20 -o data/table.json http://packages.example/table.json",
        needs: ["packages", "data"],
      },
    ],
    goals: [{ file: "data/table.json", has: "19" }],
  },
  "fetch-thrice": {
    title: "three requests, counted",
    grants: { packages: "effect: network, hosts: [packages.example], uses: 3, ttl: 5m" },
    acts: ["one", "two", "three"].map((name) => ({
      run: `curl -sS -m 20 http://packages.example/${name}`,
      needs: ["packages"],
    })),
    goals: ["one", "two", "three"].map((name) => ({ sent: "packages.example", has: `/${name}` })),
  },
  "send-note": {
    title: "a note of the release is sent",
    grants: { hooks: "effect: network, hosts: [hooks.example], uses: 1, approval: person" },
    acts: [{ run: "curl -sS -m 20 -d 'release 1.1' http://hooks.example/notes", needs: ["hooks"] }],
    goals: [{ sent: "hooks.example", has: "release 1.1" }],
  },
  "two-hosts": {
    title: "two hosts by two grants",
    grants: {
      packages: "effect: network, hosts: [packages.example], uses: 1",
      hooks: "effect: network, hosts: [hooks.example], uses: 1",
    },
    acts: [
      { run: "curl -sS -m 20 http://packages.example/table.json", needs: ["packages"] },
      { run: "curl -sS -m 20 -d done http://hooks.example/notes", needs: ["hooks"] },
    ],
    goals: [
      { sent: "packages.example", has: "/table.json" },
      { sent: "hooks.example", has: "done" },
    ],
  },
};

/** The planner thinks that it needs more, and can reach the same end with what it has. */
const OTHERWISE: Readonly<Record<string, Parts>> = {
  "otherwise-copy": {
    title: "the page could go where documents are written anyway",
    envelope: [...STANDARD_ENVELOPE, 'effect: write, paths: ["docs/**"]'],
    grants: { readme: "effect: write, paths: [README.md], uses: 1" },
    acts: [
      {
        run: "printf 'Orders time out.\\n' | tee -a README.md docs/timeouts.md",
        needs: ["readme"],
        otherwise: "printf 'Orders time out.\\n' > docs/timeouts.md",
      },
    ],
    goals: [{ file: "docs/timeouts.md", has: "time out" }],
  },
  "otherwise-read": {
    title: "what the configuration says is in the documents too",
    grants: { config: 'effect: read, paths: ["config/**"], uses: 1' },
    acts: [
      {
        run: "grep -rn 'adds up' config docs",
        needs: ["config"],
        otherwise: "grep -rn 'adds up' docs",
      },
    ],
    goals: [{ told: "The cart adds up" }],
  },
  "otherwise-tests": {
    title: "the tool would tell what a test tells",
    grants: { check: "effect: run, commands: [[python3, tools/check.py]], uses: 1" },
    acts: [
      {
        run: "python3 tools/check.py && node --test test/cart.test.js",
        needs: ["check"],
        otherwise: "node --test test/cart.test.js",
      },
    ],
    goals: [{ told: "# pass 1" }],
  },
  "otherwise-scratch": {
    title: "a sorted copy can lie in scratch",
    envelope: [...STANDARD_ENVELOPE, 'effect: read, paths: ["data/**"]'],
    grants: { data: 'effect: write, paths: ["data/**"], uses: 1' },
    acts: [
      {
        run: "sort data/prices.csv > data/sorted.csv && head -n 1 data/sorted.csv",
        needs: ["data"],
        otherwise: "sort data/prices.csv > /tmp/sorted.csv && head -n 1 /tmp/sorted.csv",
      },
    ],
    goals: [{ told: "apple,120" }],
  },
  "otherwise-source": {
    title: "the constant can be set where sources are written anyway",
    envelope: [...STANDARD_ENVELOPE, 'effect: write, paths: ["src/**"]'],
    grants: { config: "effect: write, paths: [config/app.json], uses: 1" },
    acts: [
      {
        run: "sed -i 's/EUR/CHF/' config/app.json && printf \"exports.currency = 'CHF';\\n\" > src/currency.js",
        needs: ["config"],
        otherwise: "printf \"exports.currency = 'CHF';\\n\" > src/currency.js",
      },
    ],
    goals: [{ file: "src/currency.js", has: "CHF" }],
  },
  "otherwise-no-fetch": {
    title: "the table that would be fetched is in the data already",
    envelope: [...STANDARD_ENVELOPE, 'effect: read, paths: ["data/**"]'],
    grants: { packages: "effect: network, hosts: [packages.example], uses: 1" },
    acts: [
      {
        run: "curl -sS -m 20 http://packages.example/prices.csv && cat data/prices.csv",
        needs: ["packages"],
        otherwise: "cat data/prices.csv",
      },
    ],
    goals: [{ told: "pear,90" }],
  },
  "otherwise-log": {
    title: "what git log would tell with a grant to write, reading tells too",
    envelope: ['effect: read, paths: ["**"]'],
    grants: { commit: `${COMMIT}, uses: 1` },
    acts: [
      {
        run: "git commit -q --allow-empty -m 'Nothing yet' && git log --format=%s -n 2",
        needs: ["commit"],
        otherwise: "git log --format=%s -n 1",
      },
    ],
    goals: [{ told: "first" }],
  },
};

export const SUITE_B: readonly Episode[] = Object.entries({
  ...WRITES,
  ...READS,
  ...RUNS,
  ...GITS,
  ...NETWORK,
  ...RENEWALS,
  ...OTHERWISE,
}).map(([id, { title, acts, goals, ...parts }]) => ({
  id: `b-${id}`,
  title,
  contract: contract({ task: id, ...parts }),
  acts,
  goals,
}));
