/** Judges commands in tests as `policy check --batch` does, with the shipped profiles. */
import {
  EveryName,
  type GivenFacts,
  givenFacts,
  worktreeOf,
} from "../../daemon/cli/policy-facts.ts";
import { NO_DENIALS } from "../../daemon/policy/denials.ts";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import type { EvaluateInput, Facts, Rule, Verdict } from "../../daemon/policy/types.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import { SANDBOX_HOME, SANDBOX_SCRATCH } from "../../daemon/settings/sandbox-home.ts";
import type { Profile } from "../../daemon/settings/types.ts";

export const ROOT = "/srv/projects/p1";
export const WORKTREE = `${ROOT}/.worktrees/a1`;

const profiles = new Map<string, Profile>();

function profileNamed(name: string): Profile {
  const known = profiles.get(name);
  if (known !== undefined) return known;
  const profile = loadProfile(name, [SHIPPED_PROFILES_DIR]);
  profiles.set(name, profile);
  return profile;
}

export interface Circumstances {
  readonly profile?: string;
  readonly cwd?: string;
  readonly facts?: GivenFacts;
  readonly rules?: readonly Rule[];
  readonly settings?: Partial<EvaluateInput["settings"]>;
  readonly authority?: EvaluateInput["authority"];
  readonly denials?: EvaluateInput["denials"];
  /** Facts that a batch cannot state. */
  readonly more?: Partial<Facts>;
}

/** The whole input of a decision: branch unprotected and local programs present, unless the facts say otherwise. */
export function inputFor(command: string, circumstances: Circumstances = {}): EvaluateInput {
  const { profile = "default", cwd = WORKTREE, facts = {}, rules = [] } = circumstances;
  const { name, policy, readable } = profileNamed(profile);
  const { rules: shipped, ...rest } = policy;
  return {
    request: { command, cwd },
    settings: {
      ...rest,
      profile: name,
      root: ROOT,
      worktree: worktreeOf(cwd, ROOT),
      readable,
      scratch: SANDBOX_SCRATCH,
      home: SANDBOX_HOME,
      ...circumstances.settings,
    },
    facts: {
      branch: null,
      localBins: new EveryName(),
      ...givenFacts(facts),
      ...circumstances.more,
    },
    rules: { rules: [...shipped, ...rules] },
    authority: circumstances.authority ?? { grants: [] },
    denials: circumstances.denials ?? NO_DENIALS,
  };
}

export function judged(command: string, circumstances: Circumstances = {}): Verdict {
  return evaluate(inputFor(command, circumstances));
}
