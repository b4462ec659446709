/** How a right is used and counted: each test is a play of commands and what was seen of it. */
import { describe, expect, it } from "vitest";
import { newLedger, step } from "../../daemon/authority/ledger.ts";
import { compiled, invoke, Play, request, T0 } from "./contracts.ts";

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
