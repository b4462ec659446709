/** The authority calls as a test of the API needs them: every one answers with the same grant, contract and interface. */
import { RecintoError } from "../../daemon/errors.ts";
import type {
  AuthorityCalls,
  ContractInfo,
  GrantInfo,
} from "../../daemon/supervisor/authority/authority-calls.ts";

export const CONTRACT: ContractInfo = {
  project: "alpha",
  worktree: "/tmp",
  task: "tidy",
  phases: ["do"],
  phase: "do",
  epoch: 2,
  text: "task: tidy\nphases: [do]\n",
  setAt: 1,
  setBy: 0,
  warnings: [{ line: 1, column: 1, key: "", message: "only-default-ttl: say when it ends" }],
};

export const GRANT: GrantInfo = {
  project: "alpha",
  worktree: "/tmp",
  handle: "h-1",
  state: "live",
  rule: "docs",
  effect: "write",
  paths: ["docs/**"],
  hosts: [],
  commands: [],
  reason: "the manual",
  by: "the contract tidy",
  grantedAt: 1,
  expiresAt: 2,
  usesLeft: null,
  running: [],
  endsWith: ["written: docs/done exists"],
  cause: null,
  renewal: "request docs again",
};

const SHOWN = {
  handle: "h-1",
  rule: "docs",
  effect: "write",
  paths: ["docs/**"],
  hosts: [],
  commands: [],
  reason: "the manual",
  expiresAt: 2,
  usesLeft: null,
  endsWith: ["written: docs/done exists"],
  renewal: "request docs again",
} as const;

export const INTERFACE: ReturnType<AuthorityCalls["interface"]> = {
  session: "s1",
  task: "tidy",
  epoch: 2,
  phase: "do",
  envelope: [{ effect: "read", classes: ["read"], paths: ["**"], hosts: [], commands: [] }],
  grants: [SHOWN],
  requestable: [],
  pending: [],
  denied: { paths: ["**/.env"], hosts: [], commands: [] },
};

export class FakeAuthority implements AuthorityCalls {
  async setContract(...[, { text }]: Parameters<AuthorityCalls["setContract"]>) {
    if (text !== "") return CONTRACT;
    throw new RecintoError("bad-contract", "1:1: task: must be there");
  }

  async clearContract() {}

  contracts() {
    return [CONTRACT];
  }

  async setPhase() {
    return CONTRACT;
  }

  grants() {
    return [GRANT];
  }

  async revoke() {
    return { ...GRANT, state: "closed" as const, cause: "uid 0 revoked it" };
  }

  interface() {
    return INTERFACE;
  }

  async *watchInterface() {
    yield { interface: INTERFACE, diff: null };
  }

  async request() {
    const [grant] = INTERFACE.grants;
    return {
      outcome: "granted" as const,
      handle: "h-1",
      epoch: 2,
      grant: grant ?? null,
      approval: null,
    };
  }

  grant() {
    return GRANT;
  }

  async release() {
    return { ...GRANT, state: "closed" as const, cause: "the agent released it" };
  }

  async check() {
    return { closure: "tests", fired: true, exitCode: 0, evidence: "exit 0", closed: ["h-1"] };
  }
}
