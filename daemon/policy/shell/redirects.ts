/** Redirects: what they read and write, and where standard input and output of a command come to lie. */

import type { HereDoc, Redirection, Redirect as RedirectNode } from "unbash";
import type { Frame, Output, Run } from "./run.ts";
import type { Redirect, RedirectKind, Stdin, WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import { concatenate, EMPTY, literal, NUMBER, unknown } from "./values.ts";
import { expandSingle, partValue, unsplit } from "./words.ts";

export interface Redirects {
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin;
  readonly input: Output;
  /** Standard output does not go where the surrounding one goes. */
  readonly redirected: boolean;
}

const KINDS: Readonly<Record<RedirectNode["operator"], RedirectKind>> = {
  "<": "read",
  ">": "write",
  ">|": "write",
  ">>": "append",
  "<>": "readwrite",
  "<&": "dup",
  ">&": "dup",
  "&>": "write",
  "&>>": "append",
};

const NO_REDIRECTS: readonly Redirect[] = [];

export function readRedirects(
  run: Run,
  nodes: readonly Redirection[],
  state: State,
  frame: Frame,
): Redirects {
  let { stdin, input } = frame;
  if (nodes.length === 0) return { redirects: NO_REDIRECTS, stdin, input, redirected: false };
  const redirects: Redirect[] = [];
  let redirected = false;
  for (const node of nodes) {
    const named = descriptorOf(run, node);
    if (node.type === "HereDoc") {
      run.hereDocuments = true;
      const body = hereDocBody(run, node, state, frame);
      redirects.push({ kind: "heredoc", fd: named ?? 0, both: false, body });
      if ((named ?? 0) === 0) {
        stdin = { kind: "text", body };
        input = body;
      }
      continue;
    }
    if (node.target === undefined) {
      run.problem("parse-error", "a redirect without a target", frame, node.pos);
      continue;
    }
    if (node.type === "HereString") {
      const body = concatenate(unsplit(run, node.target, state, frame, true), literal("\n"));
      redirects.push({ kind: "herestring", fd: named ?? 0, both: false, body });
      if ((named ?? 0) === 0) {
        stdin = { kind: "text", body };
        input = body;
      }
      continue;
    }
    const target = expandSingle(run, node.target, state, frame);
    const text = target.value.kind === "literal" ? target.value.value : null;
    let kind = KINDS[node.operator];
    let both = node.operator.startsWith("&");
    const isDescriptor =
      target.value.kind === "number" || (text !== null && /^(?:\d+-?|-)$/.test(text));
    if (node.operator === ">&" && !isDescriptor) {
      // `>&file` is `&>file`; with a descriptor in front it is an error, and judged all the same.
      kind = "write";
      both = true;
    }
    const reads = node.operator.startsWith("<");
    const fd = node.descriptor === undefined ? (reads ? 0 : 1) : named;
    redirects.push({ kind, fd, both, target });
    if (fd === 0) {
      if (target.process === "<") {
        stdin = { kind: "pipe", from: run.lastSubstitution.from };
        input = run.lastSubstitution.output;
      } else {
        stdin = { kind: text === "/dev/null" && kind === "read" ? "null" : "file" };
        input = stdin.kind === "null" ? null : unknown("content of a file");
      }
    }
    if ((fd === 1 && text !== "1") || both) redirected = true;
  }
  return { redirects, stdin, input, redirected };
}

/** The descriptor written in front; null when none, or when a variable is to hold its number. */
function descriptorOf(run: Run, node: Redirection): number | null {
  const { descriptor } = node;
  if (descriptor === undefined) return null;
  if (descriptor.type === "FileDescriptor") return descriptor.value;
  run.assigned.push([descriptor.name, NUMBER]);
  return null;
}

function hereDocBody(run: Run, node: HereDoc, state: State, frame: Frame): WordValue {
  if (node.closing === undefined || node.delimiter === undefined) {
    run.problem("parse-error", "a here-document that does not end", frame, node.pos);
  }
  const { body, delimiter } = node;
  const untab = (text: string): string =>
    node.operator === "<<-" ? text.replace(/^\t+/gm, "") : text;
  if (delimiter?.quoted) return literal(untab(body.text));
  const { parts } = body;
  if (parts === undefined) return literal(untab(body.text.replace(/\\([$`\\]|\n)/g, unescaped)));
  const value = parts.map((part) => partValue(run, part, state, frame)).reduce(concatenate, EMPTY);
  if (value.kind === "literal") return literal(untab(value.value));
  return node.operator === "<<-" ? unknown("text with its tabs taken away") : value;
}

function unescaped(_whole: string, character: string): string {
  return character === "\n" ? "" : character;
}
