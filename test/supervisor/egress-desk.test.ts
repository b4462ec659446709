/** Which hosts a command's way out leads to, by profile, approval and rules; and what a question says it cannot. */
import { beforeEach, expect, test } from "vitest";
import type { Contract } from "../../daemon/authority/types.ts";
import type { EgressRight } from "../../daemon/egress/right.ts";
import type { Journal } from "../../daemon/journal/types.ts";
import { coversHost, hostRuleText } from "../../daemon/policy/hosts.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import type { Profile } from "../../daemon/settings/types.ts";
import type { Approvals } from "../../daemon/supervisor/approvals.ts";
import { EgressDesk } from "../../daemon/supervisor/egress-desk.ts";
import type { RuleStore } from "../../daemon/supervisor/rule-store.ts";
import type { RunContext } from "../../daemon/supervisor/run-context.ts";
import type { AuthorityInfo } from "../../daemon/supervisor/types.ts";
import { judged } from "../policy/judged.ts";

const dev = loadProfile("dev", [SHIPPED_PROFILES_DIR]);
const network = (more: Partial<NonNullable<Profile["network"]>>): Profile => ({
  ...dev,
  network: { ask: false, hosts: [], methods: null, intercept: [], inject: [], ...more },
});
const approval = { id: "g-7" } as AuthorityInfo;
const sandbox = {
  spec: { mounts: [{ source: "/host/s", target: "/run/recinto/runner", readOnly: true }] },
} as unknown as Parameters<EgressDesk["open"]>[1]["sandbox"];

const CONTRACT = { task: "t" } as Contract;
/** Approves every host for the rest of the session. */
const sayingYes = {
  wait: () => () => undefined,
  use: () => true,
  over: async () => ({
    state: "approved",
    authority: { resource: { kind: "host", until: "session" } },
  }),
};

let opened: EgressRight[];
let saved: readonly string[];
let kind: "runner" | "plain";
beforeEach(() => {
  opened = [];
  saved = [];
  kind = "runner";
});

const desk = () =>
  new EgressDesk({
    openEgress: () => ({
      socket: "e",
      open: async (folder, right) => {
        expect(folder).toBe("/host/s");
        opened.push(right);
        return Buffer.alloc(32);
      },
      revoke: () => undefined,
      recheck: () => undefined,
      close: async () => undefined,
    }),
    journal: { subscribe: () => () => undefined } as unknown as Journal,
    approvals: { ...sayingYes, file: () => ({ id: "q" }) } as unknown as Approvals,
    saved: { list: () => saved.map((host) => ({ hosts: [host] })) } as unknown as RuleStore,
    sandboxes: { executor: () => ({ kind, reason: "no program", landlock: 7 }) },
  });

async function hostsOf(
  command: string,
  profile: Profile,
  authority: AuthorityInfo | null = approval,
): Promise<readonly string[] | string> {
  const context = {
    profile,
    session: { id: "s", project: "web" },
    action: "a",
  } as unknown as RunContext;
  const verdict = judged(command);
  const way = await desk().open(context, { exec: "x", verdict, sandbox, authority });
  const [right] = opened;
  return right === undefined
    ? (way.notes[0]?.reason ?? "nothing to reach")
    : right.hosts().map(hostRuleText);
}

const CURL = "curl http://a.example/";

test.each<[string, Profile, AuthorityInfo | null, readonly string[] | string]>([
  [CURL, dev, approval, "nothing leaves this sandbox: profile dev says network: none"],
  [CURL, network({ ask: true }), approval, ["a.example"]],
  [CURL, network({}), approval, []],
  [CURL, network({ hosts: ["*.example"] }), approval, []],
  [CURL, network({ hosts: ["a.example"] }), approval, ["a.example", "a.example"]],
  [CURL, network({ ask: true }), null, []],
  ["npm install x", network({ hosts: ["p.example"] }), approval, ["p.example"]],
  ["ls", network({ ask: true }), null, "nothing to reach"],
])("%s", async (command, profile, authority, hosts) => {
  expect(await hostsOf(command, profile, authority)).toEqual(hosts);
});

test("a saved rule counts while it is there, on a way out that is open already", async () => {
  saved = ["b.example:81"];
  expect(await hostsOf(CURL, network({ ask: true }))).toEqual(["a.example", "b.example:81"]);
  const covers = () => coversHost(opened[0]?.hosts() ?? [], "b.example", 81);
  expect(covers()).toBe(true);
  saved = [];
  expect(covers()).toBe(false);
});

test.each<[string, Profile, readonly string[]]>([
  [CURL, dev, ["the network: profile dev says network: none"]],
  [CURL, network({ ask: true }), []],
  [CURL, network({}), ["a.example: profile dev lists other hosts only"]],
  [CURL, network({ hosts: ["a.example"] }), []],
  ["ls", dev, []],
])("a question about %s tells what approving cannot reach", (command, profile, told) => {
  const session = { id: "s" } as Parameters<EgressDesk["unreachable"]>[0];
  expect(desk().unreachable(session, profile, judged(command))).toEqual(told);
});

test("without the runner nothing ties a way out to a command, so there is none", async () => {
  kind = "plain";
  expect(await hostsOf(CURL, network({ ask: true }))).toBe(
    "nothing leaves this sandbox: its commands run by plain docker exec (no program), where nothing ties a way out to one command",
  );
});

test("under a contract only its grants' hosts are reached, while they live, and what it denies by nothing (C6)", async () => {
  let live = true;
  saved = ["saved.example"];
  const reach = {
    hosts: () => (live ? ["granted.example"] : []),
    denies: (host: string) => (host === "a.example" ? "the contract denies it" : null),
    contract: CONTRACT,
  };
  const context = {
    profile: network({ hosts: ["listed.example"] }),
    session: { id: "s", project: "web" },
    action: "a",
  } as unknown as RunContext;
  const verdict = judged(CURL);
  await desk().open(context, { exec: "x", verdict, sandbox, authority: null, reach });
  const [right] = opened;
  expect(right?.hosts().map(hostRuleText)).toEqual(["granted.example"]);
  expect(right?.denies?.("a.example")).toBe("the contract denies it");
  live = false;
  expect(right?.hosts()).toEqual([]);
});

test("C1: a host that was allowed for the session is not, under a contract that was set afterwards", async () => {
  const egress = desk();
  const context = {
    profile: network({ ask: true }),
    session: { id: "s", project: "web" },
    command: { command: CURL, cwd: "/" },
    action: "a",
  } as unknown as RunContext;
  const hosts = async (contract: Contract | null) => {
    const reach = { hosts: () => [], denies: () => null, contract };
    const verdict = judged("curl http://b.example/");
    await egress.open(context, { exec: "x", verdict, sandbox, authority: null, reach });
    return opened.at(-1)?.hosts().map(hostRuleText);
  };
  expect(await hosts(null)).toEqual([]);
  expect(await opened[0]?.ask?.("a.example", 80)).toBe(null);
  expect(await hosts(null)).toEqual(["a.example:80"]);
  expect(await hosts(CONTRACT)).toEqual([]);
  expect(await hosts(null)).toEqual(["a.example:80"]);
});
