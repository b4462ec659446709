/** Reads an awk program and says whether it only computes and prints: no program run, no file opened but its operands. */

export type AwkProgram = { readonly ok: true } | { readonly ok: false; readonly reason: string };

type Kind = "name" | "call" | "number" | "string" | "regex" | "newline" | "mark" | "end";
interface Token {
  readonly kind: Kind;
  readonly text: string;
}

const KEYWORDS = new Set(
  (
    "BEGIN END BEGINFILE ENDFILE function func if else while for do break continue next nextfile exit return delete in " +
    "print printf switch case default"
  ).split(" "),
);
/** Keywords after which an expression begins, so that `/` begins a regular expression. */
const BEFORE_EXPRESSION = new Set("else do return in print printf case exit".split(" "));
const HEADERS = new Set(["if", "while", "for", "switch"]);
/** Functions of POSIX awk, gawk and mawk that neither run nor open anything. `system` and `extension` are not here. */
const BUILTINS = new Set(
  (
    "length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper close " +
    "fflush gensub patsplit asort asorti strftime systime mktime strtonum and or xor lshift rshift compl isarray typeof"
  ).split(" "),
);
/** Naming these can make awk open files that are not operands. */
const REFUSED_NAMES = new Map([
  ["system", "awk `system` runs a program"],
  ["extension", "awk `extension` loads code"],
  ["ARGV", "awk can add files to read through ARGV"],
  ["ARGC", "awk can add files to read through ARGC"],
  ["bindtextdomain", "awk can read message catalogues of another folder"],
]);
const OUTPUT_FILES = new Set(['"/dev/stdout"', '"/dev/stderr"']);
const MARKS = /\*\*=|&&|\|\||\|&|>>|[-+*/%^!=<>]=|\*\*|\+\+|--|!~|[-{}()[\];,+*/%^!<>|?:~$=]/y;
const NUMBER = /(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const BLANK = /(?:[ \t]|\\\n|#[^\n]*)+/y;
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
/** Brackets are accepted only in the shape that every awk reads alike: no `[`, `]` or `/` inside but `[:class:]`. */
const REGEX = /\/(?:[^\\/[\n]|\\[^\n]|\[\^?(?:[^\\\]/[\n]|\\[^\]\n]|\[:[a-z]+:\])+\])*\//y;

class Refusal extends Error {}

function refuse(reason: string): never {
  throw new Refusal(reason);
}

/**
 * Judges one program text. Fails closed: wherever awks differ or the grammar is needed to tell a division from a
 * regular expression, the program is refused. Redirects to standard output and error are the only ones that pass.
 */
export function awkProgram(text: string): AwkProgram {
  try {
    judge(tokens(text));
    return { ok: true };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function tokens(text: string): readonly Token[] {
  const found: Token[] = [];
  /** For each open parenthesis: whether it is the header of `if`, `while`, `for` or `switch`. */
  const parens: boolean[] = [];
  let afterHeader = false;
  let at = 0;
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    at += match?.length ?? 0;
    return match;
  };
  const push = (kind: Kind, token: string) => found.push({ kind, text: token });
  for (;;) {
    read(BLANK);
    const char = text.charAt(at);
    if (char === "") break;
    const previous = found.at(-1);
    if (char === "\n") {
      at++;
      push("newline", char);
    } else if (char === '"') {
      push("string", read(STRING) ?? refuse("awk string is not closed on its line"));
    } else if (char === "/" && beginsRegex(previous, afterHeader)) {
      push("regex", read(REGEX) ?? refuse("awk regular expression can be read in two ways"));
    } else {
      const number = read(NUMBER);
      const name = number === undefined ? read(NAME) : undefined;
      if (number !== undefined) push("number", number);
      else if (name !== undefined) push(text.charAt(at) === "(" ? "call" : "name", name);
      else {
        const mark = read(MARKS) ?? refuse(`awk has ${JSON.stringify(char)}, which is not known`);
        if (mark === "(") parens.push(previous !== undefined && HEADERS.has(previous.text));
        afterHeader = mark === ")" && (parens.pop() ?? false);
        push("mark", mark);
        continue;
      }
    }
    afterHeader = false;
  }
  push("end", "");
  return found;
}

/** Whether a `/` here begins a regular expression; refuses where only the grammar could tell. */
function beginsRegex(previous: Token | undefined, afterHeader: boolean): boolean {
  if (previous === undefined || previous.kind === "newline") return true;
  if (afterHeader) refuse("awk has a / after a condition, which can be read in two ways");
  if (previous.kind === "name" || previous.kind === "call") {
    if (BEFORE_EXPRESSION.has(previous.text)) return true;
    if (KEYWORDS.has(previous.text) || BUILTINS.has(previous.text) || previous.text === "getline") {
      refuse(`awk has a / after ${previous.text}, which can be read in two ways`);
    }
    return false;
  }
  if (["++", "--", "$"].includes(previous.text)) {
    refuse(`awk has a / after ${previous.text}, which can be read in two ways`);
  }
  if (previous.kind === "mark") return previous.text !== ")" && previous.text !== "]";
  return false;
}

function judge(program: readonly Token[]): void {
  const defined = new Set<string>();
  for (const [i, { text }] of program.entries()) {
    if (text === "function" || text === "func") defined.add(program[i + 1]?.text ?? "");
  }
  let braces = 0;
  let parens = 0;
  for (const [i, token] of program.entries()) {
    if (token.kind === "name" || token.kind === "call") name(token, program, i, defined);
    if (token.kind !== "mark") continue;
    if (token.text === "{") braces++;
    else if (token.text === "}") braces--;
    else if (token.text === "(") parens++;
    else if (token.text === ")") parens--;
    else if (token.text === "|" || token.text === "|&") refuse("awk pipe runs a program");
    else if (token.text === ">>" || (token.text === ">" && parens === 0 && braces > 0)) {
      redirect(program[i + 1], program[i + 2]);
    }
    if (braces < 0 || parens < 0) refuse("awk program has a bracket too many");
  }
  if (braces !== 0 || parens !== 0) refuse("awk program has an unclosed bracket");
}

function name(token: Token, program: readonly Token[], i: number, defined: Set<string>): void {
  const refused = REFUSED_NAMES.get(token.text);
  if (refused !== undefined) refuse(refused);
  if (token.text === "getline") getline(program, i);
  // A known name with a parenthesis after it is a call; `name (` with a blank is only that for built-in functions.
  if (
    token.kind === "call" &&
    !KEYWORDS.has(token.text) &&
    !BUILTINS.has(token.text) &&
    !defined.has(token.text)
  ) {
    refuse(`awk function ${token.text} is not known`);
  }
}

/** A `getline` from the operands passes; any `<` in the rest of its expression could name another file. */
function getline(program: readonly Token[], start: number): void {
  let depth = 0;
  for (const [i, { kind, text }] of program.slice(start).entries()) {
    if (text === "<") refuse("awk `getline <` reads another file");
    if (text === "(" || text === "[") depth++;
    else if (text === ")" || text === "]") depth--;
    const closed = depth < 0 && program[start + i + 1]?.text !== "<";
    if (closed || [";", "{", "}"].includes(text) || kind === "end") return;
  }
}

function redirect(target: Token | undefined, after: Token | undefined): void {
  const ends =
    after === undefined ||
    after.kind === "newline" ||
    after.kind === "end" ||
    [";", "}"].includes(after.text);
  if (target?.kind !== "string" || !OUTPUT_FILES.has(target.text) || !ends) {
    refuse("awk output redirect writes a file");
  }
}
