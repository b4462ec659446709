/** A contract's YAML held against its schema: the value, or everything wrong with line and column. */
import { isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import type { z } from "zod";
import { ERROR_ECHO_CHARS_MAX } from "../limits.ts";
import { CONTRACT_CHARS_MAX } from "../limits-authority.ts";
import { readYaml } from "../policy/read-yaml.ts";
import { type ContractFile, contractFile } from "./contract-schema.ts";

/** Something wrong, or doubtful, in a contract. Line and column start at 1. */
export interface ContractProblem {
  readonly line: number;
  readonly column: number;
  /** Dotted path of the key; empty for the whole document. */
  readonly key: string;
  readonly message: string;
}

export type Path = readonly (string | number)[];
/** Where a key stands; of a key that is not written, where its nearest parent does. */
export type Locate = (path: Path) => { readonly line: number; readonly column: number };

export type ReadContract =
  | { readonly file: ContractFile; readonly locate: Locate; readonly problems?: undefined }
  | { readonly problems: readonly ContractProblem[] };

export function readContract(text: string): ReadContract {
  if (text.length > CONTRACT_CHARS_MAX) {
    const message = `longer than ${CONTRACT_CHARS_MAX} characters: split the task`;
    return { problems: [{ line: 1, column: 1, key: "", message }] };
  }
  const lines = new LineCounter();
  const document = readYaml(text, lines);
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // A warning (an unknown tag, say) means that the text does not say what its writer believes.
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return {
      problems: faults.map(({ pos, message }) => ({ ...at(pos[0]), key: "", message })),
    };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 64 }) ?? {};
  } catch (error) {
    const message = error instanceof Error ? error.message : "unreadable";
    return { problems: [{ line: 1, column: 1, key: "", message }] };
  }
  const locate: Locate = (path) => at(offsetOf(document.contents, path, false));
  const result = contractFile.safeParse(value);
  if (result.success) return { file: result.data, locate };
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, document.contents, at));
  return { problems: inOrder(problems) };
}

/** As they stand in the text. */
export function inOrder(problems: readonly ContractProblem[]): readonly ContractProblem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}

function problemsOf(
  issue: z.core.$ZodIssue,
  contents: Node | null,
  at: (offset: number) => { line: number; column: number },
): ContractProblem[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  const key = path.join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => ({
      ...at(offsetOf(contents, [...path, name], true)),
      key,
      message: `unknown key ${JSON.stringify(name)}: see docs/authority.md for those there are`,
    }));
  }
  if (issue.code === "invalid_key") {
    const message = `the name ${JSON.stringify(path.at(-1))} ${issue.issues[0]?.message ?? issue.message}`;
    return [{ ...at(offsetOf(contents, path, true)), key, message }];
  }
  const message = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  const node = nodeAt(contents, path);
  const shown = isScalar(node) && issue.code !== "custom" ? ` (it is ${echo(node.value)})` : "";
  return [{ ...at(offsetOf(contents, path, false)), key, message: `${message}${shown}` }];
}

function echo(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= ERROR_ECHO_CHARS_MAX ? text : `${text.slice(0, ERROR_ECHO_CHARS_MAX)}…`;
}

function step(node: unknown, key: string | number): { key: unknown; value: unknown } | null {
  if (isMap(node)) {
    const pair = node.items.find((each) => isScalar(each.key) && String(each.key.value) === key);
    return pair === undefined ? null : { key: pair.key, value: pair.value };
  }
  if (!isSeq(node)) return null;
  const item = node.items[Number(key)];
  return item === undefined ? null : { key: item, value: item };
}

function nodeAt(contents: unknown, path: Path): unknown {
  return path.reduce<unknown>((node, key) => step(node, key)?.value ?? null, contents);
}

function offsetOf(contents: Node | null, path: Path, keyOfLast: boolean): number {
  const start = (node: unknown) => (node as Node | null)?.range?.[0];
  let node: unknown = contents;
  let offset = start(contents) ?? 0;
  for (const [depth, key] of path.entries()) {
    const found = step(node, key);
    if (found === null) break;
    offset = start(found.key) ?? offset;
    if (keyOfLast && depth === path.length - 1) break;
    node = found.value;
    offset = start(node) ?? offset;
  }
  return offset;
}
