/** Command lines that need no shell: the words of one external program, where bash would do nothing but run it. Pure. */

/** Bash has uses of its own for some of them, inside of quotes too. */
const CONTROLS = String.raw`\0-\x08\x0b-\x1f\x7f`;
/** Characters that mean themselves in every place of a word; quotes with nothing in them that bash would look at. */
const WORD = String.raw`(?:[A-Za-z0-9_./:@%+,=-]|'[^'${CONTROLS}]*'|"[^"$\x60\\!${CONTROLS}]*")+`;
const PLAIN = new RegExp(`^ *([A-Za-z0-9_.+-]+)((?: +${WORD})*) *$`);
const WORDS = new RegExp(WORD, "g");

/** Bash runs these itself, or reads them as syntax. */
const OF_BASH: ReadonlySet<string> = new Set(
  `. alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable
   eval exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read
   readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias unset wait
   case coproc do done elif else esac fi for function if in select then time until while`.split(
    /\s+/,
  ),
);

/** Builtins whose program of the same name does the same, where they have no arguments. */
const TWINS: ReadonlySet<string> = new Set(["true", "false"]);

/** Programs that print their variables: bash passes the same ones in an order of its own. */
const SHOW_VARIABLES: ReadonlySet<string> = new Set(["env", "printenv"]);

/**
 * The words that `bash -c command` would run one program with, or null where bash has something to do: expansions,
 * redirections, assignments, operators, builtins. Narrow on purpose: what is not surely plain goes to bash.
 */
export function plainWords(command: string): readonly string[] | null {
  const match = PLAIN.exec(command);
  if (match === null) return null;
  const [, name = "", rest = ""] = match;
  if (OF_BASH.has(name) || SHOW_VARIABLES.has(name)) return null;
  if (TWINS.has(name)) return rest === "" ? [name] : null;
  const words = rest.match(WORDS) ?? [];
  return [name, ...words.map(unquoted)];
}

function unquoted(word: string): string {
  return word.replace(/'([^']*)'|"([^"]*)"/g, (_, single = "", double = "") => single + double);
}
