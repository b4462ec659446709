/** Looking back: the journal judged again under a rule or a profile that is not there yet, and counted. */
import { setImmediate } from "node:timers/promises";
import { RecintoError } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import { RULE_PREVIEW_ACTIONS_MAX, RULE_PREVIEW_EXAMPLES_MAX } from "../limits.ts";
import { ruleOfSaved } from "../policy/generalise.ts";
import type { PolicySettings, Rule, SavedRule, Verdict } from "../policy/types.ts";
import type { Registry } from "../settings/registry.ts";
import type { Profile } from "../settings/types.ts";
import type { Approvals } from "./approvals.ts";
import type {
  HistoryCalls,
  ReplayLine,
  ReplayRequest,
  RulePreview,
  Stats,
  StatsRequest,
} from "./history-calls.ts";
import { requireAdmin } from "./identity.ts";
import { Metrics } from "./metrics.ts";
import {
  decidedByDenials,
  decidingRules,
  judgeAgain,
  type PastAction,
  pagesOf,
  pastAction,
} from "./past-actions.ts";
import type { SupervisorDeps } from "./ports.ts";
import { requireProject } from "./project-desk.ts";
import { requireRight } from "./roles.ts";
import type { RuleDesk } from "./rule-desk.ts";
import { COUNTED_EVENTS, StatsCount } from "./stats.ts";
import type { Health } from "./supervisor-interface.ts";
import type { Caller } from "./types.ts";

export interface HistoryDeskParts {
  readonly evaluate: SupervisorDeps["evaluate"];
  readonly journal: Journal;
  readonly registry: Registry;
  readonly rules: RuleDesk;
  readonly approvals: Approvals;
  readonly health: () => Promise<Health>;
}

/** What an action is judged by today. */
interface Place {
  readonly settings: PolicySettings;
  readonly rules: readonly Rule[];
}

/** Actions judged between which other work goes on. */
const SLICE = 50;

export class HistoryDesk implements HistoryCalls {
  readonly #parts: HistoryDeskParts;
  readonly #metrics = new Metrics();

  constructor(parts: HistoryDeskParts) {
    this.#parts = parts;
    this.#metrics.follow(parts.journal);
  }

