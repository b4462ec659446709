/** Contract and policy together: what a contract leaves of a verdict, and what its grants add. */
import { describe, expect, it } from "vitest";
import { writablePaths } from "../../daemon/authority/envelope.ts";
import { type Fitted, fitVerdict } from "../../daemon/authority/fit.ts";
import { denyRules, presentedGrants, toAuthority } from "../../daemon/authority/policy-input.ts";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import type { PolicySettings, Rule, Standing, Verdict } from "../../daemon/policy/types.ts";
import { compiled, MINUTE, Play } from "./contracts.ts";

const ROOT = "/p";
const WORKTREE = "/p/w";
const DEV: Standing = {
  read: "allow",
  build: "allow",
  run: "allow",
  write: "allow",
  scratch: "allow",
  "git-write": "allow",
  loopback: "allow",
};

interface Asked {
  readonly standing?: Partial<Standing>;
  readonly presented?: readonly string[];
  readonly rules?: readonly Rule[];
  /** Whether the sandbox has a kernel that holds commands. */
  readonly held?: boolean;
}

function fitted(play: Play, command: string, asked: Asked = {}): Fitted {
  const { standing = {}, presented, rules = [], held = true } = asked;
  const { contract } = play.state;
  const settings: PolicySettings = {
    profile: "dev",
    standing: { ...DEV, ...standing },
    root: ROOT,
    worktree: WORKTREE,
    readable: [],
    scratch: ["/tmp"],
    home: "/home/agent",
    protectedBranches: ["main"],
    protectedFiles: [],
    verbs: [],
    unknown: "ask",
    kernelConfinement: held,
    denials: { consecutive: 3, total: 20 },
  };
  const shown = { now: play.now, ...(presented === undefined ? {} : { presented }) };
  const verdict = evaluate({
    request: { command, cwd: WORKTREE },
    settings,
    facts: { branch: "topic", localBins: [], realpath: {}, escapingLinks: [] },
    rules: { rules: [...(contract === null ? [] : denyRules(contract)), ...rules] },
    authority: toAuthority(play.state, { worktree: WORKTREE, ...shown }),
    denials: { consecutive: {}, total: 0 },
  });
  const grants = presentedGrants(play.state, shown);
  return fitVerdict(verdict, { contract, grants, worktree: WORKTREE, scratch: ["/tmp"], held });
}

function verdictOf(play: Play, command: string, asked?: Asked): Verdict {
  return fitted(play, command, asked).verdict;
}

function decided(play: Play, command: string, asked?: Asked): string {
  const { verdict, segments } = verdictOf(play, command, asked);
  return `${verdict} ${segments.find((each) => each.verdict === verdict)?.rule}`;
}

function holding(...grants: readonly (readonly [string, string])[]): Play {
  const play = new Play();
  for (const [rule, handle] of grants) play.do({ type: "request", rule, reason: "r", handle });
  return play;
}

describe("a session without a contract", () => {
  it("has what its profile gives, untouched", () => {
    const play = new Play(null);
    expect([
      decided(play, "npm test"),
      decided(play, "echo x > src/a"),
      decided(play, "npm test", { standing: { build: "ask" } }),
    ]).toEqual(["allow scope/build", "allow scope/write", "ask profile/build"]);
  });
});

