/** One judgement: the policy is asked, what it names is looked up, and it is asked again until nothing is new. */
import { FACT_ROUNDS_MAX } from "../limits.ts";
import type {
  Authority,
  DenialState,
  EvaluateInput,
  Facts,
  PolicyRequest,
  PolicySettings,
  Rule,
  Verdict,
} from "../policy/types.ts";
import type { Project } from "../settings/types.ts";
import type { Hazard } from "../worktree/types.ts";
import { lookUp, pathsToLookUp, standingFacts } from "./facts.ts";

export interface JudgeInput {
  readonly request: PolicyRequest;
  readonly project: Pick<Project, "root" | "worktrees">;
  readonly settings: PolicySettings;
  readonly onEscape: "alert" | "freeze";
  readonly hazards: readonly Hazard[];
  /** Whether a person has accepted this very link. */
  readonly isAccepted?: (hazard: Hazard) => boolean;
  /** The sandbox's own git folder, whose HEAD is the branch that its commits go to; absent or null: the host's counts. */
  readonly privateGit?: string | null;
  readonly rules: readonly Rule[];
  readonly denials: DenialState;
  /** Absent: no grant. */
  readonly authority?: Authority;
}

export interface Judged {
  readonly verdict: Verdict;
  readonly facts: Facts;
  readonly settings: PolicySettings;
}

const NO_GRANTS: Authority = { grants: [] };

/** Never throws for what the policy does: an error while judging is a deny that says so. */
export function judge(evaluate: (input: EvaluateInput) => Verdict, input: JudgeInput): Judged {
  const { request, settings, rules, denials, authority = NO_GRANTS } = input;
  const { project, hazards, onEscape, privateGit, isAccepted } = input;
  const base = standingFacts(
    project,
    settings,
    request.cwd,
    hazards,
    onEscape,
    privateGit,
    isAccepted,
  );
  const ask = (facts: Facts): Verdict => {
    try {
      return evaluate({
        request,
        settings,
        facts,
        rules: { rules },
        authority,
        denials,
      });
    } catch (error) {
      return failed(error);
    }
  };
  let facts: Facts = { ...base, realpath: lookUp([request.cwd, settings.worktree], settings) };
  let verdict = ask(facts);
  for (let round = 0; round < FACT_ROUNDS_MAX; round++) {
    const unknown = pathsToLookUp(verdict, facts.realpath);
    if (unknown.length === 0) return { verdict, facts, settings };
    facts = { ...facts, realpath: { ...facts.realpath, ...lookUp(unknown, settings) } };
    verdict = ask(facts);
  }
  const open = pathsToLookUp(verdict, facts.realpath);
  return { verdict: open.length === 0 ? verdict : unsettled(verdict, open), facts, settings };
}

function failed(error: unknown): Verdict {
  return {
    verdict: "deny",
    effects: ["unknown"],
    classes: ["unknown"],
    roots: [],
    segments: [],
    reason: `the policy failed on this command, so it does not run: ${String(error)}`,
    bindTo: [],
  };
}

/** Links lead on to names that were not looked up: an allow would rest on a guess. */
function unsettled(verdict: Verdict, open: readonly string[]): Verdict {
  if (verdict.verdict !== "allow") return verdict;
  return {
    ...verdict,
    verdict: "ask",
    roots: [],
    reason: `links lead on further than ${FACT_ROUNDS_MAX} rounds follow: ${open.slice(0, 3).join(", ")}`,
  };
}
