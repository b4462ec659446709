/** Verbs whose first operand is a program of their own: sed, awk, jq, yq, xmllint. */

import type { Word } from "../shell/segment.ts";
import { awkProgram } from "./awk-program.ts";
import { type Draft, reads, writes } from "./draft.ts";
import { mayBeOption } from "./options.ts";
import { sedProgram } from "./sed-program.ts";
import { given, type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

const PROGRAM_FILE = "takes its program from a file";

/** Text of a program: sure, or sure but for its digits. */
function programText(word: Word): string | null {
  return word.value.kind === "number" ? (word.value.sample ?? null) : textOf(word);
}

/** Judges a program by `judge`; one that is not known lifts. */
function judgeProgram(
  draft: Draft,
  programs: readonly Word[],
  judge: (text: string) => { ok: true } | { ok: false; reason: string },
): void {
  const texts = programs.map(programText);
  if (!texts.every((text) => text !== null)) {
    draft.lifts.push(`the program of ${draft.form} is not known`);
    return;
  }
  const verdict = judge(texts.join("\n"));
  if (!verdict.ok) draft.lifts.push(`${draft.form}: ${verdict.reason}`);
}

/** The values of an option that gives program text, else the first operand. */
function programsOf(
  parsed: ParsedForm,
  names: string,
): { programs: Word[]; operands: readonly Word[] } {
  const wanted = names.split(" ");
  const programs = parsed.options.flatMap(({ name, value }) =>
    wanted.includes(name) && value !== null ? [value] : [],
  );
  if (programs.length > 0 || given(parsed, "-f --file"))
    return { programs, operands: parsed.operands };
  return { programs: parsed.operands.slice(0, 1), operands: parsed.operands.slice(1) };
}

function refineSed(parsed: ParsedForm, draft: Draft): void {
  const { programs, operands } = programsOf(parsed, "-e --expression");
  if (!given(parsed, "-f --file")) judgeProgram(draft, programs, sedProgram);
  const inPlace = parsed.options.filter(({ name }) => name === "-i" || name === "--in-place");
  for (const { value } of inPlace) {
    const suffix = value === null ? "" : textOf(value);
    if (suffix === null || /[/*]/.test(suffix))
      draft.lifts.push("sed -i keeps its copy in another folder");
  }
  if (given(parsed, "--follow-symlinks") && inPlace.length > 0)
    draft.lifts.push("sed -i --follow-symlinks writes where links lead");
  for (const path of operands) {
    reads(draft, path, "operand");
    if (inPlace.length > 0) writes(draft, path, "-i");
  }
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

function refineAwk(parsed: ParsedForm, draft: Draft): void {
  const [program, ...operands] = parsed.operands;
  judgeProgram(draft, program === undefined ? [] : [program], awkProgram);
  for (const path of operands) {
    if (!ASSIGNMENT.test(textOf(path) ?? "")) reads(draft, path, "operand");
  }
}

/** jq reads other files only by its modules; yq by `load`. Comments and strings may hold the words too: they lift. */
function jqProgram(text: string): { ok: true } | { ok: false; reason: string } {
  const word =
    /\b(import|include|modulemeta|load\w*|strload\w*|eval|system|exec|input_filename)\b/.exec(
      text,
    )?.[1];
  if (word === undefined || word === "input_filename") return { ok: true };
  return { ok: false, reason: `its program says \`${word}\`, which can reach other files` };
}

/** Options of jq that name a variable and give its value, and what that value is. */
const JQ_PAIRS: Readonly<Record<string, "data" | "read">> = {
  "--arg": "data",
  "--argjson": "data",
  "--slurpfile": "read",
  "--rawfile": "read",
  "--argfile": "read",
};

const JQ_FLAGS = new Set(
  (
    "--compact-output --null-input --exit-status --slurp --raw-output --raw-output0 --raw-input --color-output " +
    "--monochrome-output --sort-keys --tab --ascii-output --join-output --unbuffered --stream --stream-errors --seq " +
    "--help --version --build-configuration"
  ).split(" "),
);

/** jq's own grammar: pairs after `--arg`, the filter is the first operand, `--args` makes the rest text. */
function describeJq(words: readonly Word[], draft: Draft): void {
  let program: Word | null = null;
  let rest: "read" | "data" = "read";
  let ended = false;
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] as Word;
    const text = textOf(word);
    const pair = text === null || ended ? undefined : JQ_PAIRS[text];
    if (
      ended ||
      (text !== null && !text.startsWith("-")) ||
      text === "-" ||
      word.value.kind === "number"
    ) {
      if (program === null) program = word;
      else if (rest === "read") reads(draft, word, "operand");
    } else if (text === null) {
      if (mayBeOption(word)) draft.lifts.push(`${word.text} may be an option of ${draft.form}`);
      if (program === null) program = word;
      else if (rest === "read") reads(draft, word, "operand");
    } else if (text === "--") ended = true;
    else if (pair !== undefined) {
      const value = words[i + 2];
      if (pair === "read" && value !== undefined) reads(draft, value, text);
      i += 2;
    } else if (text === "--args" || text === "--jsonargs") rest = "data";
    else if (text === "--indent") i += 1;
    else if (!JQ_FLAGS.has(text) && !/^-[acehjnrsCMRSV]+$/.test(text))
      draft.lifts.push(`option ${text} of ${draft.form}`);
  }
  if (program !== null) judgeProgram(draft, [program], jqProgram);
}

export const programs: readonly VerbSpec[] = [
  {
    names: ["sed", "gsed"],
    note: "only scripts that edit text",
    flags:
      "-n --quiet --silent --debug -e= --expression= --follow-symlinks -i=? --in-place=? -l= --line-length= --posix -E -r --regexp-extended -s --separate --sandbox -u --unbuffered -z --null-data",
    lifts: { [PROGRAM_FILE]: "-f= --file=" },
    operands: "data",
    refine: refineSed,
    examples: [
      "sed -n 1,5p README.md",
      "sed -n '/a/,/b/p' README.md",
      "sed -e s/a/b/ -e '$d' README.md",
      "sed -E 's/(a+)/[\\1]/g' README.md",
    ],
  },
  {
    names: ["awk", "gawk", "mawk", "nawk", "original-awk"],
    note: "only programs that print to standard output",
    flags:
      "-F= --field-separator= -v= --assign= -b --characters-as-bytes -c --traditional -k --csv -n --non-decimal-data -N --use-lc-numeric -O --optimize -s --no-optimize -S --sandbox -t --lint-old -L=? --lint=? -M --bignum -P --posix -r --re-interval",
    lifts: {
      [PROGRAM_FILE]: "-f= --file= -E= --exec= -e= --source=",
      "loads code": "-i= --include= -l= --load=",
      "writes a file": "-d=? --dump-variables=? -o=? --pretty-print=? -p=? --profile=?",
      "starts a debugger": "-D=? --debug=?",
      "means another thing to each awk": "-W= -h -V -C -g -I",
    },
    strict: true,
    operands: "data",
    refine: refineAwk,
    examples: [
      "awk '{print $1}' README.md",
      "awk -F: -v n=2 'NR==n {print $1}' README.md",
      "awk 'END {print NR}' README.md",
    ],
  },
  {
    names: ["jq", "gojq", "jaq"],
    note: "filters without import, include and -f",
    custom: describeJq,
    help: "--help -h --version -V --build-configuration",
    examples: [
      "jq . package.json",
      "jq -r '.name' package.json",
      "jq -n --arg a 1 '$a'",
      "jq 'keys[]' package.json",
    ],
  },
  {
    names: ["yq"],
    note: "expressions without load; -s splits into files in one of its versions",
    flags:
      "-c -e --exit-status -r --raw-output -R --raw-input -C --colors -M --no-colors -S --sort-keys -n --null-input -N --no-doc -P --prettyPrint -j --tojson -0 --nul-output -v --verbose -y --yaml-output -Y --yaml-roundtrip -p= --input-format= -o= --output-format= -I= --indent= --width= -w= --indentless-lists --unwrapScalar=? --xml-attribute-prefix= --xml-content-name= --csv-auto-parse --csv-separator= --header-preprocess=? -i --in-place --inplace -h -V",
    lifts: {
      "splits into files, or reads them all": "-s= --split-exp= --slurp",
      [PROGRAM_FILE]: "-f= --from-file= --split-exp-file= --front-matter=",
    },
    operands: "data",
    refine: (parsed, draft) => {
      const first = textOf(parsed.operands[0]);
      const named = first === "e" || first === "eval" || first === "ea" || first === "eval-all";
      const [program, ...files] = named ? parsed.operands.slice(1) : parsed.operands;
      judgeProgram(draft, program === undefined ? [] : [program], jqProgram);
      for (const path of files) {
        reads(draft, path, "operand");
        if (given(parsed, "-i --in-place --inplace")) writes(draft, path, "-i");
      }
      // `yq file` alone is a filter in one version and a file in the other.
      if (program !== undefined && files.length === 0) reads(draft, program, "operand");
    },
    examples: ["yq .name package.json", "yq -r .version package.json"],
  },
  {
    names: ["xmllint"],
    note: "without network; nothing that saves, loads or includes",
    flags:
      "-auto --auto -compress --compress -copy --copy -debug --debug -debugent --debugent -dropdtd --dropdtd -encode= --encode= -format --format -html --html -htmlout --htmlout -huge --huge -maxmem= --maxmem= -memory --memory -noblanks --noblanks -nocatalogs --nocatalogs -nocdata --nocdata -nocompact --nocompact -nodefdtd --nodefdtd -nodict --nodict -noenc --noenc -nonet --nonet -noout --noout -nowarning --nowarning -nowrap --nowrap -nsclean --nsclean -oldxml10 --oldxml10 -pattern= --pattern= -pedantic --pedantic -pretty= --pretty= -push --push -quiet --quiet -recover --recover -repeat --repeat -sax1 --sax1 -stream --stream -testIO --testIO -timing --timing -version --version -walker --walker -xmlout --xmlout -xpath= --xpath=",
    writes: "-o= -output= --output=",
    lifts: {
      "is a shell": "-shell --shell",
      "loads what the document names":
        "-c14n --c14n -c14n11 --c14n11 -exc-c14n --exc-c14n -noent --noent -relaxng= --relaxng= -schema= --schema= -schematron= --schematron= -dtdvalid= --dtdvalid= -xinclude --xinclude -noxincludenode --noxincludenode -nofixup-base-uris --nofixup-base-uris -catalogs --catalogs -loaddtd --loaddtd -dtdattr --dtdattr -insert --insert -valid --valid -postvalid --postvalid -dtdvalidfpi= --dtdvalidfpi= -load-trace --load-trace -path= --path=",
    },
    oneDash: true,
    operands: "read",
    refine: (parsed, draft) => {
      for (const word of parsed.operands)
        if (/^[a-z]+:\/\//i.test(textOf(word) ?? ""))
          draft.lifts.push(`${word.text} is an address`);
    },
    examples: [
      "xmllint --noout a.xml",
      "xmllint --format --nonet a.xml",
      "xmllint --xpath //b a.xml",
    ],
  },
];
