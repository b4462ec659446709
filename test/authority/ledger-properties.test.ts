/** What must hold of a ledger in every interleaving, tried on generated ones against a model; fast-check prints the seed. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { newLedger, step } from "../../daemon/authority/ledger.ts";
import { ledgerText, readLedger } from "../../daemon/authority/ledger-json.ts";
import type {
  Grant,
  LedgerCommand,
  LedgerEvent,
  LedgerState,
  Step,
} from "../../daemon/authority/ledger-types.ts";
import { toAuthority } from "../../daemon/authority/policy-input.ts";
import { compiled, MINUTE, T0 } from "./contracts.ts";

const CONTRACT = compiled().contract;
const RULES = CONTRACT.grants.map(({ name }) => name);
const HANDLES = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"];

const handle = fc.oneof(
  { weight: 15, arbitrary: fc.constantFrom(...HANDLES) },
  { weight: 1, arbitrary: fc.constantFrom("forged", "") },
);
const invocation = fc.constantFrom("e0", "e1", "e2");
const closure = fc.constantFrom("focused-tests", "tagged", "published", "nope");
const phase = fc.constantFrom("implement", "verify", "publish", "nope");
const by = fc.constantFrom("ann", "orchestrator");
const text = fc.oneof({ weight: 9, arbitrary: fc.constant("why") }, fc.string());
const path = fc.constantFrom("docs/a", "docs/**", "docs/private/a", "**", "../x", "src/*.ts", "");
const resource = fc.record({
  paths: fc.array(path, { maxLength: 2 }),
  hosts: fc.array(fc.constantFrom("a.packages.example.org", "x.org", "*", ""), { maxLength: 1 }),
  commands: fc.array(fc.array(fc.constantFrom("make", "release", ""), { maxLength: 2 }), {
    maxLength: 1,
  }),
});
const ms = fc.oneof(
  fc.integer({ min: -1, max: 90 }).map((n) => n * MINUTE),
  fc.double(),
);
const uses = fc.integer({ min: -1, max: 4 });

/** Commands without their time; a wrong narrowing is one case among many, so that most requests come to something. */
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        type: fc.constant("request" as const),
        rule: fc.constantFrom(...RULES, "nope", "__proto__", "constructor"),
        reason: text,
        handle,
        narrow: fc.record(
          { paths: fc.array(path, { maxLength: 1 }), ttlMs: ms, uses },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["type", "rule", "reason", "handle"] },
    ),
  },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        type: fc.constant("request" as const),
        rule: fc.constantFrom(...RULES),
        reason: fc.constant("why"),
        handle,
        narrow: fc.constant({ uses: 1 }),
      },
      { requiredKeys: ["type", "rule", "reason", "handle"] },
    ),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("approve" as const), handle, by }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("refuse" as const), handle, by, reason: text }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("give" as const),
      handle,
      by,
      reason: text,
      effect: fc.constantFrom("read" as const, "write" as const, "network" as const),
      resource,
      ttlMs: ms,
      uses,
      thisPhase: fc.boolean(),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant("invoke" as const),
      handles: fc.array(handle, { maxLength: 2 }),
      invocation,
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("finish" as const), invocation }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("closureFired" as const), closure, evidence: text }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("phaseChanged" as const), phase, by }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("tick" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("revoke" as const), handle, by, reason: text }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("release" as const), handle }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("closingDone" as const), handle }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("sessionEnded" as const),
      reason: fc.constant("over"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("contractSet" as const),
      contract: fc.constantFrom(CONTRACT, CONTRACT, CONTRACT, null),
      by,
    }),
  },
);

