/** Makes docs/authority.md and the JSON Schema of contracts, from the schema, and from a ledger that really plays an example. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { compileContract } from "../../daemon/authority/contract.ts";
import { contractFile } from "../../daemon/authority/contract-schema.ts";
import { newLedger, step } from "../../daemon/authority/ledger.ts";
import type { LedgerCommand, LedgerEvent } from "../../daemon/authority/ledger-types.ts";
import { lintContract } from "../../daemon/authority/lint.ts";
import {
  COMPILING,
  ENDS,
  EXAMPLE_CONTRACT,
  IN_THE_DAEMON,
  INTRODUCTION,
  LIFE,
  RENEWALS,
  UNDER_A_CONTRACT,
  WALK,
  WRONG_CONTRACT,
} from "./contract-text.ts";

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
}

function schema(): JsonSchema {
  return z.toJSONSchema(contractFile, { io: "input" }) as JsonSchema;
}

export function contractJsonSchema(): string {
  return `${JSON.stringify({ title: "Recinto contract", ...schema() }, null, 2)}\n`;
}

export function authorityPage(): string {
  const { envelope, grants, closures, deny, ...top } = schema().properties ?? {};
  const all = { ...top, envelope, grants, closures, deny } as Record<string, JsonSchema>;
  const grant = grants?.additionalProperties as JsonSchema;
  const closure = closures?.additionalProperties as JsonSchema;
  return `${[
    "# Authority that ends",
    "",
    "<!-- Made by scripts/generate-docs.ts from daemon/authority. Edit scripts/generate/contract-text.ts. -->",
    "",
    INTRODUCTION,
    "## A contract",
    "",
    "```yaml",
    EXAMPLE_CONTRACT.trimEnd(),
    "```",
    "",
    fields(all, schema().required),
    "",
    "### `envelope`, a list",
    "",
    fields(envelope?.items?.properties, envelope?.items?.required),
    "",
    "### `grants`, by name",
    "",
    fields(grant.properties, grant.required),
    "",
    "### `closures`, by name",
    "",
    fields(closure.properties, closure.required),
    "",
    "`file` has:",
    "",
    fields(closure.properties?.file?.properties, closure.properties?.file?.required),
    "",
    "### `deny`, a list",
    "",
    fields(deny?.items?.properties, deny?.items?.required),
    "",
    COMPILING,
    "```text",
    ...compileAndLint(WRONG_CONTRACT),
    "```",
    "",
    "## The life of a grant",
    "",
    LIFE,
    "The example's contract, played by the ledger: on the left what is sent to it, indented what it answers and reports.",
    "",
    "```text",
    ...played(),
    "```",
    "",
    "## One task, from contract to audit",
    "",
    WALK,
    "```console",
    readFileSync(new URL("authority-walk.txt", import.meta.url), "utf8").trimEnd(),
    "```",
    "",
    "## What ends a grant, and how it comes back",
    "",
    ENDS,
    table(["ended by", "seen by", "comes back by"], RENEWALS),
    "",
    UNDER_A_CONTRACT,
    IN_THE_DAEMON,
  ].join("\n")}`;
}

/** What the compiler says of a wrong contract, and the linter of it once that is mended. */
function compileAndLint(text: string): string[] {
  const wrong = compileContract(text);
  const errors = (wrong.problems ?? []).map(
    ({ line, column, key, message }) => `${line}:${column}: ${key}: ${message}`,
  );
  const mended = compileContract(text.replace("src/*.ts", "src/**").replace("[tests]", "[]"));
  if (mended.problems !== undefined) throw new TypeError(JSON.stringify(mended.problems));
  const warnings = lintContract(mended.contract, mended.locate).map(
    ({ line, column, code, message }) => `${line}:${column}: warning: ${code}: ${message}`,
  );
  return [...errors, "", "# those mended:", ...warnings];
}

const MINUTE = 60_000;

/** A task of the example: what is asked, used, closed by a test, and presented again. */
const PLAY: readonly (readonly [minutes: number, words: string, command: Untimed])[] = [
  [
    0,
    "agent: request serialize",
    { type: "request", rule: "serialize", reason: "write the new field", handle: "h-5e1f" },
  ],
  [1, "agent: run a command on h-5e1f", { type: "invoke", handles: ["h-5e1f"], invocation: "x-1" }],
  [1, "agent: request deps", { type: "request", rule: "deps", reason: "npm ci", handle: "h-90c2" }],
  [4, "ann: approve for 5m", { type: "approve", handle: "h-90c2", by: "ann", ttlMs: 5 * MINUTE }],
  [
    6,
    "daemon: ran the tests",
    { type: "closureFired", closure: "focused-tests", evidence: "exit 0" },
  ],
  [6, "daemon: killed x-1", { type: "closingDone", handle: "h-5e1f" }],
  [7, "agent: run a command on h-5e1f", { type: "invoke", handles: ["h-5e1f"], invocation: "x-2" }],
  [9, "(time passes)", { type: "tick" }],
  [9, "daemon: nothing to kill", { type: "closingDone", handle: "h-90c2" }],
];

type Untimed = LedgerCommand extends infer T ? (T extends unknown ? Omit<T, "now"> : never) : never;

function played(): string[] {
  const compiled = compileContract(EXAMPLE_CONTRACT);
  if (compiled.problems !== undefined) throw new TypeError(JSON.stringify(compiled.problems));
  let state = newLedger("s-1", compiled.contract, 0);
  return PLAY.flatMap(([minutes, words, command]) => {
    const next = step(state, { ...command, now: minutes * MINUTE } as LedgerCommand);
    state = next.state;
    const { outcome } = next;
    const answer = outcome.ok ? outcome.result : `${outcome.code}: ${outcome.reason}`;
    return [`${minutes}m  ${words}`, `      → ${answer}`, ...next.events.map(eventLine)];
  });
}

function eventLine(event: LedgerEvent): string {
  const { type, ...rest } = event;
  if (type !== "grant.granted") return `      ${type} ${JSON.stringify(rest)}`;
  const { handle, effect, paths, hosts, epoch, expiresAt, usesLeft } = (
    event as Extract<LedgerEvent, { type: "grant.granted" }>
  ).grant;
  const shown = { handle, effect, paths, hosts, epoch, expiresAt, usesLeft };
  return `      ${type} ${JSON.stringify(shown)}`;
}

function fields(
  properties: Readonly<Record<string, JsonSchema>> | undefined,
  required: readonly string[] = [],
): string {
  const rows = Object.entries(properties ?? {}).map(([key, field]) => {
    const must = required.includes(key) && field.default === undefined;
    return [`\`${key}\`${must ? " (required)" : ""}`, form(field), field.description ?? ""];
  });
  return table(["key", "form", "meaning"], rows);
}

function form(field: JsonSchema): string {
  if (field.anyOf !== undefined) return field.anyOf.map(form).join(" or ");
  if (field.enum !== undefined) return field.enum.map((each) => `\`${each}\``).join(" ");
  if (field.pattern?.includes("ms|s|m|h") === true) return "duration";
  if (field.type === "array") return `list of ${form(field.items ?? {})}`;
  if (field.type === "object") return field.additionalProperties === false ? "map" : "map by name";
  if (field.type === "integer") return `${field.minimum} to ${field.maximum}`;
  if (field.type === "boolean") return "`true` `false`";
  return "text";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((each) => each.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
