/** Warns of what a contract allows but its writer hardly means: broad rules, grants without an end, closures that cannot fire. */
import type { Standing } from "../policy/types.ts";
import { type ContractProblem, inOrder, type Locate, type Path } from "./contract-yaml.ts";
import { durationText } from "./durations.ts";
import { deniedBy } from "./resources.ts";
import { STANDING_CLASSES } from "./standing-classes.ts";
import type { Contract, EnvelopeEntry, GrantRule } from "./types.ts";

export type LintCode =
  | "broad-write"
  | "wildcard-host"
  | "unbounded-network"
  | "only-default-ttl"
  | "denied-grant"
  | "unused-closure"
  | "never-fires"
  | "beyond-profiles";

export interface LintWarning extends ContractProblem {
  readonly code: LintCode;
}

/**
 * `profiles`: the standing permissions the contract may be used with, by name; with none given, the envelope is not held
 * against them. In the order of the text.
 */
export function lintContract(
  contract: Contract,
  locate: Locate,
  profiles: Readonly<Record<string, Standing>> = {},
): readonly LintWarning[] {
  const warnings: LintWarning[] = [];
  const warn: Warn = (path, code, message) => {
    warnings.push({ ...locate(path), key: path.join("."), code, message });
  };
  contract.envelope.forEach((entry, index) => {
    lintEntry(entry, ["envelope", index], profiles, warn);
  });
  for (const rule of contract.grants) lintGrant(rule, contract, warn);
  lintClosures(contract, warn);
  return inOrder(warnings) as readonly LintWarning[];
}

type Warn = (path: Path, code: LintCode, message: string) => void;

function lintEntry(
  { effect, paths }: EnvelopeEntry,
  at: Path,
  profiles: Readonly<Record<string, Standing>>,
  warn: Warn,
): void {
  if (effect === "write" && paths.includes("**")) {
    warn(at, "broad-write", "writes the whole worktree from the start: name the folders it needs");
  }
  const names = Object.keys(profiles);
  const allows = (standing: Standing) =>
    STANDING_CLASSES[effect].some((cls) => standing[cls] === "allow");
  if (names.length > 0 && !Object.values(profiles).some(allows)) {
    const message = `no profile (${names.join(", ")}) allows ${effect} by itself, so it asks: make it a grant`;
    warn(at, "beyond-profiles", message);
  }
}

function lintGrant(rule: GrantRule, contract: Contract, warn: Warn): void {
  const { name, effect, paths, hosts, closes, phases, ttlNamed, uses } = rule;
  const at = ["grants", name];
  if (effect === "write" && paths.includes("**")) {
    warn([...at, "paths"], "broad-write", `${name} writes the whole worktree: name the folders`);
  }
  const wild = hosts.filter((host) => host.startsWith("*"));
  if (wild.length > 0) {
    const message = `${name} reaches every name below ${wild.join(", ")}: name the hosts`;
    warn([...at, "hosts"], "wildcard-host", message);
  }
  const reaches = effect === "network" || effect === "install";
  if (reaches && uses === null && !ttlNamed) {
    warn(at, "unbounded-network", `${name} reaches the network: add uses or a ttl of its own`);
  } else if (closes.length === 0 && phases.length === 0 && uses === null && !ttlNamed) {
    const message = `nothing ends ${name} but the default of ${durationText(rule.ttlMs)}: add closes, phase, uses or ttl`;
    warn(at, "only-default-ttl", message);
  }
  const denied = deniedBy(rule, contract.deny);
  if (denied !== null) warn(at, "denied-grant", `${name} can never be used: ${denied}`);
}

function lintClosures({ closures, grants, phases }: Contract, warn: Warn): void {
  for (const { name, when } of closures) {
    const at = ["closures", name];
    const users = grants.filter(({ closes }) => closes.includes(name));
    if (users.length === 0) {
      warn(at, "unused-closure", `no grant names ${name} in its closes: it ends nothing`);
      continue;
    }
    for (const user of users) {
      if (when.kind === "ttl" && when.ms >= user.ttlMs) {
        const message = `${user.name} is over after ${durationText(user.ttlMs)}, before ${name} fires`;
        warn(at, "never-fires", message);
      }
      if (when.kind !== "phase") continue;
      if (phases.length === 1 || (user.phases.length === 1 && user.phases[0] === when.phase)) {
        const message = `${user.name} is only there in the phase ${when.phase}, so it never sees it entered`;
        warn(at, "never-fires", message);
      } else if (user.phases.length === 0 && phases[0] === when.phase) {
        const message = `sessions start in ${when.phase}: it is entered only by going back`;
        warn(at, "never-fires", message);
      }
    }
  }
}
