/** A question as a person reads it before answering: nothing hidden, what asked first, what cannot be had. */
import type { Approval, Verdict } from "../api/client.ts";
import { resourceText } from "./grant-text.ts";
import { localTime, span, table, visible } from "./terminal-text.ts";

type SavedRule = NonNullable<Verdict["always"]>[number];

/** All of it, a line or more for each thing; `now` in Unix milliseconds. */
export function approvalText(approval: Approval, now: number): string {
  const { verdict } = approval;
  const asking = verdict.segments.filter((segment) => segment.verdict === verdict.verdict);
  const facts: [label: string, lines: readonly string[]][] = [
    ["question", [`${approval.id}, ${stateText(approval, now)}`]],
    ["who", [`uid ${approval.uid}, project ${approval.project}, ${approval.worktree}`]],
    ["warning", approval.agentCouldApprove ? ["this agent's user could approve it itself"] : []],
    ["reaches", approval.host === undefined ? [] : [`${approval.host}; its connection waits`]],
    ["command", approval.command.split("\n")],
    ["hidden", hiddenText(verdict)],
    ["in", [approval.cwd]],
    ["stdin", approval.stdin === undefined ? [] : approval.stdin.split("\n")],
    ["changed", approval.changed ?? []],
    ["asks", asking.flatMap((one) => [one.text, `  ${one.reason} [${one.rule}]`])],
    ["effects", [verdict.effects.join(", ")]],
    ["paths", pathLines(asking)],
    ["runs", Object.entries(approval.facts.content).flatMap(contentLine)],
    ["branch", approval.facts.branch == null ? [] : [approval.facts.branch]],
    [
      "no effect",
      approval.cannotTakeEffect.map(
        // A network comes with its own reason.
        (what) =>
          what.startsWith("/")
            ? `${what} is not in the sandbox: approving does not reach it`
            : what,
      ),
    ],
    ["grant", grantLines(approval)],
    ["or give", (approval.offers ?? []).map((one) => `${one.effect}: ${resourceText(one)}`)],
    ["always", (verdict.always ?? []).map((rule, i) => `${i}: ${ruleText(rule)}`)],
    ["reason", approval.reason === undefined ? [] : [approval.reason]],
  ];
  return facts
    .filter(([, lines]) => lines.length > 0)
    .map(([label, lines]) =>
      lines.map((line, i) => `${(i === 0 ? label : "").padEnd(10)} ${visible(line)}\n`).join(""),
    )
    .join("");
}

/** A rule of the contract that is requested, and what would end it. */
function grantLines({ grant }: Approval): string[] {
  if (grant === undefined) return [];
  const uses = grant.uses === null ? "" : `, ${grant.uses} uses`;
  return [
    `${grant.rule} → ${grant.effect}: ${resourceText(grant)}`,
    `  for ${span(grant.ttlMs)} at most${uses}`,
    ...grant.endsWith.map((end) => `  ends when ${end}`),
  ];
}

/** The characters that do not show, by code point: the policy's own list, else what this side sees. */
function hiddenText(verdict: Verdict): readonly string[] {
  return verdict.hidden === undefined ? [] : [verdict.hidden.join(", ")];
}

function pathLines(segments: Verdict["segments"]): string[] {
  const lines = segments.flatMap(({ paths }) =>
    paths.map(({ access, path, real, root }) => {
      const leads = real === undefined || real === path ? "" : ` → ${real}`;
      return `${access} ${path}${leads}${root === null ? " (outside)" : ""}`;
    }),
  );
  return [...new Set(lines)];
}

/** What is not there is bound too (should it appear, it asks again), but is nothing to read before answering. */
function contentLine([path, hash]: readonly [string, string | null]): string[] {
  return hash === null ? [] : [`${path} sha256 ${hash.slice(0, 16)}…`];
}

function stateText(approval: Approval, now: number): string {
  if (approval.state === "pending") return `waits, ${span(approval.expiresAt - now)} left`;
  const by = approval.answeredBy === undefined ? "" : ` by uid ${approval.answeredBy}`;
  const at = approval.answeredAt === undefined ? "" : ` at ${localTime(approval.answeredAt)}`;
  return `${approval.state}${by}${at}`;
}

/** The exact rule that would be stored. */
export function ruleText(rule: SavedRule): string {
  if (rule.hosts !== undefined) return visible(`approved commands reach ${rule.hosts.join(", ")}`);
  const paths =
    rule.paths.length === 0 ? "paths in scope only" : `paths below ${rule.paths.join(", ")}`;
  return visible(`${rule.prefix.join(" ")} …  (effects: ${rule.effects.join(", ")}; ${paths})`);
}

export function approvalTable(approvals: readonly Approval[], now: number): string {
  return table(
    ["QUESTION", "STATE", "LEFT", "PROJECT", "UID", "COMMAND"],
    approvals.map((one) => [
      one.id,
      one.state,
      one.state === "pending" ? span(one.expiresAt - now) : "",
      one.project,
      String(one.uid),
      shortened(one.command),
    ]),
  );
}

const COMMAND_SHOWN_CHARS = 100;

function shortened(command: string): string {
  return command.length <= COMMAND_SHOWN_CHARS
    ? command
    : `${command.slice(0, COMMAND_SHOWN_CHARS)}… (${command.length} characters)`;
}
