/** Compiles a contract (C1): what the schema cannot see is checked here, and out come plain values or the problems. */
import { GRANT_TTL_DEFAULT_MS } from "../limits-authority.ts";
import type { ClosureFile, ContractFile, GrantRuleFile } from "./contract-schema.ts";
import {
  type ContractProblem,
  inOrder,
  type Locate,
  type Path,
  readContract,
} from "./contract-yaml.ts";
import { parseWritePath } from "./resources.ts";
import type {
  Closure,
  ClosureCondition,
  Contract,
  EnvelopeEntry,
  FileTest,
  GrantableEffect,
  GrantRule,
  Resource,
} from "./types.ts";

export type CompiledContract =
  | {
      readonly contract: Contract;
      /** Where each part stands, for the linter: `["grants", "deps", "hosts"]`. */
      readonly locate: Locate;
      readonly problems?: undefined;
    }
  | { readonly problems: readonly ContractProblem[] };

/** Any problem makes the whole contract count for nothing. */
export function compileContract(text: string): CompiledContract {
  const read = readContract(text);
  if (read.problems !== undefined) return read;
  const { file, locate } = read;
  const problems: ContractProblem[] = [];
  const fault: Fault = (path, message) => {
    problems.push({ ...locate(path), key: path.join("."), message });
  };
  const contract = build(file, fault);
  return problems.length > 0 ? { problems: inOrder(problems) } : { contract, locate };
}

type Fault = (path: Path, message: string) => void;

function build(file: ContractFile, fault: Fault): Contract {
  const { task, phases } = file;
  phases.forEach((phase, index) => {
    if (phases.indexOf(phase) !== index)
      fault(["phases", index], `the phase ${phase} is there twice`);
  });
  return {
    task,
    phases,
    envelope: file.envelope.map((entry, index) => {
      const { effect, commands = [], paths = effect === "run" ? [] : ["**"] } = entry;
      if (effect === "write") writable(paths, ["envelope", index, "paths"], fault);
      return { effect, paths, hosts: [], commands } satisfies EnvelopeEntry;
    }),
    grants: Object.entries(file.grants).map(([name, rule]) => grantOf(name, rule, file, fault)),
    closures: Object.entries(file.closures).map(([name, closure]) => ({
      name,
      when: conditionOf(name, closure, phases, fault),
    })) satisfies Closure[],
    deny: {
      paths: file.deny.flatMap(({ paths = [] }) => paths),
      hosts: file.deny.flatMap(({ hosts = [] }) => hosts),
      commands: file.deny.flatMap(({ commands = [] }) => commands),
    },
  };
}

/** What a grant on an effect must name, since without it the grant would be about everything or nothing. */
const REQUIRED: Readonly<Record<GrantableEffect, keyof Resource>> = {
  read: "paths",
  write: "paths",
  run: "commands",
  "git-write": "commands",
  network: "hosts",
  install: "commands",
};

function grantOf(name: string, rule: GrantRuleFile, file: ContractFile, fault: Fault): GrantRule {
  const at = ["grants", name];
  const { effect, paths = [], hosts = [], commands = [], phase = [], closes } = rule;
  const required = REQUIRED[effect];
  if (rule[required] === undefined) {
    fault(at, `a grant for ${effect} names its ${required}: add ${required}: […]`);
  }
  if (hosts.length > 0 && effect !== "network" && effect !== "install") {
    fault([...at, "hosts"], `${effect} reaches no host: make a second grant with effect: network`);
  }
  if (paths.length > 0 && (effect === "network" || effect === "install")) {
    fault([...at, "paths"], `${effect} is not on paths: make a second grant with effect: write`);
  }
  if (effect === "write") writable(paths, [...at, "paths"], fault);
  const phases = typeof phase === "string" ? [phase] : phase;
  for (const each of phases) knownPhase(each, file.phases, [...at, "phase"], fault);
  closes.forEach((closure, index) => {
    if (Object.hasOwn(file.closures, closure)) return;
    fault(
      [...at, "closes", index],
      `there is no closure ${closure}${listed(Object.keys(file.closures))}`,
    );
  });
  return {
    name,
    effect,
    paths,
    hosts,
    commands,
    description: rule.description ?? "",
    phases,
    closes: [...new Set(closes)],
    ttlMs: rule.ttl ?? GRANT_TTL_DEFAULT_MS,
    ttlNamed: rule.ttl !== undefined,
    uses: rule.uses ?? null,
    approval: rule.approval,
  };
}

function writable(paths: readonly string[], at: Path, fault: Fault): void {
  paths.forEach((path, index) => {
    const { refused } = parseWritePath(path);
    if (refused !== undefined) fault([...at, index], `${JSON.stringify(path)} ${refused}`);
  });
}

function knownPhase(phase: string, phases: readonly string[], at: Path, fault: Fault): void {
  if (phases.includes(phase)) return;
  fault(at, `there is no phase ${phase}${listed(phases)}`);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "; none is declared" : `; there are ${names.join(", ")}`;
}

const CONDITIONS = ["command", "phase", "file", "ttl"] as const;

function conditionOf(
  name: string,
  closure: ClosureFile,
  phases: readonly string[],
  fault: Fault,
): ClosureCondition {
  const at = ["closures", name];
  const said = CONDITIONS.filter((key) => closure[key] !== undefined);
  if (said.length !== 1) {
    const what = said.length === 0 ? "none" : said.join(" and ");
    fault(at, `a closure has one of ${CONDITIONS.join(", ")}, this one has ${what}`);
  }
  const { command, phase, file, ttl = 0, exit, cwd } = closure;
  for (const key of ["exit", "cwd"] as const) {
    if (closure[key] !== undefined && command === undefined) {
      fault([...at, key], `${key} belongs to a command: add command: […] or remove it`);
    }
  }
  if (command !== undefined) {
    if (cwd !== undefined) literal(cwd, [...at, "cwd"], fault);
    return { kind: "command", argv: command, exit: exit ?? 0, cwd: cwd ?? "" };
  }
  if (phase !== undefined) {
    knownPhase(phase, phases, [...at, "phase"], fault);
    return { kind: "phase", phase };
  }
  if (file !== undefined) {
    literal(file.path, [...at, "file", "path"], fault);
    return { kind: "file", path: file.path, test: fileTestOf(file, [...at, "file"], fault) };
  }
  return { kind: "ttl", ms: ttl };
}

function literal(path: string, at: Path, fault: Fault): void {
  if (/[*?[{]/.test(path)) fault(at, `${JSON.stringify(path)} has a wildcard: name one path`);
}

function fileTestOf(file: NonNullable<ClosureFile["file"]>, at: Path, fault: Fault): FileTest {
  const { exists, sha256, contains } = file;
  if ([exists, sha256, contains].filter((each) => each !== undefined).length > 1) {
    fault(at, "one test only: keep exists, sha256 or contains");
  }
  if (sha256 !== undefined) return { kind: "sha256", hex: sha256 };
  if (contains !== undefined) return { kind: "contains", text: contains };
  return { kind: "exists", exists: exists ?? true };
}
