/** The ledger: how a right comes to be, is used, and ends; each test is a play of commands and what was seen of it. */
import { describe, expect, it } from "vitest";
import { interfaceOf } from "../../daemon/authority/interface.ts";
import { newLedger, step } from "../../daemon/authority/ledger.ts";
import type { Narrowing } from "../../daemon/authority/ledger-types.ts";
import { GRANTS_LIVE_MAX, GRANTS_PENDING_MAX } from "../../daemon/limits.ts";
import { compiled, MINUTE, Play, T0 } from "./contracts.ts";

const ALLOW = {
  read: "allow",
  build: "allow",
  run: "allow",
  write: "allow",
  scratch: "allow",
  "git-write": "allow",
  loopback: "allow",
} as const;

function request(play: Play, rule: string, handle: string, narrow?: Narrowing) {
  const more = narrow === undefined ? {} : { narrow };
  return play.do({ type: "request", rule, reason: "the task", handle, ...more });
}

function invoke(play: Play, invocation: string, ...handles: string[]) {
  return play.do({ type: "invoke", handles, invocation });
}

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

describe("invoke (C4)", () => {
  it("two agents racing for the last use: one gets it, the other is told why and how on", () => {
    const play = new Play();
    request(play, "once", "h1");
    expect([invoke(play, "e1", "h1"), invoke(play, "e2", "h1")]).toEqual([
      { ok: true, result: "done" },
      {
        ok: false,
        code: "stale",
        reason:
          "the handle h1 is not live: its uses are used up; request once again: a person decides",
        renewal: { by: "person", text: "request once again: a person decides" },
      },
    ]);
    play.after(5).do({ type: "finish", invocation: "e1" });
    play.after(2).do({ type: "closingDone", handle: "h1" });
    expect(play.seen()).toEqual([
      "requested h1 once: the task",
      "granted h1 once by the contract propagate-timeout",
      "epoch 2",
      "used h1 for e1, 0 left",
      "epoch 3",
      "stale h1: its uses are used up; request once again: a person decides",
      "closing h1: its uses are used up []",
      "closed h1 after 2 ms; request once again: a person decides",
    ]);
  });

  it("releasing and asking again gives no more uses than the rule has", () => {
    const play = new Play(
      compiled("task: t\ngrants:\n  a: {effect: write, paths: [a], uses: 3}\n").contract,
    );
    request(play, "a", "h1");
    invoke(play, "e1", "h1");
    invoke(play, "e2", "h1");
    const second = request(play, "a", "h2");
    play.do({ type: "release", handle: "h1" });
    const third = request(play, "a", "h2");
    play.do({ type: "closingDone", handle: "h1" });
    const fourth = request(play, "a", "h2");
    expect([second, third, fourth, play.state.grants.map(({ usesLeft }) => usesLeft)]).toEqual([
      {
        ok: false,
        code: "too-many",
        reason: "a is held once at a time: use or release h1",
      },
      {
        ok: false,
        code: "too-many",
        reason: "a is held once at a time: wait until h1 has closed",
      },
      { ok: true, result: "granted" },
      [1],
    ]);
    invoke(play, "e3", "h2");
    play.do({ type: "finish", invocation: "e3" });
    play.do({ type: "closingDone", handle: "h2" });
    // Only a person starts the count anew.
    expect(request(play, "a", "h3")).toEqual({ ok: true, result: "pending" });
    play.do({ type: "approve", handle: "h3", by: "ann" });
    expect(play.state.grants.map(({ usesLeft }) => usesLeft)).toEqual([3]);
  });

  it("several handles are used together or not at all", () => {
    const play = new Play();
    request(play, "notes", "h1", { uses: 5 });
    request(play, "serialize", "h2");
    play.do({ type: "release", handle: "h2" });
    const refused = invoke(play, "e1", "h1", "h2");
    expect([refused.ok, play.state.grants[0]?.usesLeft, play.state.grants[0]?.running]).toEqual([
      false,
      5,
      [],
    ]);
    request(play, "serialize", "h3");
    invoke(play, "e2", "h1", "h3", "h1");
    expect(play.state.grants.map(({ usesLeft, running }) => [usesLeft, running])).toEqual([
      [4, ["e2"]],
      [null, []],
      [null, ["e2"]],
    ]);
  });

  it("an invocation is named, presents a handle, and runs once", () => {
    const play = new Play();
    request(play, "notes", "h1");
    invoke(play, "e1", "h1");
    expect([invoke(play, "e1", "h1"), invoke(play, "", "h1"), invoke(play, "e2")]).toEqual([
      { ok: false, code: "bad-value", reason: "e1 runs already" },
      {
        ok: false,
        code: "bad-value",
        reason: "an invocation is named by 1 to 128 characters",
      },
      { ok: false, code: "bad-value", reason: "an invocation presents a handle" },
    ]);
    expect(play.do({ type: "finish", invocation: "never" })).toEqual({
      ok: true,
      result: "nothing",
    });
  });

  it("a handle of another session or of nobody is refused (C6)", () => {
    const play = new Play();
    request(play, "notes", "h1");
    const other = newLedger("s2", compiled().contract, T0);
    const { outcome, events } = step(other, {
      type: "invoke",
      handles: ["h1"],
      invocation: "e1",
      now: T0,
    });
    expect({ outcome, events: events.map(({ type }) => type) }).toEqual({
      outcome: {
        ok: false,
        code: "stale",
        reason:
          "the handle h1 is not live: this session was never given it: request a rule of its interface",
      },
      events: ["grant.stale"],
    });
  });
});

