/** Claude Code's settings.json as rules: `permissions` with `Bash(npm run test:*)`, `Read(./src/**)` and the like. Pure. */
import { isMap, isScalar, isSeq, LineCounter } from "yaml";
import { readYaml } from "../read-yaml.ts";
import type { Decision } from "../types.ts";
import { Import, type Imported } from "./imported.ts";

const ACTIONS: readonly Decision[] = ["allow", "ask", "deny"];

const READERS = new Set(["Read", "Glob", "Grep", "LS", "NotebookRead"]);
const WRITERS = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

/** Settings that look like permissions and are something else here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  additionalDirectories: "folders outside the project are `readable:` in the profile",
  defaultMode: "what passes without asking is the profile's `policy.standing`",
  disableBypassPermissionsMode: "there is no mode here that bypasses the policy",
  hooks: "programs of hooks are not run; the journal and recinto events --follow tell what happens",
  sandbox: "the profile says what the sandbox may do",
};

/** The text of a settings file. JSON is YAML, so one parser reads it and knows the lines. */
export function importClaude(text: string): Imported {
  const found = new Import();
  const lines = new LineCounter();
  const { contents, errors } = readYaml(text, lines);
  const lineOf = (node: unknown): number =>
    lines.linePos((node as { range?: [number] } | null)?.range?.[0] ?? 0).line;
  for (const error of errors) found.leave(lines.linePos(error.pos[0]).line, "", error.message);
  if (!isMap(contents) || errors.length > 0) return found.result;
  const permissions = contents.get("permissions", true);
  for (const map of [contents, permissions]) {
    if (!isMap(map)) continue;
    for (const { key } of map.items) {
      const name = isScalar(key) ? String(key.value) : "";
      const why = ELSEWHERE[name];
      if (why !== undefined) found.leave(lineOf(key), name, why);
    }
  }
  for (const action of ACTIONS) {
    const list = isMap(permissions) ? permissions.get(action, true) : undefined;
    for (const item of isSeq(list) ? list.items : []) {
      const written = isScalar(item) ? String(item.value) : "";
      const line = lineOf(item);
      const why = importRule(found, action, written, line);
      if (why !== null) found.leave(line, written, why);
    }
  }
  return found.result;
}

/** Why the rule is left out, or null. */
function importRule(found: Import, action: Decision, text: string, line: number): string | null {
  const [, tool = "", inside] = /^([A-Za-z_][\w-]*)(?:\(([\s\S]*)\))?$/.exec(text.trim()) ?? [];
  if (tool === "Bash") return importCommand(found, action, inside ?? "*", line, text);
  if (READERS.has(tool) || WRITERS.has(tool)) {
    const glob = pathGlob(inside);
    if (glob === null) return "the home folder of the sandbox is not yours: name an absolute path";
    found.add({ action, tool: READERS.has(tool) ? "read" : "write", pattern: [glob] }, line, text);
    return null;
  }
  return tool === "WebFetch" || tool === "WebSearch"
    ? "the network is opened by grants, for named hosts and with an end"
    : "it is neither a command nor a file";
}

/** Their rules are about the text of a line; ours are about the words of each command in it. */
function importCommand(
  found: Import,
  action: Decision,
  inside: string,
  line: number,
  text: string,
): string | null {
  const prefix = /^([\s\S]*?)(?::\*|\s+\*)$/.exec(inside)?.[1];
  const body = prefix ?? inside;
  if (/[;|&<>$`"'\\(){}\n#]/.test(body)) {
    return "rules are about the words of one command, not about the text of a line";
  }
  const words = body.split(/\s+/).filter((word) => word !== "");
  if (words.some((word) => /[?[]/.test(word))) {
    return "? and [ stand for themselves there and for any character here";
  }
  if (words.slice(0, -1).some((word) => word.includes("*"))) {
    found.note(line, text, "a * between words stands for one word here");
  }
  // There `test*` goes on over blanks; here it ends with the word, and a last `*` is the rest.
  const open = prefix !== undefined || (words.at(-1)?.endsWith("*") ?? false);
  const pattern = open && words.at(-1) !== "*" ? [...words, "*"] : words;
  if (pattern.length === 0) pattern.push("*");
  found.add({ action, tool: "exec", pattern }, line, text);
  return null;
}

/** A path as gitignore writes it, as a glob of ours, relative to the worktree; null: below a home folder. */
function pathGlob(inside: string | undefined): string | null {
  if (inside === undefined || inside === "" || inside === "*") return "**";
  if (inside.startsWith("~")) return null;
  const named = inside.replace(/\/+$/, "");
  // `//` begins an absolute path there, `/` one of the project.
  const glob = named.startsWith("//")
    ? named.slice(1)
    : named.startsWith("/") || named.startsWith("./")
      ? named.replace(/^\.?\//, "")
      : named.includes("/") || named.startsWith("**")
        ? named
        : `**/${named}`;
  // A name covers the folder of that name and all that is in it.
  return /\*$|\*\.[^/]*$/.test(glob) ? glob : `${glob}/**`;
}
