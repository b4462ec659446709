/** The interface: exactly the authority now, and what changed in it. */
import { describe, expect, it } from "vitest";
import { diffInterfaces, endingText, interfaceOf } from "../../daemon/authority/interface.ts";
import type { Standing } from "../../daemon/policy/types.ts";
import { MINUTE, Play, T0 } from "./contracts.ts";

const STANDING: Standing = {
  read: "allow",
  build: "allow",
  run: "ask",
  write: "ask",
  scratch: "ask",
  "git-write": "ask",
  loopback: "allow",
};

function held(): Play {
  const play = new Play();
  for (const [rule, handle] of [
    ["serialize", "h1"],
    ["deps", "h2"],
    ["once", "h3"],
  ] as const) {
    play.do({ type: "request", rule, reason: `for ${rule}`, handle });
  }
  return play;
}

describe("the interface", () => {
  it("shows the envelope that profile and contract both allow, live grants, and what can be requested", () => {
    const play = held();
    play.do({ type: "invoke", handles: ["h3"], invocation: "e1" });
    const shown = interfaceOf(play.state, STANDING);
    expect(shown).toEqual({
      session: "s1",
      task: "propagate-timeout",
      epoch: 4,
      phase: "implement",
      envelope: [
        { effect: "read", paths: ["**"], hosts: [], commands: [], classes: ["read"] },
        { effect: "run", paths: [], hosts: [], commands: [["npm", "test"]], classes: ["build"] },
      ],
      grants: [
        {
          handle: "h1",
          rule: "serialize",
          effect: "write",
          paths: ["src/serialization/**"],
          hosts: [],
          commands: [],
          reason: "for serialize",
          expiresAt: T0 + 30 * MINUTE,
          usesLeft: null,
          endsWith: [
            "focused-tests: `npm test -- serialization` exits with 0",
            "the phase is no longer implement",
          ],
          renewal: "request serialize again",
        },
      ],
      requestable: [
        {
          rule: "serialize",
          effect: "write",
          paths: ["src/serialization/**"],
          hosts: [],
          commands: [],
          description: "",
          ttlMs: 30 * MINUTE,
          uses: null,
          approval: "none",
          endsWith: [
            "focused-tests: `npm test -- serialization` exits with 0",
            "the phase is no longer implement",
          ],
        },
        {
          rule: "deps",
          effect: "network",
          paths: [],
          hosts: ["*.packages.example.org"],
          commands: [],
          description: "",
          ttlMs: 10 * MINUTE,
          uses: 3,
          approval: "person",
          endsWith: [],
        },
        {
          rule: "notes",
          effect: "write",
          paths: ["docs/**", "NOTES.md"],
          hosts: [],
          commands: [],
          description: "",
          ttlMs: 60 * MINUTE,
          uses: null,
          approval: "none",
          endsWith: [],
        },
        {
          rule: "once",
          effect: "run",
          paths: [],
          hosts: [],
          commands: [["make", "release"]],
          description: "",
          ttlMs: 30 * MINUTE,
          uses: 1,
          approval: "person",
          endsWith: [],
        },
      ],
      pending: ["h2"],
      denied: {
        paths: ["**/.env", "docs/private/**"],
        hosts: ["evil.packages.example.org"],
        commands: [["git", "push"]],
      },
    });
  });

  it("without a contract the envelope is what the profile allows by itself", () => {
    const { envelope, requestable, task } = interfaceOf(new Play(null).state, STANDING);
    expect([task, requestable, envelope.map(({ effect, classes }) => [effect, classes])]).toEqual([
      null,
      [],
      [
        ["read", ["read"]],
        ["run", ["build"]],
        ["network", ["loopback"]],
      ],
    ]);
  });

  it("a grant that is closing, closed or over is not shown, though nobody ticked (C6)", () => {
    const play = held();
    const handles = (now?: number) =>
      interfaceOf(play.state, STANDING, now).grants.map(({ handle }) => handle);
    const before = handles();
    const over = handles(T0 + 30 * MINUTE);
    play.do({ type: "closureFired", closure: "focused-tests", evidence: "exit 0" });
    const closing = handles();
    play.do({ type: "closingDone", handle: "h1" });
    expect([before, over, closing, handles()]).toEqual([["h1", "h3"], [], ["h3"], ["h3"]]);
  });

  it("the difference names what came, what went and what changed", () => {
    const play = held();
    const before = interfaceOf(play.state, STANDING);
    play.do({ type: "approve", handle: "h2", by: "ann" });
    play.do({ type: "phaseChanged", phase: "verify", by: "o" });
    const after = interfaceOf(play.state, STANDING);
    play.do({ type: "invoke", handles: ["h2"], invocation: "e1" });
    const used = interfaceOf(play.state, STANDING);
    const [h2, , publish] = [
      after.grants.find(({ handle }) => handle === "h2"),
      null,
      after.requestable.find(({ rule }) => rule === "publish"),
    ];
    expect([
      diffInterfaces(before, before),
      diffInterfaces(before, after),
      diffInterfaces(after, used),
    ]).toEqual([
      null,
      {
        epoch: { from: 3, to: 5 },
        phase: { from: "implement", to: "verify" },
        added: [h2],
        removed: ["h1"],
        changed: [],
        requestable: { added: [publish], removed: ["serialize"], changed: [] },
      },
      {
        epoch: { from: 5, to: 5 },
        added: [],
        removed: [],
        changed: [{ ...h2, usesLeft: 2 }],
        requestable: {
          added: [],
          removed: [],
          changed: [{ ...used.requestable.find(({ rule }) => rule === "deps"), uses: 2 }],
        },
      },
    ]);
  });

  it("says in words what fires each kind of closure", () => {
    const file = (test: Parameters<typeof endingText>[0]["when"] & { kind: "file" }) =>
      endingText({ name: "c", when: test });
    expect([
      endingText({ name: "c", when: { kind: "phase", phase: "p" } }),
      endingText({ name: "c", when: { kind: "ttl", ms: 90_000 } }),
      file({ kind: "file", path: "a", test: { kind: "exists", exists: true } }),
      file({ kind: "file", path: "a", test: { kind: "exists", exists: false } }),
      file({ kind: "file", path: "a", test: { kind: "contains", text: "done" } }),
      file({ kind: "file", path: "a", test: { kind: "sha256", hex: "0".repeat(64) } }),
    ]).toEqual([
      "c: the phase p begins",
      "c: 90s are over",
      "c: a exists",
      "c: a is gone",
      'c: a holds "done"',
      "c: a has the content 000000000000…",
    ]);
  });
});