describe("the envelope of a contract narrows the profile (C1)", () => {
  it("what the envelope does not name asks, and the answer says which grant to request", () => {
    const play = new Play();
    expect([
      decided(play, "cat src/a"),
      decided(play, "npm test"),
      decided(play, "npm run build"),
      decided(play, "echo x > src/serialization/a"),
      decided(play, "git commit -m x"),
      decided(play, "cat src/a && make all"),
      decided(play, "echo x"),
    ]).toEqual([
      "allow scope/read",
      "allow scope/build",
      "ask contract/run",
      "ask contract/write",
      "ask contract/git-write",
      "ask contract/run",
      "allow scope/read",
    ]);
    const { verdict, roots, reason, instead, always } = verdictOf(play, "echo x > src/a");
    expect({ verdict, roots, reason, instead, always }).toEqual({
      verdict: "ask",
      roots: [],
      reason:
        "`echo x > src/a` is beyond the envelope of the contract propagate-timeout (write) (contract/write)",
      instead: "request a grant: serialize or notes",
      always: undefined,
    });
  });

  it("where no kernel holds commands to its folders, what may write anywhere asks", () => {
    const play = new Play();
    const held = false;
    const makes: Rule = {
      id: "m",
      source: "user",
      action: "allow",
      tool: "exec",
      pattern: ["npm", "*"],
    };
    expect([
      decided(play, "npm test", { held }),
      decided(play, "npm test", { held, rules: [makes] }),
      decided(play, "cat src/a", { held }),
      decided(holding(["serialize", "h1"]), "echo x > src/serialization/a", { held }),
      decided(new Play(null), "npm test", { held }),
    ]).toEqual([
      "ask contract/kernel",
      "ask contract/kernel",
      "allow scope/read",
      "allow h1",
      "allow scope/build",
    ]);
  });

  it("and never widens it: what the profile asks about asks under any contract", () => {
    const play = new Play();
    expect([
      decided(play, "npm test", { standing: { build: "ask" } }),
      decided(play, "cat src/a", { standing: { read: "ask" } }),
    ]).toEqual(["ask profile/build", "ask profile/read"]);
  });

  it("paths bound reading and writing; the sandbox's own folders stay the profile's matter", () => {
    const play = new Play(
      compiled(
        "task: t\nenvelope:\n  - {effect: read, paths: [docs/**]}\n  - {effect: write, paths: [out/**]}\n",
      ).contract,
    );
    expect([
      decided(play, "cat docs/a"),
      decided(play, "cat src/a"),
      decided(play, "cat ../other/a"),
      decided(play, "echo x > out/a"),
      decided(play, "echo x > out-2/a"),
      decided(play, "echo x > /tmp/a"),
      decided(play, "cp docs/a out/b"),
      decided(play, "cp src/a out/b"),
    ]).toEqual([
      "allow scope/read",
      "ask contract/read",
      "ask contract/read",
      "allow scope/write",
      "ask contract/write",
      "allow scope/scratch",
      "allow scope/write",
      "ask contract/read",
    ]);
  });

  it("rules of a session or project stay within it too", () => {
    const allow = (pattern: string[]): Rule => ({
      id: "r",
      source: "session",
      action: "allow",
      tool: "exec",
      pattern,
    });
    const play = new Play();
    play.do({ type: "request", rule: "deps", reason: "r", handle: "h1" });
    play.do({ type: "approve", handle: "h1", by: "ann" });
    expect([
      decided(play, "make all", { rules: [allow(["make", "all"])] }),
      // A grant for one host is none for another that a rule would let pass.
      decided(play, "curl https://other.org/", { rules: [allow(["curl", "https://other.org/"])] }),
    ]).toEqual(["ask contract/run", "ask contract/network"]);
  });
});

describe("grants add what the contract declares", () => {
  it("exactly the resource, only while they live (C3, C6)", () => {
    const play = holding(["serialize", "h1"]);
    const asking = { standing: { write: "ask" as const } };
    const command = "echo x > src/serialization/a";
    const live = [decided(play, command, asking), decided(play, "echo x > src/other", asking)];
    play.do({ type: "closureFired", closure: "focused-tests", evidence: "exit 0" });
    const closing = decided(play, command, asking);
    const presented = verdictOf(play, command, { ...asking, presented: ["h1"] });
    expect([live, closing, presented.verdict, presented.reason]).toEqual([
      ["allow h1", "ask profile/write"],
      "ask profile/write",
      "deny",
      "`echo x > src/serialization/a` names the handle h1, which is not valid: focused-tests fired: exit 0; request serialize again: a person decides (handle)",
    ]);
  });

  it("what the profile asks about names the rules that would settle it, what a safety pattern asks about does not", () => {
    const asking = { standing: { write: "ask" as const } };
    const insteads = ["echo x > src/serialization/a", "rm -rf docs"].map(
      (command) => verdictOf(new Play(), command, asking).instead,
    );
    expect(insteads).toEqual([
      "request a grant: serialize or notes",
      expect.not.stringContaining("grant:"),
    ]);
  });

  it("a stale handle denies even what needs none, before any effect", () => {
    const play = holding(["notes", "h1"]);
    play.after(60 * MINUTE);
    expect([
      decided(play, "cat src/a", { presented: ["h1"] }),
      decided(play, "cat src/a", { presented: ["forged"] }),
      decided(play, "cat src/a", { presented: [] }),
    ]).toEqual(["deny handle", "deny handle", "allow scope/read"]);
  });

  it("a presented handle is the only one that counts", () => {
    const play = holding(["serialize", "h1"], ["notes", "h2"]);
    const asking = { standing: { write: "ask" as const } };
    expect([
      decided(play, "echo x > docs/a", asking),
      decided(play, "echo x > docs/a", { ...asking, presented: ["h2"] }),
      decided(play, "echo x > docs/a", { ...asking, presented: ["h1"] }),
    ]).toEqual(["allow h2", "allow h2", "ask profile/write"]);
  });

  it("G is an absolute deny, under a grant too (C1)", () => {
    const play = holding(["notes", "h1"]);
    expect([
      decided(play, "echo x > docs/private/a"),
      decided(play, "cat src/.env"),
      decided(play, "echo x > docs/.env"),
      decided(play, "git push origin topic"),
      decided(play, "curl https://evil.packages.example.org/a; cat src/a"),
    ]).toEqual([
      "deny contract/deny-write-2",
      "deny contract/deny-read-1",
      "deny contract/deny-write-1",
      "deny contract/deny-command-1",
      "deny contract/deny-host",
    ]);
  });

  it("a worktree whose path reads as a wildcard gives a grant nothing rather than too much", () => {
    const play = holding(["serialize", "h1"]);
    expect(toAuthority(play.state, { worktree: "/p/*", now: play.now })).toEqual({
      grants: [{ id: "h1", effects: [], paths: [], hosts: [], commands: [] }],
    });
  });
});

