/** Builtins of the shell that only print, test and keep the shell's own state. */

import type { Word } from "../shell/segment.ts";
import { assigns, namesVariables } from "./assignments.ts";
import { type Draft, reads } from "./draft.ts";
import { mayBeOption } from "./options.ts";
import { describeTest } from "./shell-tests.ts";
import { type Form, given, textOf, type VerbSpec } from "./spec.ts";

/** `declare`, `local`, `export`: assignments with a value; what they mean to programs is judged with the environment. */
const declaring: Form = {
  help: "",
  flags: "-a -A -g -i -l -p -r -t -u -x -I",
  lifts: {
    "makes a name stand for another": "-n",
    "works on functions": "-f -F",
  },
  operands: "data",
  refine: (parsed, draft) => {
    if (given(parsed, "-p")) return;
    namesVariables(parsed.operands, parsed.form === "export" || given(parsed, "-x"), draft);
    // The value of an integer variable is evaluated, and a value in it may name another.
    if (given(parsed, "-i") && parsed.operands.some((word) => textOf(word)?.includes("=") ?? true))
      draft.lifts.push(`-i of ${parsed.form} evaluates its values`);
  },
};

/** Options of `set` that neither export, run nor change how text is read. */
const SET_LETTERS = /^[-+][eubfhvxCET]+$/;
const SET_NAMES = new Set(
  "errexit nounset pipefail xtrace verbose noglob noclobber errtrace functrace hashall interactive-comments ignoreeof nolog notify onecmd vi emacs".split(
    " ",
  ),
);

function describeSet(words: readonly Word[], draft: Draft): void {
  for (let i = 0; i < words.length; i += 1) {
    const text = textOf(words[i]);
    if (text === "--" || text === "-") return;
    if (text === null) {
      if (mayBeOption(words[i] as Word))
        draft.lifts.push(`${words[i]?.text} may be an option of set`);
      return;
    }
    if (!/^[-+]/.test(text)) return;
    if (/^[-+][eubfhvxCET]*o$/.test(text)) {
      i += 1;
      const name = textOf(words[i]);
      if (words[i] !== undefined && !SET_NAMES.has(name ?? ""))
        draft.lifts.push(`set -o ${words[i]?.text}`);
    } else if (!SET_LETTERS.test(text)) draft.lifts.push(`option ${text} of set`);
  }
}

/** The format of printf: `%n` sets a variable; without a known format that cannot be excluded. */
function describePrintf(words: readonly Word[], draft: Draft): void {
  let rest = words;
  if (textOf(rest[0]) === "-v") {
    namesVariables(rest.slice(1, 2), false, draft);
    rest = rest.slice(2);
  } else if (textOf(rest[0])?.startsWith("-v")) draft.lifts.push("attached option of printf");
  if (textOf(rest[0]) === "--") rest = rest.slice(1);
  const [format] = rest;
  if (format === undefined || format.value.kind === "number") return;
  const text = textOf(format);
  if (text === null) draft.lifts.push("the format of printf is not known");
  else if (/%[^%A-Za-z]*n/.test(text.replace(/%%/g, "")))
    draft.lifts.push("%n of printf sets a variable");
}

