/** The literal part of Starlark: calls with texts, lists and constants. Nothing is evaluated; anything else is reported. Pure. */

export type Literal = string | number | boolean | null | readonly Literal[];

export interface Call {
  readonly line: number;
  readonly name: string;
  readonly named: Readonly<Record<string, Literal>>;
}

export interface Unread {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

interface Token {
  readonly kind: "name" | "text" | "number" | "sign" | "bad";
  readonly value: string;
  readonly line: number;
  /** Stands at the very beginning of its line: a statement that no block holds. */
  readonly first: boolean;
}

/** Lists in lists, at most; a policy needs two. */
const DEPTH_MAX = 8;

/** Why a statement was given up. */
class NotLiteral extends Error {}

export function readCalls(text: string): {
  readonly calls: readonly Call[];
  readonly unread: readonly Unread[];
} {
  const lines = text.split("\n");
  const tokens = tokensOf(text);
  const calls: Call[] = [];
  const unread: Unread[] = [];
  let at = 0;
  while (at < tokens.length) {
    const start = tokens[at] as Token;
    try {
      const read = readCall(tokens, at);
      calls.push(read.call);
      at = read.next;
    } catch (error) {
      if (!(error instanceof NotLiteral)) throw error;
      const { line } = start;
      unread.push({ line, text: (lines[line - 1] ?? "").trim(), reason: error.message });
      // The next statement is the next name that begins a line.
      at += 1;
      while (at < tokens.length && !(tokens[at]?.first && tokens[at]?.kind === "name")) at += 1;
    }
  }
  return { calls, unread };
}

function readCall(tokens: readonly Token[], start: number): { call: Call; next: number } {
  let at = start;
  const sign = (value: string): boolean => {
    if (tokens[at]?.kind !== "sign" || tokens[at]?.value !== value) return false;
    at += 1;
    return true;
  };
  const literal = (depth: number): Literal => {
    const token = tokens[at];
    if (token === undefined) throw new NotLiteral("the file ends in the middle of it");
    if (token.kind === "text") {
      at += 1;
      return token.value;
    }
    if (token.kind === "number") {
      at += 1;
      return Number(token.value);
    }
    if (token.kind === "name" && CONSTANTS.has(token.value)) {
      at += 1;
      return CONSTANTS.get(token.value) as Literal;
    }
    if (!sign("[")) throw new NotLiteral(`${JSON.stringify(token.value)} is not a literal`);
    if (depth >= DEPTH_MAX) throw new NotLiteral("lists are too deep in one another");
    const items: Literal[] = [];
    while (!sign("]")) {
      items.push(literal(depth + 1));
      if (sign(",")) continue;
      if (sign("]")) break;
      throw new NotLiteral(
        `expected , or ] before ${JSON.stringify(tokens[at]?.value ?? "the end")}`,
      );
    }
    return items;
  };
  const name = tokens[at];
  at += 1;
  if (name?.first === false) throw new NotLiteral("only statements at the left margin are read");
  if (name?.kind !== "name" || !sign("("))
    throw new NotLiteral("only calls with literals are read");
  const named: Record<string, Literal> = {};
  while (!sign(")")) {
    const key = tokens[at];
    at += 1;
    if (key?.kind !== "name" || !sign("=")) throw new NotLiteral("arguments must be named");
    if (Object.hasOwn(named, key.value)) throw new NotLiteral(`${key.value} is given twice`);
    named[key.value] = literal(0);
    if (sign(",")) continue;
    if (sign(")")) break;
    throw new NotLiteral(
      `expected , or ) before ${JSON.stringify(tokens[at]?.value ?? "the end")}`,
    );
  }
  return { call: { line: name.line, name: name.value, named }, next: at };
}

const CONSTANTS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ["True", true],
  ["False", false],
  ["None", null],
]);

const TOKEN =
  /(?<space>[ \t\r\n]+|#[^\n]*|\\\n)|(?<raw>[rR]?)(?<quoted>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')|(?<name>[A-Za-z_]\w*)|(?<number>\d+)|(?<sign>[()[\],=])|(?<bad>[\s\S])/y;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let fresh = true;
  const pattern = new RegExp(TOKEN);
  for (let match = pattern.exec(text); match?.[0]; match = pattern.exec(text)) {
    const [whole] = match;
    const { space, raw, quoted, name, number, sign, bad } = match.groups ?? {};
    if (space === undefined) {
      const kind =
        quoted !== undefined
          ? "text"
          : name !== undefined
            ? "name"
            : number !== undefined
              ? "number"
              : sign !== undefined
                ? "sign"
                : "bad";
      const value =
        quoted === undefined ? (name ?? number ?? sign ?? bad ?? "") : decoded(quoted, raw !== "");
      tokens.push({ kind, value, line, first: fresh });
      fresh = false;
    } else fresh = space.endsWith("\n");
    line += whole.split("\n").length - 1;
  }
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

function decoded(quoted: string, raw: boolean): string {
  const width = /^(?:"""|''')/.test(quoted) ? 3 : 1;
  const inside = quoted.slice(width, -width);
  return raw ? inside : inside.replace(/\\([\s\S])/g, (_, char) => ESCAPES[char] ?? char);
}
