/** Errors and refusals as tool results: what was refused, by whom, why, and what to do instead. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ClientRunEvent, Verdict } from "../api/client.ts";
import { RecintoError } from "../errors.ts";

/** What `error` is in the data of a call that failed; more details may be with it. */
export const FailureSchema = z.looseObject({
  code: z.string(),
  reason: z.string(),
  instead: z.string().optional().describe("What to do instead."),
  by: z.string().optional().describe("Who refused it."),
  segment: z.string().optional().describe("The simple command that decided it."),
  rule: z.string().optional(),
  approval: z.string().optional().describe("A person's question about it."),
});

type Refused = ClientRunEvent & { type: "refused" };

const BY: Readonly<Record<Refused["by"], string>> = {
  policy: "refused by the policy",
  person: "refused by a person",
  timeout: "not run: nobody answered in time",
  "facts-changed": "not run: what was approved is no longer what would run",
  "not-waiting": "not run",
};

/** A command that was not run. */
export function refusedCommand(event: Refused, verdict: Verdict | undefined): CallToolResult {
  const segment = verdict?.segments.find((each) => each.verdict === verdict.verdict);
  return failed(
    {
      code: "refused",
      by: event.by,
      reason: event.reason,
      ...(segment === undefined
        ? {}
        : { segment: segment.text, rung: segment.rung, rule: segment.rule }),
      ...(event.instead === undefined ? {} : { instead: event.instead }),
      ...(event.approval === undefined ? {} : { approval: event.approval }),
    },
    [
      `${BY[event.by]}: ${event.reason}`,
      ...(segment === undefined ? [] : [`segment: ${segment.text}`, `rule: ${segment.rule}`]),
      ...(event.instead === undefined ? [] : [`instead: ${event.instead}`]),
      ...(event.by === "not-waiting" && event.approval !== undefined
        ? [`the question stays open (${event.approval}): the same call again takes it up`]
        : []),
    ],
  );
}

/** An error in the words of the API. What is none of the catalogue is a bug, and its details are not for agents. */
export function failedCall(error: unknown): CallToolResult {
  const known =
    error instanceof RecintoError
      ? error
      : new RecintoError("internal", "something went wrong inside the MCP server");
  const { code, message, hint, details } = known;
  const { requestId: _, ...told } = details;
  const instead = typeof told.instead === "string" ? told.instead : hint;
  return failed({ code, reason: message, ...told, instead }, [
    message,
    ...(typeof told.rule === "string" ? [`rule: ${told.rule}`] : []),
    `instead: ${instead}`,
  ]);
}

/** A call that did not do what it was for. */
export function failed(
  error: z.input<typeof FailureSchema>,
  lines: readonly string[],
): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: lines.join("\n") }],
    structuredContent: { error },
  };
}
