/** The linter of contracts: each warning has its case, and a good contract has none. */
import { describe, expect, it } from "vitest";
import { lintContract } from "../../daemon/authority/lint.ts";
import type { Standing } from "../../daemon/policy/types.ts";
import { compiled, TEXT } from "./contracts.ts";

const REVIEW: Standing = {
  read: "allow",
  build: "ask",
  run: "ask",
  write: "ask",
  scratch: "ask",
  "git-write": "ask",
  loopback: "ask",
};

function warnings(text: string, profiles: Record<string, Standing> = {}): string[] {
  const { contract, locate } = compiled(`task: t\n${text}`);
  return lintContract(contract, locate, profiles).map(
    ({ line, column, code, message }) => `${line}:${column} ${code}: ${message}`,
  );
}

describe("the linter warns of what a contract hardly means", () => {
  it("says nothing about rules that name what they need and end by themselves", () => {
    const text = TEXT.replace(/^task.*\n/, "").replace("*.packages", "packages");
    expect(warnings(text)).toEqual([]);
  });

  it("rules that are over-broad", () => {
    expect(
      warnings(`envelope:
  - {effect: write}
grants:
  w: {effect: write, paths: ["**"], ttl: 5m}
  n: {effect: network, hosts: ["**.example.org"]}
  i: {effect: install, commands: [[npm, ci]], hosts: [x.org]}
`),
    ).toEqual([
      "3:5 broad-write: writes the whole worktree from the start: name the folders it needs",
      "5:29 broad-write: w writes the whole worktree: name the folders",
      "6:6 unbounded-network: n reaches the network: add uses or a ttl of its own",
      "6:31 wildcard-host: n reaches every name below **.example.org: name the hosts",
      "7:6 unbounded-network: i reaches the network: add uses or a ttl of its own",
    ]);
  });

  it("grants that nothing ends but the default ttl, and grants that G denies", () => {
    expect(
      warnings(`grants:
  a: {effect: write, paths: [a]}
  b: {effect: write, paths: [a], uses: 2}
  c: {effect: run, commands: [[git, push, x]], ttl: 1m}
deny:
  - commands: [[git, push]]
`),
    ).toEqual([
      "3:6 only-default-ttl: nothing ends a but the default of 30m: add closes, phase, uses or ttl",
      "5:6 denied-grant: c can never be used: the contract denies the command git push x",
    ]);
  });

  it("closures that end nothing or can never fire", () => {
    expect(
      warnings(`phases: [one, two]
grants:
  a: {effect: write, paths: [a], closes: [late, first, fine]}
  b: {effect: write, paths: [b], phase: two, closes: [own]}
closures:
  idle: {file: {path: x}}
  late: {ttl: 1h}
  first: {phase: one}
  own: {phase: two}
  fine: {phase: two}
`),
    ).toEqual([
      "7:9 unused-closure: no grant names idle in its closes: it ends nothing",
      "8:9 never-fires: a is over after 30m, before late fires",
      "9:10 never-fires: sessions start in one: it is entered only by going back",
      "10:8 never-fires: b is only there in the phase two, so it never sees it entered",
    ]);
  });

  it("an envelope that is wider than every profile it may be used with", () => {
    const text = `envelope:
  - {effect: read}
  - {effect: run, commands: [[npm, test]]}
`;
    const build: Standing = { ...REVIEW, build: "allow" };
    expect([
      warnings(text),
      warnings(text, { review: REVIEW }),
      warnings(text, { review: REVIEW, default: build }),
    ]).toEqual([
      [],
      [
        "4:5 beyond-profiles: no profile (review) allows run by itself, so it asks: make it a grant",
      ],
      [],
    ]);
  });
});
