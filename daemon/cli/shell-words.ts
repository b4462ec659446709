/** The words a shell is called with, read as bash reads them, and the command line that they come to. */

/** What a call of the shell asks for. */
export type ShellCall =
  /** `-c CODE [NAME ARGS…]` */
  | ({ readonly kind: "code"; readonly code: string; readonly name: string | null } & Given)
  /** `FILE [ARGS…]` */
  | ({ readonly kind: "file"; readonly file: string } & Given)
  /** Code on standard input, or typed by a person. */
  | ({ readonly kind: "stdin"; readonly interactive: boolean } & Given)
  | { readonly kind: "help" | "version" }
  /** Exit code 2, as of a shell that does not know an option. */
  | { readonly kind: "wrong"; readonly message: string };

interface Given {
  /** For the bash that runs the code: those that it was called with and that change how code runs. */
  readonly options: readonly string[];
  readonly args: readonly string[];
}

/** Options that change how code runs and not how it is read, so that the policy sees the same with and without them. */
const LETTERS: Readonly<Record<string, string>> = {
  allexport: "a",
  errexit: "e",
  errtrace: "E",
  functrace: "T",
  monitor: "m",
  noclobber: "C",
  noglob: "f",
  nounset: "u",
  pipefail: "o pipefail",
  verbose: "v",
  xtrace: "x",
};
/** What these ask for is so anyway in a bash that runs code: no start-up file is read either. */
const NEEDLESS: ReadonlySet<string> = new Set(
  "-i -l -b -B -h +i +l +b +H +k +n +p -obraceexpand -ohashall -ointeractive-comments +ohistexpand +ohistory +oposix".split(
    " ",
  ),
);
const NEEDLESS_LONG = /^--(?:login|noediting|noprofile|norc)$/;

/** Never throws. */
export function parseShellWords(words: readonly string[]): ShellCall {
  const on = new Set<string>();
  const asked = { code: false, stdin: false, interactive: false };
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] as string;
    if (word === "--" || word === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(word)) break;
    if (word === "--help") return { kind: "help" };
    if (word === "--version") return { kind: "version" };
    if (NEEDLESS_LONG.test(word)) continue;
    if (word.startsWith("--")) return wrong(word);
    for (const letter of word.slice(1)) {
      const option = word[0] + letter;
      if (option === "-c") asked.code = true;
      else if (option === "-s") asked.stdin = true;
      else if (option === "-i") asked.interactive = true;
      else {
        const name = letter === "o" ? words[++at] : letter;
        if (name === undefined) return wrong(option, "needs the name of an option");
        const set = letter === "o" ? LETTERS[name] : name;
        if (set !== undefined && Object.values(LETTERS).includes(set)) {
          if (option.startsWith("-")) on.add(set);
          else on.delete(set);
        } else if (!NEEDLESS.has(letter === "o" ? option + name : option)) {
          return wrong(letter === "o" ? `${option} ${name}` : option);
        }
      }
    }
  }
  const options = [...on].flatMap((option) => `-${option}`.split(" "));
  const [first, ...rest] = words.slice(at);
  if (asked.code) {
    if (first === undefined) return wrong("-c", "needs a command");
    const [name = null, ...args] = rest;
    return { kind: "code", code: first, name, options, args };
  }
  if (asked.stdin || first === undefined) {
    const args = first === undefined ? [] : [first, ...rest];
    return { kind: "stdin", interactive: asked.interactive, options, args };
  }
  return { kind: "file", file: first, options, args: rest };
}

function wrong(option: string, message = "is not an option that recinto-sh takes"): ShellCall {
  return { kind: "wrong", message: `${option}: ${message}` };
}

/**
 * The command line for the daemon: the code as it stands, or, where there are options or arguments, a bash that has them,
 * which the policy looks into. `quote` makes one line of words.
 */
export function commandLine(
  { options, args }: Given,
  code: string,
  name: string | null,
  quote: (words: readonly string[]) => string,
): string {
  if (options.length === 0 && name === null && args.length === 0) return code;
  // Without a name it is called what it is called where nothing is wrapped.
  return quote(["bash", ...options, "-c", code, name ?? "/bin/bash", ...args]);
}
