/** Reads a GNU sed script whole and says whether it only edits text: no program run, no file written or read. */

export type SedProgram = { readonly ok: true } | { readonly ok: false; readonly reason: string };

class Refusal extends Error {}

function refuse(reason: string): never {
  throw new Refusal(reason);
}

/** Commands that take nothing but an end. */
const PLAIN = "=dDFgGhHnNpPxz";
/** Commands with an optional number. */
const NUMBERED = "lqQ";
/** Commands with an optional word: a label, or the version that `v` asks for. */
const LABELLED = "btTv";
/**
 * A bracket expression, in the shape that every sed closes at the same place; newer ones let the delimiter stand
 * inside, older ones refuse it there as an unclosed bracket.
 */
const BRACKET = /\[\^?\]?(?:[^\\\][\n]|\\(?!\[[:.=])[^\]\n]|\[(?![:.=])|\[:[a-z]+:\])*\]/y;
/** `w` to one of these is only output. The name reaches to the end of the line, so it must be exactly this. */
const OUTPUT_FILES = ["/dev/stdout", "/dev/stderr"];

/**
 * Judges the text of one script; several `-e` are joined by newlines first, as sed does. Fails closed: what is not
 * surely an editing command is refused, including spellings GNU sed would accept (letters or blanks as delimiters).
 * Where versions of sed differ, text ends at the earliest place any of them could end it, so that nothing that one
 * of them would run is taken for text.
 */
export function sedProgram(script: string): SedProgram {
  try {
    new Script(script).commands();
    return { ok: true };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

class Script {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  commands(): void {
    if (/[\0\r]/.test(this.text)) refuse("sed script has a control character");
    let depth = 0;
    for (;;) {
      this.skip(/[;\s]*/y);
      if (this.ended()) break;
      if (this.peek() === "#") {
        this.skip(/[^\n]*/y);
        continue;
      }
      const addressed = this.addresses();
      const command = this.next();
      if (command === "{") depth++;
      else if (command === "}") {
        if (addressed || depth-- === 0) refuse("sed script has a stray }");
        this.end();
      } else this.command(command, addressed);
    }
    if (depth > 0) refuse("sed script has an unclosed {");
  }

  private command(command: string, addressed: boolean): void {
    if (NUMBERED.includes(command)) this.skip(/[ \t]*[0-9]*/y);
    else if (command === ":") {
      if (addressed) refuse("sed label has an address");
      this.take(/[ \t]*[\w.-]+/y, "sed label is not a plain word");
    } else if (LABELLED.includes(command)) this.skip(/[ \t]*[\w.-]*/y);
    else if (command === "s") this.substitution();
    else if (command === "y") this.pair(false);
    else if ("aic".includes(command)) this.textBlock();
    else if ("wW".includes(command)) this.outputFile();
    else if ("rR".includes(command)) refuse(`sed \`${command}\` reads another file`);
    else if (command === "e") refuse("sed `e` runs a program");
    else if (!PLAIN.includes(command))
      refuse(`sed command ${JSON.stringify(command)} is not known`);
    this.end();
  }

  /** Up to two addresses and `!`. True when there was any. */
  private addresses(): boolean {
    const first = this.address(false);
    if (first) {
      this.skip(/[ \t]*/y);
      if (this.peek() === ",") {
        this.at++;
        this.skip(/[ \t]*/y);
        if (!this.address(true)) refuse("sed address range is not complete");
        this.skip(/[ \t]*/y);
      }
    }
    if (this.peek() === "!") {
      this.at++;
      this.skip(/[ \t]*/y);
    }
    return first;
  }

  private address(second: boolean): boolean {
    const head = this.peek();
    if (head === "/" || head === "\\") {
      this.at++;
      this.delimited(head === "/" ? "/" : this.delimiter(), true);
      this.skip(/[ \tIM]*/y);
      return true;
    }
    if (head === "$") {
      this.at++;
      return true;
    }
    return this.skip(
      second ? /(?:[+~][ \t]*)?[0-9]+(?:[ \t]*~[ \t]*[0-9]+)?/y : /[0-9]+(?:[ \t]*~[ \t]*[0-9]+)?/y,
    );
  }

  private substitution(): void {
    this.pair(true);
    this.skip(/[gpiImM0-9 \t]*/y);
    if (this.peek() === "e") refuse("sed `s///e` runs a program");
    if (this.peek() === "w") {
      this.at++;
      this.outputFile();
    }
  }

  /** Text of a, i and c: to the first newline without a backslash. */
  private textBlock(): void {
    this.skip(/[ \t]*(?:\\(?:\n|[ \t]*))?/y);
    if (this.peek() === "\\") refuse("sed text begins with a backslash");
    this.take(/(?:[^\\\n]|\\[\s\S])+/y, "sed text is empty");
    if (this.peek() === "\\") refuse("sed text ends in a backslash");
  }

  private outputFile(): void {
    this.skip(/[ \t]*/y);
    const end = this.text.indexOf("\n", this.at);
    const file = this.text.slice(this.at, end === -1 ? undefined : end);
    if (!OUTPUT_FILES.includes(file)) refuse(`sed \`w\` writes ${file || "a file"}`);
    this.at += file.length;
  }

  /** Two texts between three delimiters: of `s` and of `y`. */
  private pair(regex: boolean): void {
    const delimiter = this.delimiter();
    this.delimited(delimiter, regex);
    this.delimited(delimiter, false);
  }

  /** The rest of a regular expression, of a replacement or of a list of `y`. */
  private delimited(delimiter: string, regex: boolean): void {
    for (;;) {
      if (regex && this.peek() === "[") this.take(BRACKET, "sed bracket can be read in two ways");
      const char = this.next();
      if (char === delimiter) return;
      if (char === "\n") refuse("sed expression has a line break");
      if (char === "\\") this.next();
      else if (char === "[" && regex) this.at--;
    }
  }

  private delimiter(): string {
    const delimiter = this.next();
    if (!/[-!"#%&',/:;=@_`|~+<>]/.test(delimiter))
      refuse("sed delimiter is not common punctuation");
    return delimiter;
  }

  private end(): void {
    this.skip(/[ \t]*/y);
    if (!this.ended() && !";\n}#".includes(this.peek())) {
      refuse(`sed script has ${JSON.stringify(this.peek())} where a command should end`);
    }
  }

  private ended(): boolean {
    return this.at >= this.text.length;
  }

  private peek(): string {
    return this.text.charAt(this.at);
  }

  private next(): string {
    if (this.ended()) refuse("sed script ends too early");
    return this.text.charAt(this.at++);
  }

  /** Advances over a sticky pattern; true when it matched something. */
  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.text)?.[0].length ?? 0;
    this.at += length;
    return length > 0;
  }

  private take(pattern: RegExp, otherwise: string): void {
    if (!this.skip(pattern)) refuse(otherwise);
  }
}