export const builtins: readonly VerbSpec[] = [
  {
    names: ["echo"],
    noOptions: true,
    operands: "data",
    anyArgs: true,
    examples: ["echo hello", "echo -n a b"],
  },
  {
    names: ["printf"],
    note: "a known format without %n",
    custom: describePrintf,
    examples: ["printf '%s\\n' a b", "printf %d 3"],
  },
  {
    names: ["true", "false", ":"],
    noOptions: true,
    operands: "data",
    anyArgs: true,
    help: "",
    examples: ["true", "false", ": words"],
  },
  {
    names: ["test", "[", "[["],
    note: "not -v of a subscript; numbers in [[ ]] must be plain",
    help: "",
    custom: describeTest,
    examples: [
      "test -f README.md",
      "[ -d src -a -n a ]",
      "[ a = b ]",
      "test README.md -nt src/a.ts",
    ],
  },
  {
    names: ["pwd"],
    flags: "-L -P",
    bare: "cwd",
    anyArgs: true,
    help: "",
    examples: ["pwd", "pwd -P"],
  },
  {
    names: ["type"],
    flags: "-a -f -p -P -t",
    operands: "data",
    anyArgs: true,
    help: "",
    examples: ["type ls", "type -a ls"],
  },
  { names: ["which"], flags: "-a -s", operands: "data", anyArgs: true, examples: ["which ls"] },
  {
    names: ["command"],
    note: "-v and -V; other forms are judged as the command they run",
    flags: "-v -V -p",
    strict: true,
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      if (!given(parsed, "-v -V") && parsed.operands.length > 0)
        draft.lifts.push("command runs its words");
    },
    examples: ["command -v ls", "command -V ls"],
  },
  {
    names: ["hash"],
    flags: "-l -t -r",
    lifts: { "gives a name another program": "-p=", "forgets a program": "-d" },
    operands: "data",
    help: "",
    examples: ["hash", "hash -r"],
  },
  {
    names: ["alias"],
    flags: "-p",
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      for (const word of parsed.operands)
        if (textOf(word)?.includes("=") ?? true)
          draft.lifts.push("alias gives a name another meaning");
    },
    examples: ["alias", "alias -p"],
  },
  {
    names: ["set"],
    note: "e, u, x, f, pipefail and positional words",
    help: "",
    custom: describeSet,
    examples: ["set -euo pipefail", "set +x"],
  },
  {
    names: ["shopt"],
    note: "-q and -p; -s only of nullglob, globstar, dotglob, failglob",
    flags: "-p -q -s -u",
    lifts: { "changes options of set": "-o" },
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      if (!given(parsed, "-s -u")) return;
      for (const word of parsed.operands)
        if (!["nullglob", "globstar", "dotglob", "failglob"].includes(textOf(word) ?? ""))
          draft.lifts.push(`shopt changes ${word.text}`);
    },
    examples: ["shopt", "shopt -s nullglob globstar"],
  },
  {
    ...declaring,
    names: ["declare", "typeset", "local"],
    examples: ["declare -a list", "declare -p HOME"],
  },
  { ...declaring, names: ["readonly"], examples: ["readonly a=1"] },
  {
    ...declaring,
    names: ["export"],
    flags: "-p",
    lifts: { "works on functions": "-f", "changes what programs see": "-n" },
    examples: ["export -p"],
  },
  {
    names: ["unset"],
    flags: "-v",
    lifts: { "works on functions": "-f", "works on a name that stands for another": "-n" },
    operands: "data",
    help: "",
    refine: (parsed, draft) => namesVariables(parsed.operands, false, draft),
    examples: ["unset a b"],
  },
  {
    names: ["read"],
    flags: "-r -s -e -i= -d= -n= -N= -p= -t= -u= -a=",
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      const arrays = parsed.options.flatMap(({ name, value }) =>
        name === "-a" && value !== null ? [value] : [],
      );
      namesVariables([...parsed.operands, ...arrays], false, draft);
    },
    examples: ["read -r line", "read -ra words"],
  },
  {
    names: ["mapfile", "readarray"],
    flags: "-d= -n= -O= -s= -t -u=",
    lifts: { "runs code": "-C= -c=" },
    operands: "data",
    help: "",
    refine: (parsed, draft) => namesVariables(parsed.operands, false, draft),
    examples: ["mapfile -t lines"],
  },
  {
    names: ["getopts"],
    operands: "data",
    help: "",
    refine: (parsed, draft) => namesVariables(parsed.operands.slice(1, 2), false, draft),
    examples: ["getopts ab: opt"],
  },
  {
    names: ["let"],
    note: "a number for a name",
    noOptions: true,
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      for (const word of parsed.operands) {
        const text = textOf(word);
        // What a name holds is evaluated in turn: not even `n++` is sure to be arithmetic only.
        if (text === null || !/^[A-Za-z_]\w*\s*=\s*\d+$/.test(text))
          draft.lifts.push(`let evaluates ${word.text}`);
        else assigns(draft, /^\w+/.exec(text)?.[0] ?? "", null, false);
      }
    },
    examples: ["let n=1"],
  },
  {
    names: ["shift", "exit", "return", "break", "continue"],
    noOptions: true,
    operands: "data",
    anyArgs: true,
    help: "",
    examples: ["exit 0"],
  },
  {
    names: ["times", "jobs", "dirs"],
    flags: "-l -n -p -r -s -c -v",
    operands: "data",
    help: "",
    examples: ["times", "jobs -l", "dirs"],
  },
  {
    names: ["bg", "fg", "disown", "suspend", "logout"],
    flags: "-a -f -h -r",
    class: "process",
    operands: "data",
    help: "",
    examples: [],
  },
  {
    names: ["wait"],
    flags: "-f -n -p=",
    operands: "data",
    help: "",
    examples: ["wait"],
    refine: (parsed, draft) => {
      if (given(parsed, "-p")) draft.lifts.push("-p of wait sets a variable");
    },
  },
  { names: ["sleep"], operands: "data", anyArgs: true, examples: ["sleep 0", "sleep 0.01s"] },
  {
    names: ["ulimit"],
    flags: "-S -H -a -b -c -d -e -f -i -k -l -m -n -p -q -r -s -t -u -v -x -P -R -T",
    operands: "none",
    help: "",
    examples: ["ulimit -a", "ulimit -n"],
  },
  { names: ["umask"], flags: "-p -S", operands: "none", help: "", examples: ["umask", "umask -S"] },
  {
    names: ["cd", "pushd", "popd"],
    note: "moves; the folder is judged with what follows",
    flags: "-L -P -e -@ -n",
    digits: true,
    anyArgs: true,
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      for (const word of parsed.operands)
        if (textOf(word) !== "-" && !/^\+\d+$/.test(textOf(word) ?? ""))
          reads(draft, word, "operand");
    },
    examples: ["cd src", "cd -P src"],
  },
  {
    names: ["trap"],
    note: "only without code; the code of a trap is judged as commands",
    flags: "-l -p",
    operands: "data",
    help: "",
    refine: (parsed, draft) => {
      const code = textOf(parsed.operands[0]);
      if (parsed.operands.length > 1 && code !== "" && code !== "-")
        draft.lifts.push("trap runs code later");
    },
    examples: ["trap -l", "trap - EXIT"],
  },
];
