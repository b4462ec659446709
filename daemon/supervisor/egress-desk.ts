/** Ways out of sandboxes: which hosts a running command reaches, who is asked about others, and when it all ends. */
import type { Contract } from "../authority/types.ts";
import type { Egress, EgressEntry } from "../egress/egress.ts";
import type { EgressRight, Injection } from "../egress/right.ts";
import { RecintoError } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import { EGRESS_ASK_WAIT_MAX_MS } from "../limits.ts";
import { authorityText, coversHost, type HostRule, parseHostRule } from "../policy/hosts.ts";
import type { Verdict } from "../policy/types.ts";
import type { WayOut } from "../sandbox/runner/frames.ts";
import type { SandboxHandle } from "../sandbox/sandboxes.ts";
import { RUNNER_SOCKET_DIR } from "../sandbox/spec.ts";
import { readAdminFile } from "../settings/admin-file.ts";
import type { Profile } from "../settings/types.ts";
import type { Approvals } from "./approvals.ts";
import { leaves, namedEndpoints } from "./endpoints.ts";
import { type Note, note } from "./escort.ts";
import type { SandboxPort } from "./ports.ts";
import type { RuleStore } from "./rule-store.ts";
import type { RunContext } from "./run-context.ts";
import type { Session } from "./sessions.ts";
import type { AuthorityInfo } from "./types.ts";

export type EgressPort = Pick<Egress, "open" | "revoke" | "recheck" | "close"> & {
  /** Name of the socket in the runner's folder. */
  readonly socket: string;
};

export interface EgressDeskParts {
  readonly openEgress: (record: (entry: EgressEntry) => void) => EgressPort;
  readonly journal: Journal;
  readonly approvals: Approvals;
  readonly saved: RuleStore;
  readonly sandboxes: Pick<SandboxPort, "executor">;
}

export interface Departure {
  readonly exec: string;
  readonly verdict: Verdict;
  readonly sandbox: Pick<SandboxHandle, "spec">;
  /** What a person's approval gave; null: it was allowed without asking. */
  readonly authority: AuthorityInfo | null;
  /** What contract and grants say; absent or null: nothing. */
  readonly reach?: Reach | null;
}

/** What of the network contract and grants give a command, and what they take. */
export interface Reach {
  /** Patterns of the grants it runs on; none once one of them closes. */
  readonly hosts: () => readonly string[];
  /** Why a host is not to be had whatever else names it, or null. */
  readonly denies: (host: string) => string | null;
  /** null: there is none, and the profile's and the saved rules' hosts count too. */
  readonly contract: Contract | null;
}

export interface OpenedWay {
  readonly wayOut: WayOut | null;
  readonly notes: readonly Note[];
  /** Ends its connections and lets no more begin, while the command may still run. */
  readonly cut: (reason: string) => void;
  /** Ends it with its connections and open questions. Call once, when the command is gone. */
  readonly close: () => void;
}

export class EgressDesk {
  readonly #parts: EgressDeskParts;
  readonly #egress: EgressPort;
  /** Hosts allowed for the rest of a session, under the contract that it had when a person said so. */
  readonly #sessions = new WeakMap<Session, SessionHosts[]>();

