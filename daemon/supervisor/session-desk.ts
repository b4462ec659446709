/** Opening, closing and describing sessions, and everything a session's commands are judged with. */
import { lstatSync } from "node:fs";
import { RecintoError } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import { COMMANDS_RUNNING_MAX, SHUTDOWN_GRACE_MS } from "../limits.ts";
import { blocked, escalated } from "../policy/denials.ts";
import type { PolicySettings } from "../policy/types.ts";
import { checkMountSource } from "../sandbox/mount-source.ts";
import type { Registry } from "../settings/registry.ts";
import type { Profile, Project } from "../settings/types.ts";
import type { Approvals } from "./approvals.ts";
import type { AuthorityDesk } from "./authority/authority-desk.ts";
import type { Presented, Rests } from "./authority/binding.ts";
import { CommandSlots } from "./command-slots.ts";
import type { DenialBook } from "./denial-book.ts";
import { EgressDesk } from "./egress-desk.ts";
import type { HazardConsents } from "./hazard-consents.ts";
import { refuseApproverAsAgent } from "./identity.ts";
import { type Judged, judge } from "./judge.ts";
import type { SandboxPort, SupervisorDeps } from "./ports.ts";
import type { RuleDesk, RulesInForce } from "./rule-desk.ts";
import type { RuleStore } from "./rule-store.ts";
import type { Session, Sessions } from "./sessions.ts";
import { settleWithin } from "./settling.ts";
import type { OpenedSession, OpenSessionRequest } from "./supervisor-interface.ts";
import type { Caller, SessionInfo } from "./types.ts";
import type { WatchBook } from "./watch-book.ts";

export interface SessionDeskParts {
  readonly deps: Pick<
    SupervisorDeps,
    "adminWall" | "config" | "evaluate" | "gits" | "log" | "openEgress"
  >;
  readonly journal: Journal;
  readonly registry: Registry;
  readonly sessions: Sessions;
  readonly denials: DenialBook;
  readonly rules: RuleDesk;
  readonly watches: WatchBook;
  readonly consents: Pick<HazardConsents, "acceptedAt">;
  readonly approvals: Approvals;
  readonly saved: RuleStore;
  readonly sandboxes: Pick<SandboxPort, "executor">;
  readonly authority: Pick<AuthorityDesk, "bind" | "sessionClosed" | "sessionOpened">;
}

/** With the policy files of the worktree that nobody has trusted, and what it rests on besides the profile. */
export interface JudgedInSession extends Judged, Pick<RulesInForce, "ignored"> {
  /** null: neither contract nor grants say anything here. */
  readonly rests: Rests | null;
}

export class SessionDesk {
  readonly #parts: SessionDeskParts;
  readonly egress: EgressDesk;
  /** Which of the commands may run now. */
  readonly slots = new CommandSlots(COMMANDS_RUNNING_MAX);

  constructor(parts: SessionDeskParts) {
    this.#parts = parts;
    this.egress = new EgressDesk({ ...parts, openEgress: parts.deps.openEgress });
  }

  async open(caller: Caller, request: OpenSessionRequest): Promise<OpenedSession> {
    const { authority, deps, journal, registry, sessions, watches } = this.#parts;
    const project = registry.project(projectOf(caller, request));
    refuseApproverAsAgent(caller, deps.adminWall());
    const worktree = registry.worktreeOf(project, request.worktree);
    const { uid: owner } = await checkMountSource(worktree);
    if (owner === 0) throw new RecintoError("worktree-refused", `${worktree} is owned by root`);
    for (const idle of sessions.idle()) await this.close(idle, null, "nothing used it");
    // From here to `add` without a pause: two callers at the same moment get one session.
    const existing = sessions.existing(caller, project.id, worktree);
    if (existing !== null) return { session: this.describe(existing), existing: true };
    watches.ensure(project, registry.profile(project.profile), worktree);
    const session = sessions.create(caller, project.id, worktree);
    const { id, uid, openedAt } = session;
    const { pid, gid } = caller;
    const data = { worktree, profile: project.profile, pid, gid, openedAt };
    authority.sessionOpened(session);
    journal.append({ event: "session.opened", project: project.id, session: id, uid, data });
    sessions.add(session);
    return { session: this.describe(session), existing: false };
  }

  /** `uid` is who ends it; null: the daemon. Resolves when its commands are gone, or are taking too long. */
  async close(session: Session, uid: number | null, reason: string): Promise<void> {
    const { approvals, authority, journal, sessions } = this.#parts;
    const closed = `session ${session.id} was closed: ${reason}`;
    sessions.remove(session, new RecintoError("unknown-session", closed));
    // Also those whose client waits no more: nothing could run by an answer to them.
    for (const { id } of approvals.matching({ state: "pending", session: session.id })) {
      approvals.cancel(id, closed);
    }
    authority.sessionClosed(session);
    await settleWithin(SHUTDOWN_GRACE_MS, [...session.work, ...session.background]);
    const { id, project } = session;
    journal.append({ event: "session.closed", project, session: id, uid, data: { reason } });
  }

