/** The rules that a command is judged by, from every source (B1), and what admins see and settle about them. */
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import { BUILTIN_RULES } from "../policy/builtin-rules.ts";
import { checkRuleFile } from "../policy/rule-file-check.ts";
import { mergeRuleFiles } from "../policy/rule-files.ts";
import { describeRule } from "../policy/rules.ts";
import type { Rule } from "../policy/types.ts";
import { fileError } from "../settings/admin-yaml.ts";
import type { Registry } from "../settings/registry.ts";
import type { Profile, Project } from "../settings/types.ts";
import { userNames } from "../settings/user-names.ts";
import { type AdminWall, refuseAgentAsApprover, requireAdmin } from "./identity.ts";
import type { Log } from "./ports.ts";
import { requireProject } from "./project-desk.ts";
import type { RuleFileCalls, RuleFileInfo, SessionRulesRequest } from "./rule-file-calls.ts";
import type { RuleStore } from "./rule-store.ts";
import { SessionRuleBook, type SessionRules, type SessionRulesKey } from "./session-rules.ts";
import type { StoredRule } from "./supervisor-interface.ts";
import { TrustStore } from "./trust-store.ts";
import type { Caller } from "./types.ts";
import { WorktreePolicies, type WorktreePolicy } from "./worktree-policies.ts";

export interface RuleDeskParts {
  readonly config: { readonly stateDir: string };
  readonly journal: Journal;
  readonly registry: Registry;
  readonly saved: RuleStore;
  readonly now: () => number;
  readonly log: Log;
  readonly adminWall: () => AdminWall;
  readonly agentUids: (project: Project) => ReadonlySet<number>;
}

/** Rules and what came of looking for them. */
export interface RulesInForce {
  readonly rules: readonly Rule[];
  /** Policy files of the worktree that count for nothing, since nobody trusted what they say now. */
  readonly ignored: readonly WorktreePolicy[];
}

export class RuleDesk implements RuleFileCalls {
  readonly #parts: RuleDeskParts;
  readonly #policies = new WorktreePolicies();
  readonly #trust: TrustStore;
  readonly #given: SessionRuleBook;
  readonly #told = new Set<string>();

  constructor(parts: RuleDeskParts) {
    this.#parts = parts;
    this.#trust = new TrustStore(parts.config.stateDir);
    this.#given = SessionRuleBook.restore(parts.journal, parts.now);
  }

