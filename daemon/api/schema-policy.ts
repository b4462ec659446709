/** The policy's words as they travel: verdicts, segments, matches and saved rules. */
import { z } from "zod";
import * as policy from "../policy/types.ts";
import type { SameType } from "./same-type.ts";

export const DecisionSchema = z.enum(["allow", "ask", "deny"]).meta({ id: "Decision" });

export const EffectSchema = z.enum(policy.EFFECTS).meta({ id: "Effect" });

export const ActionClassSchema = z
  .enum([
    "read",
    "build",
    "run",
    "write",
    "scratch",
    "git-write",
    "loopback",
    "network",
    "engine",
    "install",
    "process",
    "privilege",
    "unknown",
  ])
  .meta({ id: "ActionClass" });

const RungSchema = z
  .enum([
    "understand",
    "absolute-deny",
    "stale-authority",
    "ceiling",
    "safety",
    "denials",
    "rule",
    "grant",
    "scope",
    "default",
  ])
  .meta({ id: "Rung", description: "Rungs of the decision ladder, strictest first." });

const MatchSchema = z
  .strictObject({
    rung: RungSchema,
    rule: z.string(),
    decision: DecisionSchema,
    reason: z.string(),
  })
  .meta({ id: "Match", description: "One thing that had something to say about a segment." });

const TouchedPathSchema = z
  .strictObject({
    path: z.string(),
    real: z
      .string()
      .exactOptional()
      .meta({ description: "Where it really leads, when a link changed it." }),
    access: z.enum(["read", "write"]),
    root: z
      .string()
      .nullable()
      .meta({ description: "The scope root that holds it; null: outside." }),
  })
  .meta({ id: "TouchedPath" });

const SegmentVerdictSchema = z
  .strictObject({
    text: z.string(),
    argv: z.array(z.string()).exactOptional(),
    form: z
      .string()
      .meta({ description: "What it does, whatever its spelling: `git push`; empty: no verb." }),
    hosts: z
      .array(z.string())
      .exactOptional()
      .meta({ description: "Hosts named literally, for network uses." }),
    cwds: z.array(z.string()),
    verdict: DecisionSchema,
    rung: RungSchema,
    rule: z.string(),
    reason: z.string(),
    effects: z.array(EffectSchema),
    classes: z.array(ActionClassSchema),
    paths: z.array(TouchedPathSchema),
    matches: z.array(MatchSchema),
  })
  .meta({ id: "SegmentVerdict", description: "The verdict on one simple command." });

export const SavedRuleSchema = z
  .strictObject({
    prefix: z.array(z.string()),
    effects: z.array(EffectSchema),
    paths: z.array(z.string()),
    hosts: z
      .array(z.string())
      .exactOptional()
      .meta({ description: "Hosts that approved commands may reach; `prefix` is empty then." }),
  })
  .meta({
    id: "SavedRule",
    description: "What `always` stores: a token prefix with its effects and path bounds.",
  });

export const VerdictSchema = z
  .strictObject({
    verdict: DecisionSchema,
    effects: z.array(EffectSchema),
    classes: z.array(ActionClassSchema),
    roots: z.array(z.string()),
    segments: z.array(SegmentVerdictSchema),
    reason: z.string(),
    instead: z.string().exactOptional(),
    always: z.array(SavedRuleSchema).exactOptional(),
    bindTo: z.array(z.string()),
    hidden: z.array(z.string()).exactOptional(),
  })
  .meta({ id: "Verdict" });

export type Verdict = z.infer<typeof VerdictSchema>;
export type SegmentVerdict = z.infer<typeof SegmentVerdictSchema>;
export type SavedRule = z.infer<typeof SavedRuleSchema>;

/** The shapes that must stay equal to the policy's own; a difference does not compile. */
export const MIRRORS_POLICY: [
  SameType<Verdict, policy.Verdict>,
  SameType<SavedRule, policy.SavedRule>,
] = [true, true];
