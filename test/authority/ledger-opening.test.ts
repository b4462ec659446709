/** How a right comes to be: each test is a play of commands and what was seen of it. */
import { describe, expect, it } from "vitest";
import { interfaceOf } from "../../daemon/authority/interface.ts";
import { step } from "../../daemon/authority/ledger.ts";
import type { Narrowing } from "../../daemon/authority/ledger-types.ts";
import { GRANTS_LIVE_MAX, GRANTS_PENDING_MAX } from "../../daemon/limits-authority.ts";
import { compiled, invoke, MINUTE, Play, request, T0 } from "./contracts.ts";

const ALLOW = {
  read: "allow",
  build: "allow",
  run: "allow",
  write: "allow",
  scratch: "allow",
  "git-write": "allow",
  loopback: "allow",
} as const;

describe("request → grant (C2, C3)", () => {
  it("a session starts with its envelope and no right besides it", () => {
    const play = new Play();
    expect(play.state).toEqual({
      version: 1,
      session: "s1",
      contract: compiled().contract,
      epoch: 1,
      phase: "implement",
      now: T0,
      pending: [],
      grants: [],
      closed: [],
      spent: [],
      counts: [],
      audit: [],
    });
  });

  it("a declared rule is granted with reason, closures, an end, and the next epoch (C7)", () => {
    const play = new Play();
    const outcome = request(play, "serialize", "h1");
    expect({ outcome, grants: play.state.grants, epoch: play.state.epoch }).toEqual({
      outcome: { ok: true, result: "granted" },
      grants: [
        {
          handle: "h1",
          rule: "serialize",
          effect: "write",
          by: "the contract propagate-timeout",
          phases: ["implement"],
          closes: [compiled().contract.closures[0]],
          reason: "the task",
          paths: ["src/serialization/**"],
          hosts: [],
          commands: [],
          epoch: 2,
          grantedAt: T0,
          expiresAt: T0 + 30 * MINUTE,
          usesLeft: null,
          running: [],
          state: "live",
          cause: null,
          closingAt: null,
        },
      ],
      epoch: 2,
    });
    expect(play.seen()).toEqual([
      "requested h1 serialize: the task",
      "granted h1 serialize by the contract propagate-timeout",
      "epoch 2",
    ]);
  });

  it("what is granted is in the next interface, and not in the one it was asked from", () => {
    const play = new Play();
    const before = interfaceOf(play.state, ALLOW);
    request(play, "serialize", "h1");
    const acted = (epoch: number) =>
      step(play.state, { type: "invoke", handles: ["h1"], invocation: "e", epoch, now: play.now })
        .outcome;
    expect([before.grants, acted(before.epoch), acted(3), acted(2)]).toEqual([
      [],
      {
        ok: false,
        code: "not-yet-visible",
        reason: "h1 is in the interface since epoch 2, not in that of 1: read the interface again",
      },
      {
        ok: false,
        code: "not-yet-visible",
        reason: "h1 is in the interface since epoch 2, not in that of 3: read the interface again",
      },
      { ok: true, result: "done" },
    ]);
  });

  it("an agent chooses a rule, it cannot invent one", () => {
    const play = new Play();
    expect([
      request(play, "everything", "h1"),
      request(play, "__proto__", "h1"),
      request(new Play(null), "serialize", "h1"),
    ]).toEqual([
      {
        ok: false,
        code: "unknown-rule",
        reason: "there is no rule everything: there are serialize, deps, notes, once, publish",
      },
      {
        ok: false,
        code: "unknown-rule",
        reason: "there is no rule __proto__: there are serialize, deps, notes, once, publish",
      },
      {
        ok: false,
        code: "unknown-rule",
        reason: "there is no rule serialize: nothing can be requested",
      },
    ]);
    expect([play.state.grants, play.state.epoch]).toEqual([[], 1]);
  });

  it.each<[string, string, Narrowing]>([
    [
      "notes",
      "notes does not reach so far: the path src/x is beyond docs/**, NOTES.md",
      { paths: ["src/x"] },
    ],
    [
      "notes",
      "notes does not reach so far: the path ** is beyond docs/**, NOTES.md",
      { paths: ["**"] },
    ],
    [
      "notes",
      "the path docs/../../x leaves the worktree: name something inside it",
      { paths: ["docs/../../x"] },
    ],
    [
      "notes",
      "the path docs/*.md cannot be enforced for writing: name single files, or the folder: docs/**",
      { paths: ["docs/*.md"] },
    ],
    [
      "notes",
      "notes does not reach so far: the host x.org is beyond nothing of that kind",
      { hosts: ["x.org"] },
    ],
    ["notes", "notes does not reach so far: it lasts 1h at most", { ttlMs: 61 * MINUTE }],
    ["notes", "-1 ms is no time", { ttlMs: -1 }],
    ["notes", "NaN ms is no time", { ttlMs: Number.NaN }],
    ["notes", "0.5 is no number of uses", { uses: 0.5 }],
    ["notes", "paths is empty: leave it out for all of the rule", { paths: [] }],
    ["deps", "deps does not reach so far: it has 3 uses", { uses: 4 }],
    [
      "deps",
      "deps does not reach so far: the host example.org is beyond *.packages.example.org",
      { hosts: ["example.org"] },
    ],
    [
      "once",
      "once does not reach so far: the command make all begins with none of make release",
      { commands: [["make", "all"]] },
    ],
    ["notes", "the contract denies the path docs/private/x", { paths: ["docs/private/x"] }],
    ["notes", "the contract denies the path docs/.env", { paths: ["docs/.env"] }],
    [
      "deps",
      "the contract denies the host evil.packages.example.org",
      { hosts: ["EVIL.packages.example.org"] },
    ],
  ])("it cannot widen %s: %s", (rule, reason, narrow) => {
    const play = new Play();
    expect(request(play, rule, "h1", narrow)).toMatchObject({ ok: false, reason });
    expect([play.state.grants, play.state.pending, play.seen()]).toEqual([
      [],
      [],
      [`refused h1: ${reason}`],
    ]);
  });

  it("it can narrow one in every dimension", () => {
    const play = new Play();
    request(play, "notes", "h1", {
      paths: ["docs/./a/**"],
      commands: [["tee"]],
      ttlMs: MINUTE,
      uses: 2,
    });
    expect(play.state.grants[0]).toMatchObject({
      paths: ["docs/a/**"],
      commands: [["tee"]],
      expiresAt: T0 + MINUTE,
      usesLeft: 2,
    });
  });

  it("a rule is there in its phase only, and a request needs a reason and a new handle", () => {
    const play = new Play();
    request(play, "notes", "h1");
    expect([
      request(play, "publish", "h2"),
      play.do({ type: "request", rule: "notes", reason: " ", handle: "h2" }),
      request(play, "notes", "h1"),
      request(play, "notes", ""),
    ]).toEqual([
      {
        ok: false,
        code: "wrong-phase",
        reason: "publish is there in the phase verify or publish, now it is implement",
        renewal: {
          by: "phase",
          text: "it comes back in the phase verify or publish, which the orchestrator enters",
        },
      },
      { ok: false, code: "bad-value", reason: "give a reason of 1 to 1000 characters" },
      {
        ok: false,
        code: "handle-used",
        reason: "the handle was given before: make a new one",
      },
      { ok: false, code: "bad-value", reason: "a handle has 1 to 128 characters" },
    ]);
  });

  it("there is a limit to what one session holds and to what waits for a person", () => {
    const play = new Play(
      compiled(
        "task: t\ngrants:\n  a: {effect: write, paths: [a]}\n  b: {effect: write, paths: [b], approval: person}\n",
      ).contract,
    );
    for (let i = 0; i < GRANTS_LIVE_MAX - 1; i++) request(play, "a", `a${i}`);
    for (let i = 0; i < GRANTS_PENDING_MAX; i++) request(play, "b", `b${i}`);
    const pending = request(play, "b", "one-more");
    request(play, "a", "last");
    expect([
      pending,
      request(play, "a", "over"),
      play.do({ type: "approve", handle: "b0", by: "ann" }),
      play.state.pending.length,
    ]).toEqual([
      { ok: false, code: "too-many", reason: "16 requests wait for a person already" },
      { ok: false, code: "too-many", reason: "64 grants are held already: release one" },
      { ok: false, code: "too-many", reason: "64 grants are held already: release one" },
      GRANTS_PENDING_MAX,
    ]);
  });
});

