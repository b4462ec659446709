/** Routes of authority that ends: contracts, phases and grants of admins; the interface and grants of a session. */
import { z } from "zod";
import { jsonRoute, linesRoute } from "../route.ts";
import { ProjectIdSchema } from "../schema-admin.ts";
import {
  ClosureCheckSchema,
  ContractSchema,
  GrantAnswerSchema,
  GrantRequestSchema,
  GrantSchema,
  InterfaceChangeSchema,
  InterfaceSchema,
  RevokeGrantSchema,
  SetContractSchema,
  SetPhaseSchema,
  WorktreeNameSchema,
} from "../schema-authority.ts";

const ofProject = z.strictObject({ project: ProjectIdSchema.exactOptional() });

export const listContracts = jsonRoute({
  method: "GET",
  path: "/v1/contracts",
  sockets: ["admin"],
  summary: "The contracts in force, with their phase.",
  query: ofProject,
  answer: z.array(ContractSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, query }) =>
    supervisor.authority.contracts(caller, query.project),
});

export const setContract = jsonRoute({
  method: "POST",
  path: "/v1/contracts",
  sockets: ["admin"],
  right: "orchestrate",
  summary: "Puts every session on a worktree under a contract; what another one granted ends.",
  body: SetContractSchema,
  answer: ContractSchema,
  errors: ["bad-contract", "unknown-project", "unknown-worktree", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, body }) => supervisor.authority.setContract(caller, body),
});

export const clearContract = jsonRoute({
  method: "POST",
  path: "/v1/contracts/clear",
  sockets: ["admin"],
  right: "orchestrate",
  summary: "Takes a worktree's contract away: the profile's standing permission holds again.",
  body: WorktreeNameSchema,
  answer: null,
  errors: ["not-found", "unknown-project", "unknown-worktree", "agent-cannot-approve"],
  handle: async ({ supervisor }, { caller, body }) => {
    await supervisor.authority.clearContract(caller, body);
    return null;
  },
});

export const setPhase = jsonRoute({
  method: "POST",
  path: "/v1/contracts/phase",
  sockets: ["admin"],
  right: "orchestrate",
  summary: "Moves a worktree's task on to a phase of its contract.",
  body: SetPhaseSchema,
  answer: ContractSchema,
  errors: ["not-found", "unknown-project", "unknown-worktree", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, body }) => supervisor.authority.setPhase(caller, body),
});

export const listGrants = jsonRoute({
  method: "GET",
  path: "/v1/grants",
  sockets: ["admin"],
  summary: "Grants that wait, live or are closing.",
  query: ofProject,
  answer: z.array(GrantSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, query }) => supervisor.authority.grants(caller, query.project),
});

export const revokeGrant = jsonRoute({
  method: "POST",
  path: "/v1/grants/{grant}/revoke",
  sockets: ["admin"],
  right: "orchestrate",
  narrows: true,
  summary: "Ends a grant, and answers when nothing lives on it any more.",
  body: RevokeGrantSchema,
  answer: GrantSchema,
  errors: ["unknown-grant", "grant-refused", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.authority.revoke(caller, params.grant, body.reason ?? ""),
});

export const checkClosure = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/closures/{closure}/check",
  sockets: ["agent"],
  summary:
    "The daemon looks at a closure of a live grant now: it runs the test, or reads the file.",
  answer: ClosureCheckSchema,
  errors: ["unknown-session", "not-found", "busy", "engine-unreachable", "engine-failed"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.authority.check(caller, params.session, params.closure),
});

export const requestGrant = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/grants",
  sockets: ["agent"],
  summary: "Requests a rule of the contract. Nothing runs; a person may have to be asked.",
  body: GrantRequestSchema,
  answer: GrantAnswerSchema,
  errors: ["unknown-session", "grant-refused", "too-many-pending", "journal-failed"],
  handle: ({ supervisor }, { caller, params, body, signal, announce }) =>
    supervisor.authority.request(caller, params.session, body, signal, (approval) =>
      announce(`/v1/sessions/${params.session}/approvals/${approval}`),
    ),
});

export const showGrant = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/grants/{grant}",
  sockets: ["agent"],
  summary: "One grant of the session: whether it waits, lives, or what ended it.",
  answer: GrantSchema,
  errors: ["unknown-session", "unknown-grant"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.authority.grant(caller, params.session, params.grant),
});

export const releaseGrant = jsonRoute({
  method: "DELETE",
  path: "/v1/sessions/{session}/grants/{grant}",
  sockets: ["agent"],
  summary: "Gives a grant back, or withdraws its request.",
  answer: GrantSchema,
  errors: ["unknown-session", "unknown-grant", "grant-refused"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.authority.release(caller, params.session, params.grant),
});

export const showInterface = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/interface",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "Exactly the authority that the session has now, with its epoch.",
  answer: InterfaceSchema,
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.authority.interface(caller, params.session),
});

export const watchInterface = linesRoute({
  method: "GET",
  path: "/v1/sessions/{session}/interface/changes",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "The interface now, then each change of it.",
  answer: InterfaceChangeSchema,
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params, signal }) =>
    supervisor.authority.watchInterface(caller, params.session, signal),
});
