/** What the daemon is told to look at, so that grants end by what it sees itself (C5). */
import { expect, it } from "vitest";
import { nextEnd, watchedClosures } from "../../daemon/authority/watching.ts";
import { compiled, MINUTE, Play, T0 } from "./contracts.ts";

it("tests and files of grants that are not closing yet, each with the handles it would end", () => {
  const play = new Play();
  const [tests, tagged] = compiled().contract.closures;
  expect([watchedClosures(play.state), nextEnd(play.state)]).toEqual([[], null]);
  for (const handle of ["h1", "h2"]) {
    play.do({ type: "request", rule: "serialize", reason: "r", handle });
    play.after(MINUTE);
  }
  play.do({
    type: "give",
    handle: "h3",
    by: "ann",
    reason: "r",
    effect: "read",
    resource: { paths: ["**"], hosts: [], commands: [] },
    ttlMs: 20 * MINUTE,
    closes: [
      { name: "focused-tests", when: { kind: "command", argv: ["make"], exit: 0, cwd: "" } },
      { name: "soon", when: { kind: "ttl", ms: 5 * MINUTE } },
    ],
  });
  expect([watchedClosures(play.state), nextEnd(play.state)]).toEqual([
    [
      { closure: tests, handles: ["h1", "h2"] },
      {
        closure: {
          name: "focused-tests",
          when: { kind: "command", argv: ["make"], exit: 0, cwd: "" },
        },
        handles: ["h3"],
      },
    ],
    T0 + 7 * MINUTE,
  ]);
  for (const handle of ["h1", "h3"]) play.do({ type: "revoke", handle, by: "ann", reason: "" });
  expect([watchedClosures(play.state), nextEnd(play.state)]).toEqual([
    [{ closure: tests, handles: ["h2"] }],
    T0 + 31 * MINUTE,
  ]);
  play.do({ type: "phaseChanged", phase: "verify", by: "o" });
  play.do({ type: "request", rule: "publish", reason: "r", handle: "h4" });
  expect(watchedClosures(play.state)).toEqual([{ closure: tagged, handles: ["h4"] }]);
});
