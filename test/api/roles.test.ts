/** Roles on the admin socket: which of them reach which route, and how far a project's limit holds. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permit, rightOf } from "../../daemon/api/permit.ts";
import { ROUTES } from "../../daemon/api/routes/table.ts";
import { parseConfig } from "../../daemon/settings/config.ts";
import type { RoleAssignment } from "../../daemon/settings/types.ts";
import { namesOf } from "../../daemon/supervisor/accounts.ts";
import { sees } from "../../daemon/supervisor/identity.ts";
import { Rights, rightsOf } from "../../daemon/supervisor/roles.ts";
import { Sessions } from "../../daemon/supervisor/sessions.ts";
import type { Caller } from "../../daemon/supervisor/types.ts";
import { approval } from "./fake-supervisor.ts";
import { errorIn, type RunningApi, send, startApi } from "./running-api.ts";

const ADMIN_ROUTES = ROUTES.filter(({ sockets }) => sockets.includes("admin"));

function assigned(role: RoleAssignment["role"], projects?: readonly string[]): RoleAssignment {
  return { role, users: ["x"], groups: [], projects };
}

function callerWith(...roles: readonly RoleAssignment[]): Caller {
  const socket = { kind: "admin", rights: new Rights(roles) } as const;
  return { uid: 7, gid: 7, pid: 1, groups: [], socket };
}

function may(caller: Caller, name: string, body: object = {}): boolean {
  const route = ADMIN_ROUTES.find(({ method, path }) => `${method} ${path}` === name);
  if (route === undefined) throw new Error(`no route ${name}`);
  try {
    permit(route, caller, {}, {}, body);
    return true;
  } catch {
    return false;
  }
}

describe("a route takes", () => {
  test("to administer whatever changes something and is not said to take less", () => {
    const less = ADMIN_ROUTES.filter(
      (route) => route.method !== "GET" && rightOf(route) !== "administer",
    );
    expect(less.map((route) => `${rightOf(route)}: ${route.method} ${route.path}`)).toEqual([
      "answer: POST /v1/approvals/{approval}/answer",
      "orchestrate: POST /v1/contracts",
      "orchestrate: POST /v1/contracts/clear",
      "orchestrate: POST /v1/contracts/phase",
      "orchestrate: POST /v1/grants/{grant}/revoke",
      "read: POST /v1/profiles/check",
      "read: POST /v1/replay",
    ]);
  });

  test("no more than to look for anything that only shows", () => {
    const gets = ADMIN_ROUTES.filter(({ method }) => method === "GET");
    expect([...new Set(gets.map(rightOf))]).toEqual(["read"]);
  });
});

describe("a role", () => {
  test("of an auditor looks at everything and touches nothing", () => {
    const auditor = callerWith(assigned("auditor"));
    for (const route of ADMIN_ROUTES) {
      expect([route.path, may(auditor, `${route.method} ${route.path}`)]).toEqual([
        route.path,
        rightOf(route) === "read",
      ]);
    }
  });

  test("of an approver answers too, and neither sets contracts nor adds projects", () => {
    const approver = callerWith(assigned("approver"));
    expect(may(approver, "POST /v1/approvals/{approval}/answer")).toBe(true);
    expect(may(approver, "POST /v1/contracts")).toBe(false);
    expect(may(approver, "POST /v1/projects")).toBe(false);
  });

  test("of an orchestrator moves tasks on, and answers nothing", () => {
    const orchestrator = callerWith(assigned("orchestrator", ["shop"]));
    expect(may(orchestrator, "POST /v1/contracts/phase", { project: "shop" })).toBe(true);
    expect(may(orchestrator, "POST /v1/contracts/phase", { project: "bank" })).toBe(false);
    expect(may(orchestrator, "POST /v1/approvals/{approval}/answer")).toBe(false);
  });

  test("of an admin does everything", () => {
    const admin = callerWith(assigned("admin"));
    expect(ADMIN_ROUTES.every(({ method, path }) => may(admin, `${method} ${path}`))).toBe(true);
  });

  test("limited to projects gets no list of all of them, but what is named and its own", () => {
    const approver = callerWith(assigned("approver", ["shop"]));
    expect(may(approver, "GET /v1/events")).toBe(false);
    expect(may(approver, "GET /v1/events", { project: "shop" })).toBe(true);
    expect(may(approver, "GET /v1/events", { project: "bank" })).toBe(false);
    // These show its own alone.
    expect(may(approver, "GET /v1/approvals")).toBe(true);
    expect(may(approver, "GET /v1/sessions")).toBe(true);
    expect(may(approver, "GET /metrics")).toBe(false);
  });

  test("reaches a request that names several projects only where it reaches each of them", () => {
    const caller = callerWith(assigned("orchestrator", ["one"]), assigned("auditor"));
    const route = { method: "POST", right: "orchestrate" } as Parameters<typeof permit>[0];
    const asked =
      (...parts: readonly object[]) =>
      () =>
        permit(route, caller, ...parts);
    expect(asked({ project: "one" }, {}, { project: "one" })).not.toThrow();
    expect(asked({ project: "one" }, {}, { project: "two" })).toThrow("may not do this");
    expect(asked({}, { project: "two" }, { project: "one" })).toThrow("may not do this");
  });

  test("adds up with another one", () => {
    const both = callerWith(assigned("auditor"), assigned("approver", ["shop"]));
    expect(may(both, "GET /v1/events")).toBe(true);
    const rights = new Rights([assigned("auditor"), assigned("approver", ["shop"])]);
    expect([rights.may("answer", "shop"), rights.may("answer", "bank")]).toEqual([true, false]);
  });

  test("that nobody gave is nothing at all", () => {
    const nobody = callerWith();
    expect(ADMIN_ROUTES.filter(({ method, path }) => may(nobody, `${method} ${path}`))).toEqual([]);
  });
});

describe("who has a role", () => {
  const accounts = {
    passwd: "root:x:0:0::/:/bin/sh\nann:x:7:70::/:/bin/sh\nbob:x:8:80::/:/bin/sh\n",
    group: "leads:x:90:bob\nstaff:x:70:\n",
  };
  const roles: readonly RoleAssignment[] = [
    { role: "approver", users: ["ann"], groups: [], projects: ["shop"] },
    { role: "auditor", users: [], groups: ["leads"] },
  ];
  const of = (uid: number, gid: number, groups: readonly number[] = []) =>
    String(rightsOf(uid, roles, 0, () => namesOf({ uid, gid, groups }, accounts)));

  test("is told by user, by membership, and by the groups of the process", () => {
    expect(of(7, 70)).toBe("approver of shop");
    expect(of(8, 80)).toBe("auditor");
    expect(of(9, 80, [90])).toBe("auditor");
    expect(of(9, 80)).toBe("no role");
  });

  test("root always may, and everybody where there are no roles", () => {
    const names = () => ({ users: [], groups: [] });
    expect(rightsOf(0, roles, 0, names)).toBeUndefined();
    expect(rightsOf(7, [], 0, names)).toBeUndefined();
  });

  test("is said in the config, which refuses an admin of some projects and a role of nobody", () => {
    const config = (roles: string) => parseConfig(`roles:\n  - ${roles}\n`, "c.yaml");
    expect(config("{role: approver, users: [ann], projects: [shop]}").roles).toEqual([
      { role: "approver", users: ["ann"], groups: [], projects: ["shop"] },
    ]);
    expect(() => config("{role: admin, users: [ann], projects: [shop]}")).toThrow(/c.yaml:2:/);
    expect(() => config("{role: auditor}")).toThrow(/names nobody/);
    expect(() => config("{role: boss, users: [ann]}")).toThrow(/c.yaml:2:/);
  });
});

describe("over the socket", () => {
  let api: RunningApi;
  let rights: Rights | undefined;
  beforeAll(async () => {
    api = await startApi({ rights: () => rights });
  });
  afterAll(() => api.stop());

  test("how the daemon is tells a limited role no files of other projects", async () => {
    const told = async (each: Rights | undefined) => {
      rights = each;
      const health = await api.supervisor.health();
      api.supervisor.health = async () => ({ ...health, problems: ["/etc/bank.yaml"] });
      const reply = await send(api.adminSocket, "GET", "/v1/health");
      return (reply.body as { problems: readonly string[] }).problems;
    };
    expect(await told(new Rights([assigned("auditor", ["shop"])]))).toEqual([]);
    expect(await told(new Rights([assigned("auditor")]))).toEqual(["/etc/bank.yaml"]);
    expect(await told(undefined)).toEqual(["/etc/bank.yaml"]);
  });

  test("a request beyond the caller's roles is refused before anything is done, and says what it takes", async () => {
    rights = new Rights([assigned("auditor")]);
    api.supervisor.questions.push(approval("p1", "s1"));
    const answer = { answer: "approve", mode: "once" };
    const reply = await send(api.adminSocket, "POST", "/v1/approvals/p1/answer", answer);
    expect([reply.status, errorIn(reply)]).toMatchObject([
      403,
      { code: "not-permitted", message: "auditor may not do this: it takes the right to answer" },
    ]);
    expect(api.supervisor.questions[0]?.state).toBe("pending");
    // The same request by somebody who may is what it would have been.
    rights = undefined;
    expect((await send(api.adminSocket, "POST", "/v1/approvals/p1/answer", answer)).status).toBe(
      200,
    );
  });
});

describe("what a limited role sees", () => {
  const approver = callerWith(assigned("approver", ["shop"]));

  test("are questions of its projects, whoever asked", () => {
    expect([
      sees(approver, { project: "shop", uid: 1 }),
      sees(approver, { project: "bank", uid: 1 }),
      sees({ ...approver, socket: { kind: "admin" } }, { project: "bank", uid: 1 }),
    ]).toEqual([true, false, true]);
  });

  test("are sessions of its projects; another one's id is as if there were none", () => {
    const sessions = new Sessions({ now: () => 0, newId: () => "s1" });
    const agent: Caller = { ...approver, uid: 9, socket: { kind: "agent", project: "bank" } };
    const session = sessions.create(agent, "bank", "/w");
    sessions.add(session);
    expect(sessions.visibleTo(approver)).toEqual([]);
    expect(() => sessions.visible(approver, session.id)).toThrow(/no session/);
    expect(sessions.visibleTo({ ...approver, socket: { kind: "admin" } })).toEqual([session]);
  });
});