  constructor(parts: EgressDeskParts) {
    this.#parts = parts;
    this.#egress = parts.openEgress((entry) => {
      parts.journal.append(entry);
    });
    parts.journal.subscribe(({ event, project }) => {
      if (event !== "rule.revoked" || project === null) return;
      this.#egress.recheck(project, "the rule for this host was revoked");
    });
  }

  /** What approving this verdict cannot reach, each with its reason; for the question to a person. */
  unreachable(session: Session, profile: Profile, verdict: Verdict): readonly string[] {
    if (!leaves(verdict)) return [];
    const closed = this.#closed(session, profile);
    if (closed !== null) return [`the network: ${closed}`];
    if (profile.network?.ask) return [];
    const allowed = hostRules(profile.network?.hosts ?? []);
    return namedEndpoints(verdict)
      .filter((endpoint) => !withinRules(endpoint, allowed))
      .map((endpoint) => `${endpoint}: profile ${profile.name} lists other hosts only`);
  }

  /** Errors: bad-config (a secret's file), engine-failed. */
  async open(context: RunContext, departure: Departure): Promise<OpenedWay> {
    const { session, profile } = context;
    const { network = null } = profile;
    if (!leaves(departure.verdict)) return NONE;
    const closed = this.#closed(session, profile);
    const folder = folderOf(departure.sandbox);
    if (network === null || closed !== null || folder === null) {
      const why = closed ?? "this sandbox was made without the runner";
      return { ...NONE, notes: [note("no_way_out", `nothing leaves this sandbox: ${why}`)] };
    }
    const { reach = null } = departure;
    const contract = reach?.contract ?? null;
    const standing = contract === null;
    const listed = hostRules(network.hosts);
    const own = standing ? [...listed] : [];
    if (departure.authority !== null) {
      const named = namedEndpoints(departure.verdict);
      own.push(...hostRules(named.filter((each) => network.ask || withinRules(each, listed))));
    }
    const questions = new Questions(this.#parts.approvals);
    const right: EgressRight = {
      id: departure.authority?.id ?? departure.exec,
      project: session.project,
      session: session.id,
      data: { action: context.action, exec: departure.exec },
      hosts: () => [
        ...own,
        ...hostRules(reach?.hosts() ?? []),
        ...this.#sessionHosts(session, contract),
        ...(standing ? this.#savedHosts(session.project) : []),
      ],
      denies: reach?.denies ?? (() => null),
      methods: network.methods,
      expires: null,
      injections: network.inject.map(readInjection),
      intercepted: hostRules(network.intercept),
      ...(network.ask
        ? { ask: (host, port) => this.#ask(context, departure, questions, own, host, port) }
        : {}),
    };
    const token = await this.#egress.open(folder, right);
    return {
      wayOut: { socket: `${RUNNER_SOCKET_DIR}/${this.#egress.socket}`, token },
      notes: [],
      cut: (reason) => this.#egress.revoke(right.id, reason),
      close: () => {
        this.#egress.revoke(right.id, "its command ended");
        questions.end();
      },
    };
  }

  close(): Promise<void> {
    return this.#egress.close();
  }

  #closed(session: Session, profile: Profile): string | null {
    if ((profile.network ?? null) === null) return `profile ${profile.name} says network: none`;
    const { kind, reason } = this.#parts.sandboxes.executor(session, profile);
    return kind === "plain"
      ? `its commands run by plain docker exec (${reason}), where nothing ties a way out to one command`
      : null;
  }

  /** A person decides about one more host while the connection waits. null: allowed. Never throws. */
  async #ask(
    context: RunContext,
    departure: Departure,
    questions: Questions,
    own: HostRule[],
    host: string,
    port: number,
  ): Promise<string | null> {
    const endpoint = authorityText(host, port);
    try {
      const given = await questions.about(endpoint, () => this.#file(context, departure, endpoint));
      if (typeof given === "string") return given;
      const { resource } = given;
      const rules = hostRules([endpoint]);
      if (resource.kind === "host" && resource.until === "session") {
        const before = this.#sessions.get(context.session) ?? [];
        const contract = departure.reach?.contract ?? null;
        this.#sessions.set(context.session, [...before, { rules, contract }]);
      } else if (resource.kind === "host") own.push(...rules);
      return null;
    } catch (error) {
      return error instanceof RecintoError ? `${error.message}: ${error.hint}` : "it was given up";
    }
  }

  #file(context: RunContext, { verdict }: Departure, endpoint: string): string {
    const { session, profile, command, action, agentCouldApprove } = context;
    const reason = `reaches for ${endpoint}, which it was not allowed`;
    const segment = {
      text: command.command,
      form: "",
      hosts: [endpoint],
      cwds: [command.cwd],
      verdict: "ask",
      rung: "default",
      rule: "egress/host",
      reason,
      effects: ["network"],
      classes: ["network"],
      paths: [],
      matches: [],
    } as const;
    const { id } = this.#parts.approvals.file(
      {
        action,
        session: session.id,
        project: session.project,
        worktree: session.worktree,
        uid: session.uid,
        command: command.command,
        cwd: command.cwd,
        host: endpoint,
        verdict: {
          verdict: "ask",
          effects: ["network"],
          classes: ["network"],
          roots: [],
          segments: [segment],
          reason: `the running command ${reason}`,
          bindTo: [],
          always: [{ prefix: [], effects: ["network"], paths: [], hosts: [endpoint] }],
          ...(verdict.hidden === undefined ? {} : { hidden: verdict.hidden }),
        },
        facts: { branch: undefined, realpath: {}, content: {} },
        cannotTakeEffect: [],
        ...(agentCouldApprove ? { agentCouldApprove } : {}),
      },
      null,
      Math.min(profile.approvalWaitMs, EGRESS_ASK_WAIT_MAX_MS),
    );
    return id;
  }

  #sessionHosts(session: Session, contract: Contract | null): readonly HostRule[] {
    const given = this.#sessions.get(session) ?? [];
    return given.filter((each) => each.contract === contract).flatMap(({ rules }) => rules);
  }

  #savedHosts(project: string): readonly HostRule[] {
    return hostRules(this.#parts.saved.list(project).flatMap(({ hosts = [] }) => hosts));
  }
}

