/** One YAML document of an admin, checked against a zod schema, with the line and column of everything wrong in it. */
import { type Document, isMap, isNode, isScalar, LineCounter, type Node } from "yaml";
import type { z } from "zod";
import { type ErrorCode, RecintoError } from "../errors.ts";
import { readYaml } from "../policy/read-yaml.ts";

/** Something wrong in an admin's file. Line and column start at 1. */
export interface FileProblem {
  readonly line: number;
  readonly column: number;
  /** Dotted path of the key, empty for the whole document. */
  readonly key: string;
  readonly message: string;
}

/** Where a key stands in the text, for checks that come after the schema's own. */
export type Locate = (path: readonly PropertyKey[]) => { line: number; column: number };

export interface CheckedYaml<T> {
  readonly value: T;
  readonly locate: Locate;
}

/**
 * The document as the schema's output. Throws RecintoError `code` whose message is `FILE:LINE:COL: KEY: what is wrong`
 * for the first problem in the text; `details.problems` has all of them.
 */
export function parseAdminYaml<S extends z.ZodType>(
  text: string,
  file: string,
  schema: S,
  code: ErrorCode,
): CheckedYaml<z.output<S>> {
  const lines = new LineCounter();
  const document = readYaml(text, lines);
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // A warning (an unknown tag, say) means that the text does not say what its writer believes.
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw fileError(
      code,
      file,
      faults.map((fault) => ({ ...at(fault.pos[0]), key: "", message: fault.message })),
    );
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 64 }) ?? {};
  } catch (error) {
    throw fileError(code, file, [
      {
        line: 1,
        column: 1,
        key: "",
        message: error instanceof Error ? error.message : "unreadable",
      },
    ]);
  }
  const locate: Locate = (path) => at(offsetOf(document.contents, path));
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, locate };
  throw fileError(
    code,
    file,
    result.error.issues.flatMap((issue) => problemsOf(issue, document, at)),
  );
}

/** The error for problems found in a file, sorted as they stand in it. */
export function fileError(
  code: ErrorCode,
  file: string,
  problems: readonly FileProblem[],
): RecintoError {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
  const [first] = sorted;
  const where = first === undefined ? "" : `:${first.line}:${first.column}`;
  const key = first === undefined || first.key === "" ? "" : `${first.key}: `;
  const more = sorted.length > 1 ? ` (and ${sorted.length - 1} more)` : "";
  return new RecintoError(code, `${file}${where}: ${key}${first?.message ?? "unusable"}${more}`, {
    details: { file, problems: sorted },
  });
}

function problemsOf(
  issue: z.core.$ZodIssue,
  document: Document.Parsed,
  at: (offset: number) => { line: number; column: number },
): FileProblem[] {
  const { contents } = document;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => ({
      ...at(offsetOf(contents, [...issue.path, name], "key")),
      key: issue.path.map(String).join("."),
      message: `unknown key ${JSON.stringify(name)}`,
    }));
  }
  const key = issue.path.map(String).join(".");
  if (issue.code === "invalid_key") {
    const message = issue.issues[0]?.message ?? issue.message;
    return [{ ...at(offsetOf(contents, issue.path, "key")), key, message }];
  }
  const value = issue.code === "invalid_value" ? document.getIn(issue.path) : undefined;
  const given = value === undefined || isNode(value) ? "" : ` (it is ${JSON.stringify(value)})`;
  const message = `${lowerFirst(issue.message)}${given}`;
  return [{ ...at(offsetOf(contents, issue.path)), key, message }];
}

/** Offset of the node at `path`, or of the deepest parent of it that is written in the text. */
function offsetOf(
  contents: Node | null,
  path: readonly PropertyKey[],
  what: "key" | "value" = "value",
): number {
  let node: unknown = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const [depth, step] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) break;
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      if (what === "key" && depth === path.length - 1) break;
      node = pair.value;
    } else if (isNode(node) && "items" in node && Array.isArray(node.items)) {
      node = node.items[Number(step)];
    } else break;
    if (isNode(node)) offset = node.range?.[0] ?? offset;
  }
  return offset;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
