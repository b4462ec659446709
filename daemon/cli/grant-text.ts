/** Grants and interfaces as people read them. */
import type { Grant, Interface } from "../api/client-authority.ts";
import { span, table, visible } from "./terminal-text.ts";

type Resource = Pick<Grant, "paths" | "hosts" | "commands">;

/** What it is on, in one cell. */
export function resourceText({ paths, hosts, commands }: Resource): string {
  const all = [...paths, ...hosts, ...commands.map((words) => words.join(" "))];
  return all.length === 0 ? "anything" : all.join(", ");
}

export function grantTable(grants: readonly Grant[], now: number): string {
  const rows = grants.map((one) => [
    one.handle,
    one.state,
    one.rule ?? "(by a person)",
    one.effect ?? "-",
    leftText(one.expiresAt, one.usesLeft, now),
    resourceText(one),
    one.worktree,
  ]);
  return table(["GRANT", "STATE", "RULE", "EFFECT", "LEFT", "ON", "WORKTREE"], rows);
}

function leftText(expiresAt: number | null, usesLeft: number | null, now: number): string {
  const time = expiresAt === null ? "" : span(expiresAt - now);
  return usesLeft === null ? time : `${time}, ${usesLeft} uses`;
}

/** A line or more for each thing. */
export function grantText(one: Grant, now: number): string {
  const by = one.by === null ? "nobody yet" : one.by;
  return lines([
    ["grant", [`${one.handle}, ${one.state}`]],
    ["where", [`project ${one.project}, ${one.worktree}`]],
    ["rule", [one.rule ?? "none: a person gave it besides the contract"]],
    ["may", one.effect === null ? [] : [`${one.effect}: ${resourceText(one)}`]],
    ["reason", one.reason === "" ? [] : [one.reason]],
    ["let by", [by]],
    ["left", one.expiresAt === null ? [] : [leftText(one.expiresAt, one.usesLeft, now)]],
    ["ends when", one.endsWith],
    ["running", one.running],
    ["ended", one.cause === null ? [] : [one.cause]],
    ["comes back", [one.renewal]],
  ]);
}

/** The authority of a session, as `session show` prints it. */
export function interfaceText(shown: Interface, now: number): string {
  const phase = shown.phase === null ? "" : `, phase ${shown.phase}`;
  const denied = resourceText(shown.denied);
  return lines([
    [
      "task",
      [shown.task === null ? "none: the profile's standing permission" : `${shown.task}${phase}`],
    ],
    ["epoch", [String(shown.epoch)]],
    ["from start", shown.envelope.map((one) => `${one.effect}: ${resourceText(one)}`)],
    [
      "grants",
      shown.grants.flatMap((one) => [
        `${one.handle}  ${one.rule ?? "(by a person)"}  ${one.effect}: ${resourceText(one)}`,
        `  ${[`${span(one.expiresAt - now)} left`, ...(one.usesLeft === null ? [] : [`${one.usesLeft} uses left`]), ...one.endsWith.map((end) => `ends when ${end}`)].join("; ")}`,
      ]),
    ],
    ["waiting", shown.pending],
    [
      "on request",
      shown.requestable.map(
        (one) =>
          `${one.rule}  ${one.effect}: ${resourceText(one)}${one.approval === "person" ? "; a person decides" : ""}`,
      ),
    ],
    ["denied", denied === "anything" ? [] : [denied]],
  ]);
}

function lines(facts: readonly (readonly [string, readonly string[]])[]): string {
  return facts
    .filter(([, values]) => values.length > 0)
    .map(([label, values]) =>
      values.map((value, i) => `${(i === 0 ? label : "").padEnd(10)} ${visible(value)}\n`).join(""),
    )
    .join("");
}