describe("closing (C5, C6)", () => {
  it("a test that passed ends exactly the grants it belongs to, names what runs, and a replay says how on", () => {
    const play = new Play();
    request(play, "serialize", "h1");
    request(play, "notes", "h2");
    invoke(play, "e1", "h1");
    invoke(play, "e2", "h1", "h2");
    play.seen();
    play.after(100).do({ type: "closureFired", closure: "focused-tests", evidence: "exit 0" });
    const between = invoke(play, "e3", "h1");
    play.after(40).do({ type: "closingDone", handle: "h1" });
    const after = invoke(play, "e4", "h1");
    const stale = {
      ok: false,
      code: "stale",
      reason:
        "the handle h1 is not live: focused-tests fired: exit 0; request serialize again: a person decides",
      renewal: { by: "person", text: "request serialize again: a person decides" },
    };
    expect([between, after]).toEqual([stale, stale]);
    expect(play.seen()).toEqual([
      "closing h1: focused-tests fired: exit 0 [e1 e2]",
      "epoch 4",
      "stale h1: focused-tests fired: exit 0; request serialize again: a person decides",
      "closed h1 after 40 ms; request serialize again: a person decides",
      "stale h1: focused-tests fired: exit 0; request serialize again: a person decides",
    ]);
    expect(play.state.grants.map(({ handle, running }) => [handle, running])).toEqual([
      ["h2", ["e2"]],
    ]);
  });

  it("what a trusted event ended, the agent alone does not reopen; a person or the phase does", () => {
    const play = new Play();
    request(play, "serialize", "h1");
    play.do({ type: "closureFired", closure: "focused-tests", evidence: "exit 0" });
    play.do({ type: "closingDone", handle: "h1" });
    expect(request(play, "serialize", "h2")).toEqual({ ok: true, result: "pending" });
    play.do({ type: "release", handle: "h2" });
    play.do({ type: "phaseChanged", phase: "verify", by: "orchestrator" });
    play.do({ type: "phaseChanged", phase: "implement", by: "orchestrator" });
    expect(request(play, "serialize", "h3")).toEqual({ ok: true, result: "granted" });
  });

  it("what time or the agent itself ended is renewed by asking, under a new handle", () => {
    const play = new Play();
    request(play, "notes", "h1");
    play.do({ type: "release", handle: "h1" });
    play.do({ type: "closingDone", handle: "h1" });
    expect([
      request(play, "notes", "h2"),
      invoke(play, "e1", "h1"),
      invoke(play, "e2", "h2"),
    ]).toEqual([
      { ok: true, result: "granted" },
      {
        ok: false,
        code: "stale",
        reason: "the handle h1 is not live: the agent released it; request notes again",
        renewal: { by: "request", text: "request notes again" },
      },
      { ok: true, result: "done" },
    ]);
  });

  it("a ttl ends a grant at its moment, whether or not anybody ticked", () => {
    const play = new Play();
    request(play, "notes", "h1");
    play.after(60 * MINUTE - 1);
    const last = invoke(play, "e1", "h1");
    play.after(1);
    expect([last.ok, invoke(play, "e2", "h1")]).toEqual([
      true,
      {
        ok: false,
        code: "stale",
        reason: "the handle h1 is not live: its 1h are over; request notes again",
        renewal: { by: "request", text: "request notes again" },
      },
    ]);
    expect(play.seen().slice(-3)).toEqual([
      "closing h1: its 1h are over [e1]",
      "stale h1: its 1h are over; request notes again",
      "epoch 3",
    ]);
  });

  it("a clock that is set back, or is none, prolongs nothing", () => {
    const play = new Play();
    request(play, "notes", "h1");
    play.after(60 * MINUTE).do({ type: "tick" });
    play.now = T0;
    expect(invoke(play, "e1", "h1").ok).toBe(false);
    play.now = Number.NaN;
    play.do({ type: "tick" });
    expect(play.state.now).toBe(T0 + 60 * MINUTE);
  });

  it("a closure of kind ttl bounds the life of its grant", () => {
    const play = new Play(
      compiled(
        "task: t\ngrants:\n  a: {effect: write, paths: [a], closes: [soon]}\nclosures:\n  soon: {ttl: 2m}\n",
      ).contract,
    );
    request(play, "a", "h1");
    expect(play.state.grants[0]?.expiresAt).toBe(T0 + 2 * MINUTE);
  });

  it("the orchestrator's phase ends what belongs to another, fires closures, and drops requests that do not fit", () => {
    const play = new Play(
      compiled(`task: t
phases: [one, two]
grants:
  a: {effect: write, paths: [a], phase: one}
  b: {effect: write, paths: [b], closes: [two]}
  c: {effect: write, paths: [c], phase: one, approval: person}
  d: {effect: write, paths: [d], phase: [one, two]}
closures:
  two: {phase: two}
`).contract,
    );
    for (const rule of ["a", "b", "c", "d"]) request(play, rule, rule);
    play.seen();
    expect([
      play.do({ type: "phaseChanged", phase: "three", by: "o" }),
      play.do({ type: "phaseChanged", phase: "one", by: "o" }),
      play.do({ type: "phaseChanged", phase: "two", by: "o" }),
      play.seen(),
      play.state.grants.filter(({ state }) => state === "live").map(({ handle }) => handle),
      play.state.pending,
    ]).toEqual([
      { ok: false, code: "unknown-phase", reason: "there is no phase three: there are one, two" },
      { ok: true, result: "nothing" },
      { ok: true, result: "done" },
      [
        "phase one → two",
        "closing a: o moved on from the phase one to two []",
        "closing b: two fired: o entered the phase two []",
        "refused c: the phase is two now, and c is not there in it",
        "epoch 5",
      ],
      ["d"],
      [],
    ]);
  });

  it("a person revokes any grant, a closed one no more; the rule then takes a person", () => {
    const play = new Play();
    request(play, "notes", "h1");
    play.do({ type: "revoke", handle: "h1", by: "ann", reason: "wrong folder" });
    const again = play.do({ type: "revoke", handle: "h1", by: "ann", reason: "" });
    play.do({ type: "closingDone", handle: "h1" });
    expect([
      again,
      play.do({ type: "closingDone", handle: "h1" }),
      request(play, "notes", "h2"),
    ]).toEqual([
      {
        ok: false,
        code: "stale",
        reason:
          "the handle h1 is not live: ann revoked it: wrong folder; request notes again: a person decides",
        renewal: { by: "person", text: "request notes again: a person decides" },
      },
      { ok: false, code: "not-closing", reason: "h1 is not closing" },
      { ok: true, result: "pending" },
    ]);
  });

  it("a live grant is not closed before it was closing", () => {
    const play = new Play();
    request(play, "notes", "h1");
    expect([play.do({ type: "closingDone", handle: "h1" }), play.state.closed]).toEqual([
      { ok: false, code: "not-closing", reason: "h1 is not closing" },
      [],
    ]);
  });

  it("a closure that no live grant names does nothing", () => {
    const play = new Play();
    request(play, "notes", "h1");
    expect([
      play.do({ type: "closureFired", closure: "focused-tests", evidence: "exit 0" }),
      play.do({ type: "closureFired", closure: "nope", evidence: "" }),
      play.state.epoch,
    ]).toEqual([{ ok: true, result: "nothing" }, { ok: true, result: "nothing" }, 2]);
  });
});

describe("audit (C7)", () => {
  it("tells why each right was there, what ended it and how it comes back", () => {
    const play = new Play();
    request(play, "notes", "h1");
    invoke(play, "e1", "h1");
    play.after(10).do({ type: "release", handle: "h1" });
    play.do({ type: "closingDone", handle: "h1" });
    const at = T0 + 10;
    expect(play.state.audit).toEqual([
      { at: T0, event: "grant.requested", handle: "h1", text: "notes: the task" },
      {
        at: T0,
        event: "grant.granted",
        handle: "h1",
        text: "notes, by the contract propagate-timeout: the task",
      },
      { at: T0, event: "epoch.bumped", handle: null, text: "2" },
      { at: T0, event: "grant.used", handle: "h1", text: "e1" },
      { at, event: "grant.closing", handle: "h1", text: "the agent released it" },
      { at, event: "epoch.bumped", handle: null, text: "3" },
      {
        at,
        event: "grant.closed",
        handle: "h1",
        text: "the agent released it; request notes again",
      },
    ]);
  });
});