describe("what an allowed command rests on, so that its uses count and it dies with them (C4)", () => {
  function rests(play: Play, command: string, asked?: Asked): string {
    const { verdict, handles, ambiguous } = fitted(play, command, asked);
    return `${verdict.verdict} [${handles.join(" ")}]${ambiguous ? " ambiguous" : ""}`;
  }

  it("is nothing where the envelope is enough, and the grant where it is not, whatever the profile allows", () => {
    const play = holding(["serialize", "h1"], ["notes", "h2"]);
    expect([
      rests(play, "cat docs/a"),
      // The profile would allow it by itself: the contract does not, so it rests on the grant.
      rests(play, "echo x > docs/a"),
      rests(play, "echo x > docs/a", { standing: { write: "ask" } }),
      rests(play, "echo x > docs/a && echo y > src/serialization/b"),
      rests(play, "cp docs/a src/serialization/b"),
      rests(play, "echo x > src/b"),
      rests(play, "echo x > /tmp/b"),
    ]).toEqual([
      "allow []",
      "allow [h2]",
      "allow [h2]",
      "allow [h2 h1]",
      "allow [h1]",
      "ask []",
      "allow []",
    ]);
  });

  it("is one grant where several would do, and says so", () => {
    const play = holding(["notes", "h1"], ["notes", "h2"]);
    expect([
      rests(play, "echo x > docs/a"),
      rests(play, "echo x > docs/a", { presented: ["h2"] }),
    ]).toEqual(["allow [h1] ambiguous", "allow [h2]"]);
  });

  it("is a person's gift in a session without a contract, when the profile asks", () => {
    const play = new Play(null);
    play.do({
      type: "give",
      handle: "h1",
      by: "ann",
      reason: "for two hours",
      effect: "write",
      resource: { paths: ["lib/**"], hosts: [], commands: [] },
      ttlMs: 120 * MINUTE,
    });
    expect([
      rests(play, "echo x > lib/a", { standing: { write: "ask" } }),
      rests(play, "echo x > lib/a"),
      rests(play, "echo x > src/a", { standing: { write: "ask" } }),
    ]).toEqual(["allow [h1]", "allow []", "ask []"]);
  });
});

describe("what the kernel lets a command write", () => {
  const writable = (play: Play) =>
    writablePaths(play.state.contract, presentedGrants(play.state, { now: play.now }), WORKTREE);

  it("is the envelope's and the used grants' folders and files, the whole worktree only without a contract", () => {
    const whole = compiled("task: t\nenvelope:\n  - {effect: write}\n").contract;
    expect([
      writable(new Play(null)),
      writable(new Play()),
      writable(holding(["serialize", "h1"], ["notes", "h2"])),
      writable(new Play(whole)),
    ]).toEqual([null, [], ["/p/w/src/serialization", "/p/w/docs", "/p/w/NOTES.md"], ["/p/w"]]);
  });
});

describe("what G denies stays denied under a name that it does not spell (C1)", () => {
  const play = new Play(
    compiled(
      `task: t
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: write, paths: ["**"]}
  - {effect: git-write}
deny: [{paths: ["config/private/**", "**/*.pem"]}]
`,
    ).contract,
  );

  it.each(["cat config/*/a", "cat c*/p*/a", "cat config/pri*", "cat k*", "head -1 sub/*"])(
    "by a wildcard: %s",
    (command) => expect(decided(play, command)).toMatch(/^deny contract\/deny-read/),
  );

  it.each(["mv config c2", "mv -t sub config", "git mv config c2", "chmod -R go= ."])(
    "by the folder around it, which changes as a whole: %s",
    (command) => expect(decided(play, command)).toMatch(/^deny contract\/deny-write/),
  );

  it.each([
    "cat conf*/other/a",
    "cat src/*.ts",
    "mv a config",
    "mv a .",
    "mv config/other c2",
    "cp -r a .",
  ])("and nothing else does: %s", (command) => expect(decided(play, command)).toMatch(/^allow /));
});
