/** A ledger's state as text and back: what a restart keeps. A text that is not exactly such a state is refused. */
import { z } from "zod";
import { LEDGER_EVENTS, LEDGER_VERSION, type LedgerState } from "./ledger-types.ts";
import { GRANTABLE_EFFECTS } from "./types.ts";

const texts = z.array(z.string()).readonly();
const resource = {
  paths: texts,
  hosts: texts,
  commands: z.array(texts).readonly(),
};
const effect = z.enum(GRANTABLE_EFFECTS);
const count = z.int().min(0);

const fileTest = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("exists"), exists: z.boolean() }),
  z.strictObject({ kind: z.literal("sha256"), hex: z.string() }),
  z.strictObject({ kind: z.literal("contains"), text: z.string() }),
]);

const closure = z.strictObject({
  name: z.string(),
  when: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("command"), argv: texts, exit: z.int(), cwd: z.string() }),
    z.strictObject({ kind: z.literal("phase"), phase: z.string() }),
    z.strictObject({ kind: z.literal("file"), path: z.string(), test: fileTest }),
    z.strictObject({ kind: z.literal("ttl"), ms: z.number() }),
  ]),
});

const contract = z.strictObject({
  task: z.string(),
  phases: texts,
  envelope: z
    .array(z.strictObject({ effect: z.enum(["read", "write", "run", "git-write"]), ...resource }))
    .readonly(),
  grants: z
    .array(
      z.strictObject({
        name: z.string(),
        effect,
        ...resource,
        description: z.string(),
        phases: texts,
        closes: texts,
        ttlMs: z.number(),
        ttlNamed: z.boolean(),
        uses: count.nullable(),
        approval: z.enum(["none", "person"]),
      }),
    )
    .readonly(),
  closures: z.array(closure).readonly(),
  deny: z.strictObject(resource),
});

const cause = z.strictObject({
  kind: z.enum(["closure", "phase", "ttl", "uses", "revoked", "released"]),
  text: z.string(),
});

const grant = z.strictObject({
  handle: z.string(),
  rule: z.string().nullable(),
  effect,
  ...resource,
  reason: z.string(),
  by: z.string(),
  epoch: count,
  phases: texts,
  closes: z.array(closure).readonly(),
  grantedAt: z.number(),
  expiresAt: z.number(),
  usesLeft: count.nullable(),
  running: texts,
  state: z.enum(["live", "spent", "closing"]),
  cause: cause.nullable(),
  closingAt: z.number().nullable(),
});

const event = z.enum(LEDGER_EVENTS);

const ledgerState = z.strictObject({
  version: z.literal(LEDGER_VERSION),
  session: z.string(),
  contract: contract.nullable(),
  epoch: count,
  phase: z.string().nullable(),
  now: z.number(),
  pending: z
    .array(
      z.strictObject({
        handle: z.string(),
        rule: z.string(),
        ...resource,
        reason: z.string(),
        ttlMs: z.number(),
        uses: count.nullable(),
        requestedAt: z.number(),
      }),
    )
    .readonly(),
  grants: z.array(grant).readonly(),
  closed: z
    .array(
      z.strictObject({
        handle: z.string(),
        rule: z.string().nullable(),
        closedAt: z.number(),
        cause,
        renewal: z.strictObject({
          by: z.enum(["request", "person", "phase", "nobody"]),
          text: z.string(),
        }),
      }),
    )
    .readonly(),
  spent: z.array(z.strictObject({ rule: z.string(), cause })).readonly(),
  counts: z.array(z.strictObject({ rule: z.string(), used: count })).readonly(),
  audit: z
    .array(
      z.strictObject({ at: z.number(), event, handle: z.string().nullable(), text: z.string() }),
    )
    .readonly(),
}) satisfies z.ZodType<LedgerState>;

export function ledgerText(state: LedgerState): string {
  return JSON.stringify(state);
}

export type ReadLedger =
  | { readonly state: LedgerState; readonly refused?: undefined }
  /** Nothing of it counts: a session whose authority cannot be read has none. */
  | { readonly refused: string; readonly state?: undefined };

export function readLedger(text: string): ReadLedger {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { refused: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const result = ledgerState.safeParse(value);
  if (result.success) return { state: result.data };
  const [issue] = result.error.issues;
  return { refused: `${issue?.path.map(String).join(".") || "the state"}: ${issue?.message}` };
}
