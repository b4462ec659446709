/** The denial tracker (B2): by class of action, so that rewording does not help and one noisy verb blocks no other. */
import { describe, expect, it } from "vitest";
import {
  blocked,
  denialKeys,
  escalated,
  NO_DENIALS,
  recordApproval,
  recordRefusal,
} from "../../daemon/policy/denials.ts";
import type { DenialState } from "../../daemon/policy/types.ts";
import { judged } from "./judged.ts";

const LIMITS = { consecutive: 3, total: 20 };

function refused(commands: readonly string[], state: DenialState = NO_DENIALS): DenialState {
  return commands.reduce((before, command) => recordRefusal(before, judged(command)), state);
}

describe("denials (B2)", () => {
  it("a class of action is named by what it does, not by how it is written", () => {
    expect(
      ["rm -rf src", "r\\m -r -f ./src", "bash -c 'rm --recursive lib'"].map((command) =>
        denialKeys(judged(command)),
      ),
    ).toEqual([
      ["safety/recursive-delete"],
      ["safety/recursive-delete"],
      ["safety/recursive-delete"],
    ]);
  });

  it("the host of a network use is its class, whatever program reaches for it", () => {
    expect([
      denialKeys(judged("curl https://x.invalid/a")),
      denialKeys(judged("wget https://x.invalid/b")),
    ]).toEqual([["network:x.invalid"], ["network:x.invalid"]]);
  });

  it("reading outside and writing inside are different classes of one verb", () => {
    const outside = denialKeys(judged("cat /etc/hosts"));
    const inside = denialKeys(judged("cp a b"));
    expect([outside, inside]).toEqual([["read:cat:outside"], ["write:cp"]]);
  });

  it("three refusals in a row of one class block it and nothing else, however it is reworded", () => {
    const state = refused(["rm -rf a", "rm -r -f b", "'rm' -fr c"]);
    expect(blocked(state, LIMITS)).toEqual(["safety/recursive-delete"]);
    const again = judged("timeout 5 rm -R d", { denials: state });
    expect([again.verdict, again.segments[0]?.rung, again.segments[0]?.rule]).toEqual([
      "deny",
      "denials",
      "denials/safety/recursive-delete",
    ]);
    expect(judged("ls", { denials: state }).verdict).toBe("allow");
    expect(judged("curl https://x.invalid", { denials: state }).verdict).toBe("ask");
  });

  it("an approval starts the row again and leaves the total", () => {
    const state = recordApproval(refused(["rm -rf a", "rm -rf b"]), judged("rm -rf c"));
    expect(state).toEqual({ consecutive: {}, total: 2 });
  });

  it("refusals in all escalate: then even what scope or a rule allows asks", () => {
    const state = { consecutive: {}, total: 20 };
    expect(escalated(state, LIMITS)).toBe(true);
    const rules = [
      { id: "r", source: "session", action: "allow", tool: "exec", pattern: ["ls", "*"] },
    ] as const;
    const verdict = judged("ls", { denials: state, rules });
    expect([verdict.verdict, verdict.segments[0]?.rule]).toEqual(["ask", "denials/escalated"]);
  });

  it("the limits are the profile's", () => {
    const settings = { denials: { consecutive: 1, total: 2 } };
    expect(judged("rm -rf b", { denials: refused(["rm -rf a"]), settings }).verdict).toBe("deny");
    expect(judged("ls", { denials: refused(["rm -rf a", "rm -rf a"]), settings }).verdict).toBe(
      "ask",
    );
  });
});