/** Mostly small steps forward; sometimes an hour, sometimes back, sometimes no number. */
const passing = fc.oneof(
  { weight: 40, arbitrary: fc.integer({ min: 0, max: MINUTE }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 70 * MINUTE }) },
  { weight: 1, arbitrary: fc.integer({ min: -90 * MINUTE, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
);

const play = fc.array(fc.tuple(command, passing), { maxLength: 60, size: "max" }).map((steps) => {
  let now = T0;
  return steps.map(([each, ms]): LedgerCommand => {
    if (Number.isFinite(ms)) now += ms;
    return { ...each, now: Number.isFinite(ms) ? now : ms } as LedgerCommand;
  });
});

interface Seen {
  readonly command: LedgerCommand;
  readonly before: LedgerState;
  readonly step: Step;
}

function run(commands: readonly LedgerCommand[]): Seen[] {
  let state = newLedger("s1", CONTRACT, T0);
  return commands.map((command) => {
    const before = state;
    const next = step(before, command);
    state = next.state;
    return { command, before, step: next };
  });
}

function every(check: (seen: readonly Seen[]) => void, runs = 400): void {
  fc.assert(
    fc.property(play, (commands) => check(run(commands))),
    { numRuns: runs },
  );
}

it("an invocation is let through exactly when a model that only counts says so (C4, C6)", () => {
  // The model knows nothing of states: it hears events, and keeps for each handle its end, its uses and whether it closes.
  every((seen) => {
    const model = new Map<string, { ends: number; left: number | null; closing: boolean }>();
    const running = new Set<string>();
    let time = T0;
    for (const { command, step } of seen) {
      if (Number.isFinite(command.now)) time = Math.max(time, command.now);
      if (command.type === "invoke") {
        const handles = [...new Set(command.handles)];
        const usable = handles.every((each) => {
          const right = model.get(each);
          return right !== undefined && !right.closing && right.left !== 0 && time < right.ends;
        });
        const named = handles.length > 0 && command.invocation !== "";
        expect(step.outcome.ok).toBe(usable && named && !running.has(command.invocation));
        if (step.outcome.ok) {
          running.add(command.invocation);
          for (const each of handles) {
            const right = model.get(each);
            if (right?.left != null) right.left--;
          }
        }
      }
      if (command.type === "finish") running.delete(command.invocation);
      for (const event of step.events) {
        if (event.type === "grant.granted") {
          const { expiresAt, usesLeft } = event.grant;
          model.set(event.grant.handle, { ends: expiresAt, left: usesLeft, closing: false });
        }
        const right = event.type === "grant.closing" ? model.get(event.handle) : undefined;
        if (right !== undefined) right.closing = true;
        // What still ran on a closed grant is dead.
        if (event.type === "grant.closed") {
          for (const each of grantIn(seen, event.handle)?.running ?? []) {
            if (!step.state.grants.some((grant) => grant.running.includes(each)))
              running.delete(each);
          }
        }
      }
    }
  });
});

function grantIn(seen: readonly Seen[], handle: string): Grant | undefined {
  const all = seen.flatMap(({ before }) =>
    before.grants.filter((grant) => grant.handle === handle),
  );
  return all.at(-1);
}

it("every right has a reason, somebody who let it be, an end, and its closures (C7)", () => {
  every((seen) => {
    for (const { step } of seen) {
      for (const grant of step.state.grants) {
        expect(grant.reason.trim()).not.toBe("");
        expect(grant.by).not.toBe("");
        expect(grant.expiresAt).toBeGreaterThan(grant.grantedAt);
        expect(grant.expiresAt - grant.grantedAt).toBeLessThanOrEqual(24 * 60 * MINUTE);
        const rule = CONTRACT.grants.find(({ name }) => name === grant.rule);
        if (rule === undefined) continue;
        expect(grant.closes.map(({ name }) => name)).toEqual(rule.closes);
        expect(grant.expiresAt - grant.grantedAt).toBeLessThanOrEqual(rule.ttlMs);
      }
      for (const closed of step.state.closed) {
        expect([closed.cause.text, closed.renewal.text]).not.toContain("");
      }
    }
  });
});

it("epochs only grow, by one, and exactly when the contract, a handle, a phase or a rule's way back changed (C3)", () => {
  every((seen) => {
    for (const { before, step } of seen) {
      const shown = ({ phase, grants, spent }: LedgerState) => ({
        phase,
        live: grants.filter(({ state }) => state === "live").map(({ handle }) => handle),
        spent: spent.map(({ rule }) => rule).sort(),
      });
      const changed =
        step.events.some(({ type }) => type === "contract.set") ||
        JSON.stringify(shown(before)) !== JSON.stringify(shown(step.state));
      expect(step.state.epoch).toBe(before.epoch + (changed ? 1 : 0));
      const bumps = step.events.filter(({ type }) => type === "epoch.bumped");
      expect(bumps).toEqual(changed ? [{ type: "epoch.bumped", epoch: step.state.epoch }] : []);
    }
  });
});

it("a counted rule is used no more often than it says, between two decisions of a person or the phase", () => {
  every((seen) => {
    const used = new Map<string, number>();
    const ruleOf = new Map<string, string | null>();
    for (const { command, step } of seen) {
      for (const event of step.events) {
        if (event.type === "grant.granted") {
          ruleOf.set(event.grant.handle, event.grant.rule);
          if (command.type === "approve") used.delete(event.grant.rule ?? "");
        }
        const rule = event.type === "grant.used" ? ruleOf.get(event.handle) : null;
        if (rule != null) used.set(rule, (used.get(rule) ?? 0) + 1);
      }
      for (const { name, uses } of CONTRACT.grants) {
        if (uses !== null) expect(used.get(name) ?? 0).toBeLessThanOrEqual(uses);
      }
    }
  });
});

it("each right goes one way: granted, closing, closed; no event of it follows its end", () => {
  every((seen) => {
    const at = new Map<string, "granted" | "closing" | "closed">();
    for (const event of seen.flatMap(({ step }) => step.events)) move(at, event);
  });
});

function move(at: Map<string, "granted" | "closing" | "closed">, event: LedgerEvent): void {
  switch (event.type) {
    case "grant.granted":
      expect(at.get(event.grant.handle)).toBe(undefined);
      at.set(event.grant.handle, "granted");
      break;
    case "grant.used":
      expect(at.get(event.handle)).toBe("granted");
      break;
    case "grant.closing":
      expect(at.get(event.handle)).toBe("granted");
      at.set(event.handle, "closing");
      break;
    case "grant.closed":
      expect(at.get(event.handle)).toBe("closing");
      expect(event.closingMs).toBeGreaterThanOrEqual(0);
      at.set(event.handle, "closed");
  }
}

it("what a trusted event ended comes back only by a person or the phase, whatever the agent sends (C5)", () => {
  every((seen) => {
    const ended = new Set<string>();
    for (const { command, step } of seen) {
      for (const event of step.events) {
        // Another contract is the admin's word.
        if (event.type === "phase.changed" || event.type === "contract.set") ended.clear();
        if (event.type === "grant.granted" && event.grant.rule !== null) {
          if (command.type === "request") expect(ended).not.toContain(event.grant.rule);
          else ended.delete(event.grant.rule);
        }
        if (event.type === "grant.closing" && /closure|revoked/.test(event.cause.kind)) {
          const rule = step.state.grants.find(({ handle }) => handle === event.handle)?.rule;
          if (rule != null) ended.add(rule);
        }
      }
    }
  });
});

it("the policy is given live handles and no other; one that is not live makes its request stale (C6)", () => {
  every((seen) => {
    for (const { step } of seen) {
      const { state } = step;
      for (const now of [state.now, state.now + 20 * MINUTE]) {
        const live = state.grants
          .filter((grant) => grant.state === "live" && grant.expiresAt > now)
          .map((grant) => grant.handle);
        const { grants, stale } = toAuthority(state, { worktree: "/w", now });
        expect([grants.map(({ id }) => id), stale]).toEqual([live, undefined]);
        for (const presented of HANDLES.filter((each) => !live.includes(each))) {
          const authority = toAuthority(state, { worktree: "/w", now, presented: [presented] });
          expect([authority.grants, authority.stale?.handle]).toEqual([[], presented]);
        }
      }
    }
  }, 100);
});

it("a restart between any two commands changes nothing", () => {
  every((seen) => {
    for (const { command, before, step: next } of seen) {
      const { state, refused } = readLedger(ledgerText(before));
      expect(refused).toBe(undefined);
      expect(step(state as LedgerState, command)).toEqual(next);
    }
  }, 100);
});

it("a step leaves the state it was given as it was", () => {
  every((seen) => {
    const texts = seen.map(({ before }) => JSON.stringify(before));
    for (const [index, { before, command }] of seen.entries()) {
      step(before, command);
      expect(JSON.stringify(before)).toBe(texts[index]);
    }
  }, 100);
});

it("the plays do reach what they are about", () => {
  const reached = new Map<string, number>();
  const commands = fc.sample(play, { numRuns: 600, seed: 7 });
  for (const { step } of commands.flatMap(run)) {
    for (const event of step.events) {
      const cause = event.type === "grant.closing" ? ` ${event.cause.kind}` : "";
      const key = `${event.type}${cause}`;
      reached.set(key, (reached.get(key) ?? 0) + 1);
    }
  }
  const rare = [
    "grant.requested",
    "grant.granted",
    "grant.refused",
    "grant.used",
    "grant.stale",
    "grant.closing closure",
    "grant.closing phase",
    "grant.closing ttl",
    "grant.closing uses",
    "grant.closing revoked",
    "grant.closing released",
    "grant.closed",
    "phase.changed",
    "epoch.bumped",
  ].filter((key) => (reached.get(key) ?? 0) < 10);
  expect(rare).toEqual([]);
});
