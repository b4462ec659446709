/** Grants and rules in a sentence: what a model reads of its authority. */
import type { Interface } from "../api/client-authority.ts";

type Grant = Interface["grants"][number];
type Rule = Interface["requestable"][number];

export function resourceText({
  paths,
  hosts,
  commands,
}: Pick<Grant, "paths" | "hosts" | "commands">): string {
  const some = [...paths, ...hosts, ...commands.map((words) => `\`${words.join(" ")}\``)];
  return some.length === 0 ? "anything" : some.join(", ");
}

/** `write src/api/** (refactor the client), until 2026-11-30T14:32:00.000Z or when …; 2 uses left. Then: …` */
export function granted(grant: Grant): string {
  const { effect, reason, expiresAt, usesLeft, endsWith, renewal } = grant;
  const end = [`until ${new Date(expiresAt).toISOString()}`, ...endsWith].join(", or when ");
  const uses = usesLeft === null ? "" : `; ${usesLeft} ${usesLeft === 1 ? "use" : "uses"} left`;
  return `${effect} ${resourceText(grant)} (${reason}), ${end}${uses}. Afterwards: ${renewal}.`;
}

/** `deps: network packages.example.org, for 10 min, 3 uses, a person is asked. Fetch what the lock file names` */
export function ruleText(rule: Rule): string {
  const { effect, description, ttlMs, uses, approval } = rule;
  const parts = [
    `${effect} ${resourceText(rule)}`,
    `for ${ttlMs >= 60_000 ? `${Math.round(ttlMs / 60_000)} min` : `${ttlMs / 1000} s`}`,
    ...(uses === null ? [] : [`${uses} ${uses === 1 ? "use" : "uses"}`]),
    ...(approval === "person" ? ["a person is asked"] : []),
  ];
  return `${rule.rule}: ${parts.join(", ")}${description === "" ? "" : `. ${description}`}`;
}

/** Within 64 characters also with a client's own prefix before it. */
const RULE_CHARS_SHOWN = 24;

export function toolName(rule: string | null, handle: string): string {
  return `use_${(rule ?? "person").slice(0, RULE_CHARS_SHOWN)}_${handle}`;
}