interface SessionHosts {
  readonly rules: readonly HostRule[];
  readonly contract: Contract | null;
}

const NONE: OpenedWay = {
  wayOut: null,
  notes: [],
  cut: () => undefined,
  close: () => undefined,
};

/** The open questions of one command: one for each host, however many connections wait for it. */
class Questions {
  readonly #approvals: Approvals;
  readonly #open = new Map<string, Promise<AuthorityInfo | string>>();
  readonly #ids = new Set<string>();

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** What was given, or why nothing was. A host that was refused once stays refused for this command. */
  about(endpoint: string, file: () => string): Promise<AuthorityInfo | string> {
    const asked = this.#open.get(endpoint) ?? this.#answer(file);
    this.#open.set(endpoint, asked);
    return asked;
  }

  end(): void {
    for (const id of this.#ids) this.#approvals.cancel(id, "its command ended");
  }

  async #answer(file: () => string): Promise<AuthorityInfo | string> {
    const id = file();
    this.#ids.add(id);
    const letGo = this.#approvals.wait(id);
    try {
      const { state, reason: given, authority } = await this.#approvals.over(id);
      if (state === "approved" && authority !== undefined && this.#approvals.use(id)) {
        return authority;
      }
      if (state === "denied")
        return given === undefined ? "a person said no" : `a person: ${given}`;
      return state === "timed-out"
        ? "nobody answered in time; try again later"
        : (given ?? "recintod is stopping");
    } finally {
      this.#ids.delete(id);
      letGo();
    }
  }
}

/** The host's folder in which the runner's sockets of a sandbox are. */
function folderOf({ spec }: Pick<SandboxHandle, "spec">): string | null {
  return spec.mounts.find(({ target }) => target === RUNNER_SOCKET_DIR)?.source ?? null;
}

/** What is not a pattern names nothing. */
function hostRules(patterns: readonly string[]): readonly HostRule[] {
  return patterns.flatMap((pattern) => parseHostRule(pattern).rule ?? []);
}

function withinRules(endpoint: string, rules: readonly HostRule[]): boolean {
  return hostRules([endpoint]).every(({ host, ports }) =>
    ports.every((port) => coversHost(rules, host, port)),
  );
}

function readInjection({
  host,
  header,
  valueFrom,
}: NonNullable<Profile["network"]>["inject"][number]): Injection {
  const value = readAdminFile(valueFrom).replace(/\r?\n$/, "");
  const [rule] = hostRules([host]);
  if (rule === undefined || value === "" || /[^\x20-\x7e]/.test(value)) {
    throw new RecintoError("bad-config", `${valueFrom} does not hold one line of plain text`, {
      hint: "write the whole value of the header into it, such as: Bearer TOKEN",
    });
  }
  return { host: rule, header: header.toLowerCase(), value };
}
