/** Reading a ledger's state back: exactly what was written, or nothing of it. */
import { describe, expect, it } from "vitest";
import { ledgerText, readLedger } from "../../daemon/authority/ledger-json.ts";
import { Play } from "./contracts.ts";

function used(): Play {
  const play = new Play();
  play.do({ type: "request", rule: "deps", reason: "r", handle: "h1" });
  play.do({ type: "approve", handle: "h1", by: "ann" });
  play.do({ type: "request", rule: "notes", reason: "r", handle: "h2" });
  play.do({ type: "request", rule: "once", reason: "r", handle: "h3" });
  play.do({ type: "invoke", handles: ["h1", "h3"], invocation: "e1" });
  play.do({ type: "release", handle: "h2" });
  play.do({ type: "closingDone", handle: "h2" });
  play.do({ type: "revoke", handle: "h1", by: "ann", reason: "r" });
  return play;
}

describe("a ledger's state as text", () => {
  it("comes back as it was: live, spent, closing and closed", () => {
    const { state } = used();
    expect(state.grants.map((grant) => grant.state)).toEqual(["closing", "spent"]);
    expect(readLedger(ledgerText(state))).toEqual({ state });
  });

  it("of another version, with a field too many or too few, or torn, is refused as a whole", () => {
    const { state } = used();
    const text = ledgerText(state);
    const { epoch: _, ...less } = state;
    const refused = [
      JSON.stringify({ ...state, version: 2 }),
      JSON.stringify({ ...state, more: 1 }),
      JSON.stringify(less),
      text.replace('"state":"closing"', '"state":"open"'),
      text.slice(0, -1),
      "null",
    ].map((each) => readLedger(each).refused?.split(":")[0]);
    expect(refused).toEqual([
      "version",
      "the state",
      "epoch",
      "grants.0.state",
      "not JSON",
      "the state",
    ]);
  });
});
