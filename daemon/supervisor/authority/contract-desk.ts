/** Contracts and phases, which admins set for worktrees: read, held against the linter, and put in force. */
import { compileContract } from "../../authority/contract.ts";
import { lintContract } from "../../authority/lint.ts";
import { RecintoError } from "../../errors.ts";
import type { Registry } from "../../settings/registry.ts";
import type { Profile, Project } from "../../settings/types.ts";
import { refuseAgentAsApprover, requireAdmin } from "../identity.ts";
import type { SupervisorDeps } from "../ports.ts";
import { requireProject } from "../project-desk.ts";
import type { Caller } from "../types.ts";
import type {
  AuthorityCalls,
  ContractInfo,
  ContractRemark,
  WorktreeName,
} from "./authority-calls.ts";
import type { HeldLedger, LedgerBook, LedgerKey } from "./ledger-book.ts";

export interface ContractDeskParts {
  readonly book: LedgerBook;
  readonly registry: Registry;
  readonly adminWall: SupervisorDeps["adminWall"];
  readonly agentUids: (project: Project) => ReadonlySet<number>;
  /** Resolves when nothing of what was told to end there is left. */
  readonly ending: (key: LedgerKey) => Promise<void>;
}

type ContractCalls = Pick<
  AuthorityCalls,
  "clearContract" | "contracts" | "setContract" | "setPhase"
>;

export class ContractDesk implements ContractCalls {
  readonly #parts: ContractDeskParts;

  constructor(parts: ContractDeskParts) {
    this.#parts = parts;
  }

  async setContract(
    caller: Caller,
    { text, ...at }: WorktreeName & { readonly text: string },
  ): Promise<ContractInfo> {
    const key = this.#placed(caller, at);
    const compiled = compileContract(text);
    if (compiled.problems !== undefined) throw badContract(compiled.problems);
    const { uid } = caller;
    const command = { type: "contractSet", contract: compiled.contract, by: `uid ${uid}` } as const;
    const data = { source: { text, setBy: uid } };
    this.#parts.book.step(key, command, { uid, session: null }, { data });
    this.#parts.book.save();
    // What was begun under another one, or under none, is told to end by that.
    await this.#parts.ending(key);
    return this.#contractInfo(this.#parts.book.get(key)) as ContractInfo;
  }

  async clearContract(caller: Caller, at: WorktreeName): Promise<void> {
    const key = this.#placed(caller, at);
    const { uid } = caller;
    const command = { type: "contractSet", contract: null, by: `uid ${uid}` } as const;
    const { outcome } = this.#parts.book.step(key, command, { uid, session: null });
    if (outcome.ok && outcome.result === "nothing") throw noContract(key);
    this.#parts.book.save();
  }

  contracts(caller: Caller, project?: string): readonly ContractInfo[] {
    requireAdmin(caller);
    if (project !== undefined) requireProject(this.#parts.registry, project);
    return this.#parts.book
      .all()
      .filter((ledger) => project === undefined || ledger.project === project)
      .flatMap((ledger) => this.#contractInfo(ledger) ?? []);
  }

  async setPhase(
    caller: Caller,
    { phase, ...at }: WorktreeName & { readonly phase: string },
  ): Promise<ContractInfo> {
    const key = this.#placed(caller, at);
    if (this.#parts.book.get(key)?.state.contract == null) throw noContract(key);
    const { uid } = caller;
    const command = { type: "phaseChanged", phase, by: `uid ${uid}` } as const;
    const { outcome } = this.#parts.book.step(key, command, { uid, session: null });
    if (!outcome.ok) {
      throw new RecintoError("bad-request", outcome.reason, {
        hint: "name a phase that the contract declares: recinto contract show prints it",
      });
    }
    return this.#contractInfo(this.#parts.book.get(key)) as ContractInfo;
  }

  /** For an admin who is no agent. Throws `not-permitted`, `agent-cannot-approve`, `unknown-…`. */
  #placed(caller: Caller, { project: id, worktree }: WorktreeName): LedgerKey {
    requireAdmin(caller);
    const { registry } = this.#parts;
    const project = this.requirePerson(caller, id);
    return { project: project.id, worktree: registry.resolveWorktree(project, worktree) };
  }

  /** Throws `not-permitted`, `agent-cannot-approve`, `unknown-project`. */
  requirePerson(caller: Caller, id: string): Project {
    const { registry, agentUids, adminWall } = this.#parts;
    const project = registry.project(id);
    refuseAgentAsApprover(caller, agentUids(project), adminWall());
    return project;
  }

  #contractInfo(ledger: HeldLedger | null): ContractInfo | null {
    if (ledger === null || ledger.contract === null || ledger.state.contract === null) return null;
    const { project, worktree, state, contract } = ledger;
    const { task, phases } = state.contract as NonNullable<typeof state.contract>;
    const { phase, epoch } = state;
    const warnings = this.#warnings(project, contract.text);
    return { project, worktree, task, phases, phase, epoch, ...contract, warnings };
  }

  #warnings(project: string, text: string): readonly ContractRemark[] {
    const compiled = compileContract(text);
    if (compiled.problems !== undefined) return [];
    const profile = this.#profileOf(project);
    const standings = profile === null ? {} : { [profile.name]: profile.policy.standing };
    const said = lintContract(compiled.contract, compiled.locate, standings);
    return said.map(({ line, column, key, message, code }) => ({
      line,
      column,
      key,
      message: `${code}: ${message}`,
    }));
  }

  /** Also where a project or profile cannot be used any more: its contract is shown. */
  #profileOf(project: string): Profile | null {
    try {
      const { registry } = this.#parts;
      return registry.profile(registry.project(project).profile);
    } catch {
      return null;
    }
  }
}

function badContract(problems: readonly ContractRemark[]): RecintoError {
  const lines = problems.map(
    ({ line, column, key, message }) =>
      `${line}:${column}: ${key === "" ? "" : `${key}: `}${message}`,
  );
  return new RecintoError("bad-contract", lines.join("\n"), { details: { problems } });
}

function noContract({ project, worktree }: LedgerKey): RecintoError {
  return new RecintoError("not-found", `${worktree} of ${project} has no contract`, {
    hint: `recinto contract set --project ${project} --worktree ${worktree} FILE`,
  });
}
