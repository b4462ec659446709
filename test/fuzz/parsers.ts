/** Compares three parsers on real one-liners: ours, bash itself (`bash -n`), and mvdan-sh. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { forEachChild, parse, type SyntaxNode } from "unbash";
import { understand } from "../../daemon/policy/shell/understand.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = process.env.RECINTO_CORPORA ?? resolve(root, "../shared/corpora");
export const CORPUS = join(folder, "nl2bash.txt");

/** The corpus, or null where it is not. */
export function corpusLines(): string[] | null {
  return existsSync(CORPUS) ? readFileSync(CORPUS, "utf8").split("\n").filter(Boolean) : null;
}

/** Disagreements that are known, and why they are harmless. */
const EXPLAINED: Readonly<Record<string, string>> = {
  "read -p \"Please Enter a Message: `echo $'\\n> '`\" message":
    "mvdan-sh does not know $'…' in backticks between double quotes; bash does",
  'for i in `find . | grep ".xml$"`; do bzip2 $i&; done':
    "bash takes no `;` behind `&`, and runs nothing; we read the commands all the same",
};

/** Which lines bash accepts; it parses each without running it. */
function acceptedByBash(lines: readonly string[]): boolean[] {
  const script =
    'while IFS= read -r -d "" line; do if bash -n -c "$line"; then echo 1; else echo 0; fi; done 2> /dev/null';
  const { stdout } = spawnSync("bash", ["--norc", "--noprofile", "-c", script], {
    input: lines.map((line) => `${line}\0`).join(""),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout
    .trim()
    .split("\n")
    .map((digit) => digit === "1");
}

/** Simple commands that our parser finds. */
function commandsOfOurs(line: string): number {
  let count = 0;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Command" && node.name !== undefined) count += 1;
    forEachChild(node, visit);
  };
  visit(parse(line));
  return count;
}

interface MvdanNode {
  readonly Args?: { readonly length: number };
}

interface Mvdan {
  readonly syntax: {
    NewParser(variant: unknown): { Parse(text: string, name: string): MvdanNode };
    Variant(language: unknown): unknown;
    readonly LangBash: unknown;
    Walk(node: MvdanNode, visit: (node: MvdanNode | null) => boolean): void;
    NodeType(node: MvdanNode): string;
  };
}

const { syntax } = createRequire(import.meta.url)("mvdan-sh") as Mvdan;
const mvdan = syntax.NewParser(syntax.Variant(syntax.LangBash));

/** The same by mvdan-sh, or null where it refuses the line. */
function commandsOfMvdan(line: string): number | null {
  try {
    let count = 0;
    syntax.Walk(mvdan.Parse(line, "line"), (node) => {
      if (node === null) return true;
      const type = syntax.NodeType(node);
      const runs =
        type === "CallExpr" ? (node.Args?.length ?? 0) > 0 : /^(?:Decl|Let)Clause$/.test(type);
      if (runs) count += 1;
      return true;
    });
    return count;
  } catch {
    return null;
  }
}

export interface Agreement {
  readonly lines: number;
  readonly acceptedByBash: number;
  /** Lines that we read without a problem. */
  readonly clean: number;
  /** Of those bash accepts too: how many were compared with mvdan-sh. */
  readonly compared: number;
  readonly explained: number;
  /** Lines we read without a problem, and bash refuses. */
  readonly refusedByBash: readonly string[];
  readonly refusedByMvdan: readonly string[];
  /** Lines of which mvdan-sh sees more or fewer commands. */
  readonly different: readonly string[];
}

export function compareParsers(lines: readonly string[]): Agreement {
  const accepted = acceptedByBash(lines);
  if (accepted.length !== lines.length) throw new Error("bash did not read every line");
  const refusedByBash: string[] = [];
  const refusedByMvdan: string[] = [];
  const different: string[] = [];
  let [clean, compared, explained] = [0, 0, 0];
  lines.forEach((line, at) => {
    const { problems, segments } = understand(line, { cwd: "/w", home: "/home/a", env: {} });
    if (problems.length > 0 || segments.some((one) => one.problems.length > 0)) return;
    clean += 1;
    if (Object.hasOwn(EXPLAINED, line)) {
      explained += 1;
      return;
    }
    if (accepted[at] !== true) {
      refusedByBash.push(line);
      return;
    }
    compared += 1;
    const theirs = commandsOfMvdan(line);
    if (theirs === null) refusedByMvdan.push(line);
    else if (theirs !== commandsOfOurs(line)) different.push(line);
  });
  const acceptedCount = accepted.filter(Boolean).length;
  const counts = { lines: lines.length, acceptedByBash: acceptedCount, clean, compared, explained };
  return { ...counts, refusedByBash, refusedByMvdan, different };
}

/** The whole corpus; the ordinary test takes a part of it. */
export function fuzzParsers(): number {
  const lines = corpusLines();
  if (lines === null) {
    console.log(
      `fuzz: parsers: skipped, no corpus at ${CORPUS} (RECINTO_CORPORA names its folder)`,
    );
    return 0;
  }
  const result = compareParsers(lines);
  console.log(`fuzz: parsers: ${JSON.stringify(result, null, 2)}`);
  return result.refusedByBash.length + result.refusedByMvdan.length + result.different.length;
}
