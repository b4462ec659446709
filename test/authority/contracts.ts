/** The contract that the tests of authority/ are about, and a ledger that says what a run of commands came to. */
import { type CompiledContract, compileContract } from "../../daemon/authority/contract.ts";
import { newLedger, step } from "../../daemon/authority/ledger.ts";
import type {
  LedgerCommand,
  LedgerEvent,
  LedgerState,
  Narrowing,
  Outcome,
} from "../../daemon/authority/ledger-types.ts";
import type { Contract } from "../../daemon/authority/types.ts";

export const TEXT = `task: propagate-timeout
phases: [implement, verify, publish]
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[npm, test]]}
grants:
  serialize: {effect: write, paths: ["src/serialization/**"], phase: implement, closes: [focused-tests]}
  deps: {effect: network, hosts: ["*.packages.example.org"], ttl: 10m, uses: 3, approval: person}
  notes: {effect: write, paths: ["docs/**", "NOTES.md"], ttl: 1h}
  once: {effect: run, commands: [[make, release]], uses: 1}
  publish: {effect: git-write, commands: [[git, tag]], phase: [verify, publish], closes: [tagged, published]}
closures:
  focused-tests: {command: [npm, test, --, serialization], exit: 0}
  tagged: {file: {path: RELEASED}}
  published: {phase: publish}
deny:
  - {paths: ["**/.env", "docs/private/**"]}
  - {hosts: ["evil.packages.example.org"]}
  - {commands: [[git, push]]}
`;

export function compiled(text: string = TEXT): Extract<CompiledContract, { contract: Contract }> {
  const result = compileContract(text);
  if (result.problems !== undefined) throw new Error(JSON.stringify(result.problems));
  return result;
}

export const T0 = 1_000_000;
export const MINUTE = 60_000;

/** Plays commands one after the other; `now` is T0 plus what `after` has let pass. */
export class Play {
  state: LedgerState;
  events: LedgerEvent[] = [];
  now = T0;

  constructor(contract: Contract | null = compiled().contract) {
    this.state = newLedger("s1", contract, T0);
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }

  do(command: Without<LedgerCommand>): Outcome {
    const next = step(this.state, { ...command, now: this.now } as LedgerCommand);
    this.state = next.state;
    this.events.push(...next.events);
    return next.outcome;
  }

  /** The events since the last look, each as one short line. */
  seen(): string[] {
    const lines = this.events.map(line);
    this.events = [];
    return lines;
  }
}

type Without<T> = T extends unknown ? Omit<T, "now"> : never;

function line(event: LedgerEvent): string {
  switch (event.type) {
    case "grant.granted":
      return `granted ${event.grant.handle} ${event.grant.rule} by ${event.grant.by}`;
    case "grant.requested":
      return `requested ${event.handle} ${event.rule}: ${event.reason}`;
    case "grant.refused":
      return `refused ${event.handle}: ${event.reason}`;
    case "grant.used":
      return `used ${event.handle} for ${event.invocation}, ${event.usesLeft} left`;
    case "grant.stale":
      return `stale ${event.handle}: ${event.reason}`;
    case "grant.closing":
      return `closing ${event.handle}: ${event.cause.text} [${event.running.join(" ")}]`;
    case "grant.closed":
      return `closed ${event.handle} after ${event.closingMs} ms; ${event.renewal.text}`;
    case "phase.changed":
      return `phase ${event.from} → ${event.to}`;
    case "contract.set":
      return `contract ${event.task}`;
    case "epoch.bumped":
      return `epoch ${event.epoch}`;
  }
}

export function request(play: Play, rule: string, handle: string, narrow?: Narrowing): Outcome {
  const more = narrow === undefined ? {} : { narrow };
  return play.do({ type: "request", rule, reason: "the task", handle, ...more });
}

export function invoke(play: Play, invocation: string, ...handles: string[]): Outcome {
  return play.do({ type: "invoke", handles, invocation });
}