describe("what a person decides", () => {
  it("a rule with approval waits, and its time counts from the approval", () => {
    const play = new Play();
    expect(request(play, "deps", "h1")).toEqual({ ok: true, result: "pending" });
    expect([play.state.grants, play.state.epoch, invoke(play, "e1", "h1")]).toEqual([
      [],
      1,
      {
        ok: false,
        code: "stale",
        reason: "the handle h1 is not live: it waits for a person: it is not granted yet",
      },
    ]);
    play.after(60 * MINUTE);
    play.do({ type: "approve", handle: "h1", by: "ann", ttlMs: 5 * MINUTE });
    expect(play.state.grants).toMatchObject([
      { handle: "h1", by: "ann", expiresAt: play.now + 5 * MINUTE, usesLeft: 3, state: "live" },
    ]);
    expect(play.state.pending).toEqual([]);
  });

  it("a person can shorten, not lengthen; can refuse; and nobody answers twice", () => {
    const play = new Play();
    request(play, "deps", "h1");
    expect([
      play.do({ type: "approve", handle: "h1", by: "ann", ttlMs: 11 * MINUTE }),
      play.do({ type: "approve", handle: "h1", by: "" }),
      play.do({ type: "refuse", handle: "h1", by: "ann", reason: "use the mirror" }),
      play.do({ type: "approve", handle: "h1", by: "ann" }),
      play.do({ type: "refuse", handle: "h1", by: "ann", reason: "" }),
    ]).toEqual([
      { ok: false, code: "bad-value", reason: "660000 ms is not within 10m" },
      { ok: false, code: "bad-value", reason: "an approval names who gave it" },
      { ok: true, result: "done" },
      { ok: false, code: "not-pending", reason: "no request waits as h1" },
      { ok: false, code: "not-pending", reason: "no request waits as h1" },
    ]);
    expect(play.seen()).toEqual([
      "requested h1 deps: the task",
      "refused h1: ann refused: use the mirror",
    ]);
  });

  it("an approval that outlives a command is a grant with an end, besides any contract", () => {
    const play = new Play(null);
    const tests = { kind: "command", argv: ["npm", "test"], exit: 0, cwd: "" } as const;
    const given = play.do({
      type: "give",
      handle: "h1",
      by: "ann",
      reason: "until the tests pass",
      effect: "write",
      resource: { paths: ["lib/**"], hosts: [], commands: [] },
      ttlMs: 120 * MINUTE,
      closes: [{ name: "tests", when: tests }],
    });
    play.do({ type: "closureFired", closure: "tests", evidence: "exit 0" });
    play.do({ type: "closingDone", handle: "h1" });
    expect([given, play.seen()]).toEqual([
      { ok: true, result: "granted" },
      [
        "granted h1 null by ann",
        "epoch 2",
        "closing h1: tests fired: exit 0 []",
        "epoch 3",
        "closed h1 after 0 ms; a person gave it: propose the action again and one is asked",
      ],
    ]);
  });

  it("G stands above what a person gives too, and a gift without an end or a resource is none (C1)", () => {
    const play = new Play();
    const give = (more: object) =>
      play.do({
        type: "give",
        handle: "h1",
        by: "ann",
        reason: "r",
        effect: "write",
        resource: { paths: ["docs/x"], hosts: [], commands: [] },
        ttlMs: MINUTE,
        ...more,
      });
    const nothing = { paths: [], hosts: [], commands: [] };
    expect([
      give({ resource: { ...nothing, paths: ["docs/private/a"] } }),
      give({ resource: nothing }),
      give({ ttlMs: Number.POSITIVE_INFINITY }),
      give({ ttlMs: 0 }),
      give({ uses: 0 }),
      give({ resource: { ...nothing, paths: ["docs/*.md"] } }),
      play.state.grants,
    ]).toEqual([
      { ok: false, code: "denied", reason: "the contract denies the path docs/private/a" },
      { ok: false, code: "bad-value", reason: "it is on nothing" },
      { ok: false, code: "bad-value", reason: "a grant ends within 24h" },
      { ok: false, code: "bad-value", reason: "a grant ends within 24h" },
      { ok: false, code: "bad-value", reason: "0 is no number of uses" },
      {
        ok: false,
        code: "bad-value",
        reason:
          "the path docs/*.md cannot be enforced for writing: name single files, or the folder: docs/**",
      },
      [],
    ]);
  });

  it("`this phase` ends a gift with the phase", () => {
    const play = new Play();
    play.do({
      type: "give",
      handle: "h1",
      by: "ann",
      reason: "r",
      effect: "read",
      resource: { paths: ["**"], hosts: [], commands: [] },
      ttlMs: 60 * MINUTE,
      thisPhase: true,
    });
    play.seen();
    play.do({ type: "phaseChanged", phase: "verify", by: "orchestrator" });
    expect(play.seen()).toEqual([
      "phase implement → verify",
      "closing h1: orchestrator moved on from the phase implement to verify []",
      "epoch 3",
    ]);
  });
});
