/** Spoiled config files, profiles, contracts and rule files: each is read, or refused with a place; nothing else happens. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileContract } from "../../daemon/authority/contract.ts";
import { lintContract } from "../../daemon/authority/lint.ts";
import { RecintoError } from "../../daemon/errors.ts";
import { importChatCli } from "../../daemon/policy/imports/chatcli.ts";
import { importClaude } from "../../daemon/policy/imports/claude.ts";
import { importCodex } from "../../daemon/policy/imports/codex.ts";
import { parseRuleFile } from "../../daemon/policy/rule-files.ts";
import { parseConfig } from "../../daemon/settings/config.ts";
import { parseProfile } from "../../daemon/settings/profiles.ts";
import { Random } from "./random.ts";

const SEEDS = fileURLToPath(new URL("./seeds/", import.meta.url));
const PROFILES = fileURLToPath(new URL("../../profiles/", import.meta.url));
/** Nobody waits longer for a file of this size, however it is written. */
const SLOW_MS = 5_000;

/** What reads a text; it returns a complaint about how it did, or null. */
type Reader = (text: string) => string | null;

const placed = /^[^\n]*:\d+:\d+: /;

/** A reader that throws what is wrong, with file, line and column. */
function throwing(read: (text: string) => unknown): Reader {
  return (text) => {
    try {
      read(text);
      return null;
    } catch (error) {
      if (!(error instanceof RecintoError)) return `threw ${(error as Error).stack}`;
      return placed.test(error.message) ? null : `named no place: ${error.message}`;
    }
  };
}

/** A reader that returns what is wrong. */
function telling(
  read: (text: string) => readonly { readonly line: number; readonly column: number }[],
): Reader {
  return (text) => {
    const lines = text.split("\n").length;
    const astray = read(text).find(({ line, column }) => line < 1 || column < 1 || line > lines);
    return astray === undefined ? null : `place ${astray.line}:${astray.column} is not in the text`;
  };
}

function importing(read: (text: string) => unknown): Reader {
  return (text) => {
    try {
      read(text);
      return null;
    } catch (error) {
      return error instanceof RecintoError ? null : `threw ${(error as Error).stack}`;
    }
  };
}

const READERS: Readonly<Record<string, Reader>> = {
  config: throwing((text) => parseConfig(text, "config.yaml")),
  profile: throwing((text) => parseProfile(text, { name: "p", file: "p.yaml" })),
  contract: telling((text) => {
    const compiled = compileContract(text);
    if (compiled.problems !== undefined) return compiled.problems;
    return lintContract(compiled.contract, compiled.locate);
  }),
  rules: telling((text) => parseRuleFile(text, "project", "r").problems),
  chatcli: importing(importChatCli),
  claude: importing(importClaude),
  codex: importing(importCodex),
};

/** Texts that are right, by what reads them: `KIND.anything` in seeds/, and the shipped profiles. */
function corpus(): { readonly kind: string; readonly text: string }[] {
  const own = readdirSync(SEEDS).map((name) => ({
    kind: name.split(".")[0] as string,
    text: readFileSync(`${SEEDS}${name}`, "utf8"),
  }));
  const shipped = readdirSync(PROFILES)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ kind: "profile", text: readFileSync(`${PROFILES}${name}`, "utf8") }));
  return [...own, ...shipped];
}

/** Pieces that parsers of YAML, numbers, globs and host names have stumbled over. */
const PIECES = [
  "&a [*a]",
  "*a",
  "<<: *a",
  "!!binary x",
  "!<tag:x> y",
  "? [a, b]",
  "---\n",
  "...\n",
  "%YAML 1.2\n",
  "\t",
  "\0",
  "\u0085",
  "\u2028",
  "\ufeff",
  "\ud800",
  "0x7fffffffffffffff",
  "1e999",
  "-0",
  ".nan",
  "!!float .inf",
  "0o777",
  "1_000",
  "2001-01-01",
  "null",
  "~",
  "yes",
  "{",
  "}",
  "[",
  "]",
  "|",
  ">",
  "|-\n  x",
  "'",
  '"',
  "#",
  "__proto__: {x: 1}",
  "constructor: 1",
  "toString: []",
  "hasOwnProperty: 1",
  "**/**/**",
  "[!",
  "{a,{b,{c}}}",
  "\\",
  "..",
  "/",
  "*.*.*",
  ":0",
  ":99999",
  "::1",
  "xn--",
  "a".repeat(300),
  "9".repeat(400),
  "- ".repeat(60),
  "{a: ".repeat(60),
  "[".repeat(2_000),
] as const;

function spoiled(random: Random, text: string, other: string): string {
  let now = text;
  for (let times = 1 + random.below(4); times > 0; times--) {
    const at = random.below(now.length + 1);
    const lines = now.split("\n");
    const line = random.below(lines.length);
    switch (random.below(8)) {
      case 0:
        now = now.slice(0, at) + random.pick(PIECES) + now.slice(at);
        break;
      case 1:
        now = now.slice(0, at) + now.slice(at + 1 + random.below(12));
        break;
      case 2:
        now = now.slice(0, at) + String.fromCharCode(random.below(0x300)) + now.slice(at + 1);
        break;
      case 3:
        lines.splice(line, 0, lines[random.below(lines.length)] as string);
        now = lines.join("\n");
        break;
      case 4:
        lines[line] = " ".repeat(random.below(6)) + (lines[line] as string).trim();
        now = lines.join("\n");
        break;
      case 5:
        // A value of another kind behind a key that there is.
        lines[line] = (lines[line] as string).replace(/:.*/, () => `: ${random.pick(PIECES)}`);
        now = lines.join("\n");
        break;
      case 6:
        lines.splice(line, 0, ...other.split("\n").slice(0, 1 + random.below(5)));
        now = lines.join("\n");
        break;
      default:
        now = now.slice(0, at);
    }
  }
  return now;
}

/** How many of `count` texts made a reader do something else than read or refuse; each is printed. */
export function fuzzSettings({
  count = 20_000,
  seed,
}: {
  count?: number | undefined;
  seed: number;
}): number {
  const random = new Random(seed);
  const seeds = corpus();
  const read: Record<string, number> = {};
  let failures = 0;
  const look = (kind: string, text: string) => {
    const reader = READERS[kind];
    if (reader === undefined) throw new Error(`seeds/ has a ${kind}, which nothing reads`);
    read[kind] = (read[kind] ?? 0) + 1;
    const began = performance.now();
    let wrong: string | null;
    try {
      wrong = reader(text);
    } catch (error) {
      wrong = `threw ${(error as Error).stack}`;
    }
    const took = performance.now() - began;
    if (took > SLOW_MS) wrong ??= `took ${Math.round(took)} ms`;
    if (wrong === null) return;
    failures += 1;
    console.log(`settings: ${kind} ${JSON.stringify(text)}: ${wrong}`);
  };
  for (const { kind, text } of seeds) look(kind, text);
  for (let done = 0; done < count; done++) {
    const { kind, text } = random.pick(seeds);
    look(kind, spoiled(random, text, random.pick(seeds).text));
  }
  console.log(`settings: seed ${seed}, ${JSON.stringify(read)}, ${failures} failed`);
  return failures;
}
