/** Contracts and grants in the typed client. */
import type { Transport } from "./client-transport.ts";
import type {
  ClosureCheck,
  Contract,
  Grant,
  GrantAnswer,
  GrantRequest,
  Interface,
  InterfaceChange,
} from "./schema-authority.ts";

export type {
  ClosureCheck,
  Contract,
  Grant,
  GrantAnswer,
  GrantRequest,
  Interface,
  InterfaceChange,
};

const encode = encodeURIComponent;

/** What an admin may see of a session, and an agent of its own. */
export function interfaceCalls(http: Transport) {
  const at = (session: string) => `/v1/sessions/${encode(session)}/interface`;
  return {
    interface: (session: string) => http.json<Interface>({ method: "GET", path: at(session) }),
    watchInterface: (session: string, signal?: AbortSignal) =>
      http.lines<InterfaceChange>({
        method: "GET",
        path: `${at(session)}/changes`,
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

/** An agent's own grants. */
export function grantCalls(http: Transport) {
  const at = (session: string, handle?: string) =>
    `/v1/sessions/${encode(session)}/grants${handle === undefined ? "" : `/${encode(handle)}`}`;
  return {
    ...interfaceCalls(http),
    /** `onPending` is called when a person is asked, while the answer is waited for. */
    requestGrant: (
      session: string,
      request: GrantRequest,
      given: { onPending?: (approval: string) => void; signal?: AbortSignal } = {},
    ) => http.json<GrantAnswer>({ method: "POST", path: at(session), body: request, ...given }),
    grant: (session: string, handle: string) =>
      http.json<Grant>({ method: "GET", path: at(session, handle) }),
    releaseGrant: (session: string, handle: string) =>
      http.json<Grant>({ method: "DELETE", path: at(session, handle) }),
    checkClosure: (session: string, closure: string) =>
      http.json<ClosureCheck>({
        method: "POST",
        path: `/v1/sessions/${encode(session)}/closures/${encode(closure)}/check`,
      }),
  };
}

/** What admins set and end. */
export function authorityCalls(http: Transport) {
  const post = <T>(path: string, body: object) => http.json<T>({ method: "POST", path, body });
  const list = <T>(path: string, project?: string) =>
    http.json<T[]>({ method: "GET", path, query: { project } });
  return {
    ...interfaceCalls(http),
    contracts: (project?: string) => list<Contract>("/v1/contracts", project),
    setContract: (project: string, worktree: string, text: string) =>
      post<Contract>("/v1/contracts", { project, worktree, text }),
    clearContract: (project: string, worktree: string) =>
      post<void>("/v1/contracts/clear", { project, worktree }),
    setPhase: (project: string, worktree: string, phase: string) =>
      post<Contract>("/v1/contracts/phase", { project, worktree, phase }),
    grants: (project?: string) => list<Grant>("/v1/grants", project),
    revokeGrant: (handle: string, reason?: string) =>
      post<Grant>(`/v1/grants/${encode(handle)}/revoke`, reason === undefined ? {} : { reason }),
  };
}