  async previewRules(caller: Caller, id: string): Promise<readonly RulePreview[]> {
    requireAdmin(caller);
    const { journal, approvals } = this.#parts;
    const { action, project, verdict } = approvals.get(id);
    requireRight(caller, "read", project);
    const offered = verdict.always ?? [];
    if (offered.length === 0) return [];
    const entries = journal.read({
      project,
      events: ["proposed_action.created"],
      limit: RULE_PREVIEW_ACTIONS_MAX,
      newest: true,
    });
    const asked = entries
      .map(pastAction)
      .filter((past) => past.verdict === "ask" && past.action !== action && !decidedByDenials(past))
      .reverse();
    const placeOf = this.#places();
    const tried: { readonly past: PastAction; readonly passes: readonly boolean[] }[] = [];
    for (const [index, past] of asked.entries()) {
      if (index % SLICE === SLICE - 1) await setImmediate();
      const place = placeOf(past);
      if (typeof place === "string" || this.#verdict(past, place).verdict !== "ask") continue;
      tried.push({ past, passes: offered.map((rule) => this.#wouldPass(past, place, rule)) });
    }
    return offered.map((rule, width): RulePreview => {
      const passing = tried.filter(({ passes }) => passes[width]);
      const texts = [...new Set(passing.map(({ past }) => past.command))];
      return {
        rule,
        tried: tried.length,
        allowed: passing.length,
        examples: texts.slice(0, RULE_PREVIEW_EXAMPLES_MAX),
      };
    });
  }

  async *replay(
    caller: Caller,
    request: ReplayRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ReplayLine> {
    requireAdmin(caller);
    const { registry, journal } = this.#parts;
    const { profile: named, project, sinceMs } = request;
    if (project !== undefined) requireProject(registry, project);
    const profile =
      "text" in named ? registry.tryProfile(named.name, named.text) : registry.profile(named.name);
    const placeOf = this.#places(profile);
    const changed: Record<string, number> = {};
    const left = { denials: 0, gone: 0, incomplete: 0 };
    let actions = 0;
    let same = 0;
    const query = { events: ["proposed_action.created"], ...given({ project, sinceMs }) } as const;
    for await (const page of pagesOf(journal, query, signal)) {
      for (const [index, entry] of page.entries()) {
        if (index % SLICE === SLICE - 1) await setImmediate();
        actions += 1;
        const past = pastAction(entry);
        const place = decidedByDenials(past) ? "denials" : placeOf(past);
        if (typeof place === "string") {
          left[place] += 1;
          continue;
        }
        const verdict = this.#verdict(past, place);
        if (verdict.verdict === past.verdict) {
          same += 1;
          continue;
        }
        const kind = `${past.verdict} → ${verdict.verdict}`;
        changed[kind] = (changed[kind] ?? 0) + 1;
        yield changeOf(past, verdict);
      }
    }
    yield { type: "summary", profile: profile.name, actions, same, changed, left };
  }

  async stats(caller: Caller, { project, sinceMs }: StatsRequest): Promise<Stats> {
    requireAdmin(caller);
    if (project !== undefined) requireProject(this.#parts.registry, project);
    const count = new StatsCount();
    const query = { events: COUNTED_EVENTS, ...given({ project, sinceMs }) };
    for await (const page of pagesOf(this.#parts.journal, query)) {
      for (const entry of page) count.add(entry);
    }
    return count.result();
  }

  async metrics(caller: Caller): Promise<string> {
    requireAdmin(caller);
    const health = await this.#parts.health();
    const before = performance.now();
    // A disk that does not take it shows in health; how long that took is told all the same.
    await this.#parts.journal.synced().catch(() => undefined);
    const journalSyncMs = performance.now() - before;
    const residentBytes = process.memoryUsage.rss();
    return this.#metrics.text({ health, journalSyncMs, residentBytes });
  }

  #verdict(past: PastAction, { settings, rules }: Place): Verdict {
    return judgeAgain(this.#parts.evaluate, past, settings, rules);
  }

  #wouldPass(past: PastAction, { settings, rules }: Place, saved: SavedRule): boolean {
    // A rule about hosts lets no command pass by itself.
    if (saved.hosts !== undefined) return false;
    const rule = ruleOfSaved(saved, "preview", "project");
    return this.#verdict(past, { settings, rules: [...rules, rule] }).verdict === "allow";
  }

  /** Settings and rules of today, by project, worktree and user: each looked up once. `profile`: instead of the project's. */
  #places(profile?: Profile): (past: PastAction) => Place | "gone" | "incomplete" {
    const { registry, rules } = this.#parts;
    const known = new Map<string, Place | "gone">();
    return (past) => {
      const { project: id, worktree, uid, facts } = past;
      // Entries of old, and operations on files, which are no text that could be judged.
      if (worktree === undefined || facts === undefined) return "incomplete";
      const key = JSON.stringify([id, worktree, uid]);
      let place = known.get(key);
      if (place === undefined) {
        place = placeOf();
        known.set(key, place);
      }
      return place;

      function placeOf(): Place | "gone" {
        try {
          const project = registry.project(id);
          const used = profile ?? registry.profile(project.profile);
          const who = { project: id, worktree: worktree as string, uid };
          return {
            settings: registry.policySettings(project, used, who.worktree),
            rules: rules.inForce(project, used, who).rules,
          };
        } catch (error) {
          if (error instanceof RecintoError) return "gone";
          throw error;
        }
      }
    };
  }
}

function changeOf(past: PastAction, verdict: Verdict): ReplayLine {
  const { seq, at, project, command, cwd } = past;
  return {
    type: "change",
    seq,
    at,
    project,
    command,
    cwd,
    before: { verdict: past.verdict, rules: decidingRules(past) },
    after: {
      verdict: verdict.verdict,
      rules: decidingRules({ verdict: verdict.verdict, rules: verdict.segments }),
      reason: verdict.reason,
    },
  };
}

/** Without the keys that are not given. */
function given(query: {
  readonly project: string | undefined;
  readonly sinceMs: number | undefined;
}) {
  const { project, sinceMs } = query;
  return {
    ...(project === undefined ? {} : { project }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
}