  /** Also where project or profile cannot be used any more: a session that is there is shown. */
  describe(session: Session): SessionInfo {
    const { deps, denials, registry } = this.#parts;
    const { id, worktree, uid, openedAt, lastUsedAt } = session;
    const counters = denials.state(session);
    const limits = this.#denialLimits(session);
    return {
      id,
      project: session.project,
      worktree,
      profile: registry.projects().find((each) => each.id === session.project)?.profile ?? "",
      uid,
      openedAt,
      lastUsedAt,
      sharesApproverUid: deps.config.agentsShareApproverUid,
      denials: counters,
      blocked: limits === null ? [] : blocked(counters, limits),
      escalated: limits !== null && escalated(counters, limits),
    };
  }

  /** Throws `unknown-project`, `bad-profile`. */
  place(session: Session): { readonly project: Project; readonly profile: Profile } {
    const project = this.#parts.registry.project(session.project);
    return { project, profile: this.#parts.registry.profile(project.profile) };
  }

  /** Under rules, facts, counters and settings as they are at this moment. `evaluate`: for what is no command. */
  async judge(
    session: Session,
    command: string,
    cwd: string,
    evaluate = this.#parts.deps.evaluate,
    presented: Presented = {},
  ): Promise<JudgedInSession> {
    const { authority, consents, denials, registry, rules, watches } = this.#parts;
    const { gits } = this.#parts.deps;
    const { project, profile } = this.place(session);
    // The folder may be gone, or a link by now, and the project's pattern another one.
    registry.resolveWorktree(project, session.worktree);
    const hazards = await watches.hazardsIn(project, profile, session.worktree);
    const acceptedAt = consents.acceptedAt(project.id);
    const inForce = rules.inForce(project, profile, session);
    // As late as can be: what is bound is what was live when it was judged.
    const binding = authority.bind(session, profile, presented);
    const judged = judge(evaluate, {
      request: { command, cwd },
      project,
      settings: this.#settings(session, project, profile),
      onEscape: profile.onEscape,
      hazards,
      isAccepted: (hazard) => acceptedAt(hazard) !== null,
      privateGit:
        profile.git === "commit" ? (gits.ofWorktree(session.worktree)?.folder ?? null) : null,
      rules: binding === null ? inForce.rules : [...inForce.rules, ...binding.rules],
      denials: denials.state(session),
      ...(binding === null ? {} : { authority: binding.authority }),
    });
    const { ignored } = inForce;
    if (binding === null) return { ...judged, ignored, rests: null };
    // What is no command the daemon does itself, and it keeps to the paths.
    const ours = evaluate === this.#parts.deps.evaluate ? {} : { kernelConfinement: true };
    return { ...judged, ignored, ...binding.fit(judged.verdict, { ...judged.settings, ...ours }) };
  }

  /**
   * Users that agents of this project are: those of its sessions, and the owners its commands run as. A worktree of
   * root's is none: nothing runs in it, and root must not lose its word by it.
   */
  agentUids(project: Project): ReadonlySet<number> {
    const uids = new Set(this.#parts.sessions.agentUids(project.id));
    for (const worktree of this.#parts.registry.listWorktrees(project)) {
      const owner = lstatSync(worktree, { throwIfNoEntry: false })?.uid;
      if (owner !== undefined && owner !== 0) uids.add(owner);
    }
    return uids;
  }

  #denialLimits(session: Session): PolicySettings["denials"] | null {
    try {
      const { project, profile } = this.place(session);
      return this.#settings(session, project, profile).denials;
    } catch {
      return null;
    }
  }

  #settings(session: Session, project: Project, profile: Profile) {
    const { registry, sandboxes } = this.#parts;
    const { landlock } = sandboxes.executor(session, profile);
    return {
      ...registry.policySettings(project, profile, session.worktree),
      kernelConfinement: landlock > 0,
    };
  }
}

function projectOf(caller: Caller, request: OpenSessionRequest): string {
  if (caller.socket.kind === "agent") {
    const { project } = caller.socket;
    if (request.project === undefined || request.project === project) return project;
    throw new RecintoError("unknown-project", `this is the socket of project ${project}`);
  }
  if (request.project !== undefined) return request.project;
  throw new RecintoError("bad-request", "the admin socket is of no project: name one");
}