  /** All sources merged: what the admin denies is always among them, and the strictest there. */
  inForce(project: Project, profile: Profile, who: SessionRulesKey): RulesInForce {
    const files = this.#parts.registry.ruleFiles(project);
    const names = new Set([String(who.uid), ...userNames(who.uid)]);
    const found = this.#policies.find([who.worktree, project.root]);
    const trusted = found.filter((policy) => this.#trusted(project, policy));
    const merged = mergeRuleFiles([
      { source: "admin", rules: profile.policy.rules, merge: true },
      ...this.#given
        .of(who)
        .map(({ rules, merge }) => ({ source: "session", rules, merge }) as const),
      ...files.filter(({ source, owner }) => source === "project" || names.has(owner)),
      { source: "project", rules: this.#savedRules(project.id), merge: true },
      // An agent can write such a file: a person trusted its rules, not that it replaces the admin's (B8).
      ...trusted.map(({ rules }) => ({ source: "project", rules, merge: true }) as const),
      { source: "builtin", rules: BUILTIN_RULES, merge: true },
    ]);
    return { ...merged, ignored: found.filter((policy) => !trusted.includes(policy)) };
  }

  /** Those that were not told about yet, each content once: recorded here, for the caller to tell the agent. */
  tell(project: string, ignored: readonly WorktreePolicy[]): readonly WorktreePolicy[] {
    const fresh = ignored.filter(({ file, sha256 }) => !this.#told.has(`${sha256} ${file}`));
    for (const { file, sha256, problem } of fresh) {
      this.#parts.journal.append({
        event: "policy.not_trusted",
        project,
        data: { file, sha256, problem },
      });
      this.#told.add(`${sha256} ${file}`);
    }
    return fresh;
  }

  saved(caller: Caller, id: string): readonly StoredRule[] {
    requireAdmin(caller);
    requireProject(this.#parts.registry, id);
    return this.#parts.saved.list(id);
  }

  revokeSaved(caller: Caller, id: string, rule: string): StoredRule {
    requireAdmin(caller);
    const { journal, registry, saved } = this.#parts;
    const project = registry.project(id).id;
    const revoked = saved.revoke(project, rule);
    journal.append({ event: "rule.revoked", project, uid: caller.uid, data: { ...revoked } });
    return revoked;
  }

  list(caller: Caller, id: string): readonly RuleFileInfo[] {
    requireAdmin(caller);
    const { registry } = this.#parts;
    const project = registry.project(id);
    const given = this.#given.inProject(id).map(sessionInfo);
    const held = registry.ruleFiles(project).map((file): RuleFileInfo => {
      const problem = registry.problems().get(file.file)?.message;
      const { source, owner, rules, merge } = file;
      const broken = rules[0]?.source === "admin";
      const state = problem === undefined ? "in-force" : broken ? "broken" : "kept";
      return { ...shown(file.file, state, rules, merge), source, owner, ...said(problem) };
    });
    const own = this.#policies
      .find([...registry.listWorktrees(project), project.root])
      .map((policy) => this.#policyInfo(project, policy));
    return [...given, ...held, ...own];
  }

  trust(caller: Caller, id: string, file: string, sha256: string): RuleFileInfo {
    const { journal, now } = this.#parts;
    const { project, policy } = this.#answerable(caller, id, file);
    if (policy.problem !== null) throw new RecintoError("bad-rules", policy.problem);
    if (policy.sha256 !== sha256) {
      throw new RecintoError("facts-changed", `${file} is ${policy.sha256} now, not ${sha256}`, {
        hint: "read it again before you trust it",
      });
    }
    const { name } = policy;
    const trustedAt = new Date(now()).toISOString();
    journal.append({
      event: "policy.trusted",
      project: id,
      uid: caller.uid,
      data: { file, name, sha256 },
    });
    this.#trust.add(id, { name, sha256, trustedAt, trustedBy: caller.uid });
    return this.#policyInfo(project, policy);
  }

  distrust(caller: Caller, id: string, file: string): number {
    requireAdmin(caller);
    const project = this.#parts.registry.project(id);
    const root = this.#roots(project).find((each) => file.startsWith(`${each}/`));
    const name = root === undefined ? file : file.slice(root.length + 1);
    const count = this.#trust.remove(id, name);
    if (count > 0) {
      const data = { name, contents: count };
      this.#parts.journal.append({
        event: "policy.distrusted",
        project: id,
        uid: caller.uid,
        data,
      });
    }
    return count;
  }

  giveSession(caller: Caller, request: SessionRulesRequest): RuleFileInfo {
    const { registry, adminWall, agentUids, journal, now } = this.#parts;
    const project = registry.project(request.project);
    refuseAgentAsApprover(caller, agentUids(project), adminWall());
    const worktree = registry.resolveWorktree(project, request.worktree);
    const { uid = null, text, expiresInMs } = request;
    const name = `session/${uid ?? "any"}`;
    const { rules, merge, problems } = checkRuleFile(text, "session", name);
    if (problems.length > 0) {
      throw fileError(
        "bad-rules",
        "session rules",
        problems.map((one) => ({ ...one, key: "" })),
      );
    }
    const given: SessionRules = {
      project: project.id,
      worktree,
      forUid: uid,
      rules: rules.map(({ match: _, notMatch: __, ...rule }) => rule),
      merge,
      expiresAt: expiresInMs === undefined ? null : now() + expiresInMs,
    };
    const { entry, commit } = this.#given.give(given, caller.uid);
    journal.append(entry);
    commit();
    return sessionInfo(given);
  }

  /** The policy file of a project that a path names. Throws `not-found`, and what forbids this caller to answer. */
  #answerable(caller: Caller, id: string, file: string) {
    const { registry, agentUids, adminWall } = this.#parts;
    const project = registry.project(id);
    refuseAgentAsApprover(caller, agentUids(project), adminWall());
    const policy = this.#policies.find(this.#roots(project)).find((each) => each.file === file);
    if (policy !== undefined) return { project, policy };
    throw new RecintoError("not-found", `${file} is no policy file of project ${id}`, {
      hint: `recinto policy files ${id} lists them; links are not followed`,
    });
  }

  #roots(project: Project): readonly string[] {
    return [...this.#parts.registry.listWorktrees(project), project.root];
  }

  #policyInfo(project: Project, policy: WorktreePolicy): RuleFileInfo {
    const { file, rules, sha256, problem, wantsAlone } = policy;
    const state =
      problem !== null ? "broken" : this.#trusted(project, policy) ? "trusted" : "not-trusted";
    const alone = wantsAlone
      ? "merge: false is not heeded: an agent can write this file"
      : undefined;
    return {
      ...shown(file, state, rules, true),
      source: "project",
      owner: project.id,
      sha256,
      ...said(problem ?? alone),
    };
  }

  /** Where it cannot be told, nothing is trusted: more asks. */
  #trusted({ id }: Project, { name, sha256, problem }: WorktreePolicy): boolean {
    if (problem !== null) return false;
    return this.#orNothing(id, "trusted policy files are not used", false, () =>
      this.#trust.trusts(id, name, sha256),
    );
  }

  /** Saved rules only ever allow, so a file that cannot be believed is left out: more is asked, nothing passes. */
  #savedRules(project: string): readonly Rule[] {
    return this.#orNothing(project, "saved rules are not used", [], () =>
      this.#parts.saved.policyRules(project),
    );
  }

  #orNothing<T>(project: string, message: string, nothing: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.#parts.log.error({ project, error }, message);
      return nothing;
    }
  }
}

function sessionInfo(given: SessionRules): RuleFileInfo {
  const { worktree, forUid, rules, merge, expiresAt } = given;
  return {
    ...shown(join(worktree), "in-force", rules, merge),
    source: "session",
    owner: forUid === null ? "any" : String(forUid),
    expiresAt,
  };
}

function shown(file: string, state: RuleFileInfo["state"], rules: readonly Rule[], merge: boolean) {
  return {
    file,
    state,
    merge,
    rules: rules.map((rule) => ({
      id: rule.id,
      action: rule.action,
      rule: describeRule(rule),
      ...(rule.justification === undefined ? {} : { justification: rule.justification }),
    })),
  };
}

function said(problem: string | undefined): { readonly problem?: string } {
  return problem === undefined ? {} : { problem };
}
