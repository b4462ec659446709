/** How a right ends, comes back and is told about: each test is a play of commands and what was seen of it. */
import { describe, expect, it } from "vitest";
import { compiled, invoke, MINUTE, Play, request, T0 } from "./contracts.ts";

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
