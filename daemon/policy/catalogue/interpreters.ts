/** Interpreters: what they are given is run, save for the forms that only look at a program or test it. */

import type { Word } from "../shell/segment.ts";
import { judgeArguments } from "./arguments.ts";
import { build, SERVES } from "./build-form.ts";
import { type Draft, reads, runs, under, use } from "./draft.ts";
import { applyForm } from "./form.ts";
import { parseOptions } from "./options.ts";
import { pythonModules, pythonTools } from "./python-tools.ts";
import {
  type Form,
  given,
  type HookContext,
  optionTable,
  type ParsedForm,
  textOf,
  type VerbSpec,
} from "./spec.ts";

const HERE = { cwd: true, tree: true } as const;

/** Reads the interpreter's own options, up to the program; answers them and the words that are left. */
function own(form: Form, words: readonly Word[], draft: Draft): ParsedForm {
  const parsed = parseOptions(words, {
    table: optionTable(form),
    digits: false,
    strict: true,
    oneDash: form.oneDash ?? false,
    anyArgs: false,
  });
  for (const problem of parsed.problems) draft.lifts.push(`${problem} of ${draft.form}`);
  for (const { name, value, def } of parsed.options) {
    if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
    else if (value !== null && def.role === "code") loads(draft, value, name);
    else if (value !== null && def.role === "read") reads(draft, value, name);
  }
  return { form: draft.form, options: parsed.options, operands: parsed.operands };
}

/** A module by its path is code; by its bare name it is looked up in the project's packages. */
function loads(draft: Draft, word: Word, via: string): void {
  const text = textOf(word);
  if (/^\w+:/.test(text ?? "")) draft.lifts.push(`${via} of ${draft.form} names code by a URL`);
  else if (text === null || /^[./~]|\.[cm]?[jt]s$/.test(text)) runs(draft, word, via);
}

/** Runs the file that comes first, or what comes on standard input; the rest is for the program. */
function runsProgram(operands: readonly Word[], draft: Draft): void {
  const [program, ...rest] = operands;
  use(draft, "run", draft.form, HERE);
  if (program !== undefined && textOf(program) !== "-") runs(draft, program, "program");
  judgeArguments(rest, draft);
}

const python: Form = {
  flags: "-B -b -d -E -i -I -O -P -q -s -S -u -v -x -W= -X= -c= -m= --check-hash-based-pycs=",
  help: "--version -V -VV --help -h",
};
const pythonNames = new Set(pythonTools.flatMap(({ names }) => names));
/** Modules that install or make environments. */
const INSTALLING = new Set([
  "pip",
  "ensurepip",
  "venv",
  "virtualenv",
  "pipx",
  "uv",
  "poetry",
  "build",
  "conda",
]);

/** `-c` and `-m` end the options: what follows is for the code. */
function describePython(words: readonly Word[], draft: Draft, context: HookContext): void {
  const ends = words.findIndex((word) => /^-[BbdEiIOPqsSuvx]*[cm]/.test(textOf(word) ?? ""));
  const program = words.findIndex((word, at) => {
    const text = textOf(word);
    const valued = /^-[BbdEiIOPqsSuvx]*[WX]$/.test(textOf(words[at - 1]) ?? "");
    return !valued && (text === null || text === "-" || !text.startsWith("-"));
  });
  if (ends < 0 || (program >= 0 && program < ends)) {
    settings(own(python, words, draft), draft, (operands) => runsProgram(operands, draft));
    return;
  }
  const [, letter = "c", attached = ""] =
    /^-[BbdEiIOPqsSuvx]*([cm])(.*)$/s.exec(textOf(words[ends]) ?? "") ?? [];
  settings(own(python, words.slice(0, ends), draft), draft, () => {});
  const value = attached === "" ? words[ends + 1] : undefined;
  const rest = words.slice(ends + (attached === "" ? 2 : 1));
  if (letter === "c") {
    use(draft, "run", draft.form, HERE);
    judgeArguments(rest, draft);
  } else pythonModule(attached === "" ? textOf(value) : attached, rest, draft, context);
}

function settings(
  parsed: ParsedForm,
  draft: Draft,
  then: (operands: readonly Word[]) => void,
): void {
  for (const { name, value } of parsed.options) {
    const text = textOf(value) ?? "?";
    const plain =
      name === "-X"
        ? /^(?:dev|utf8(?:=[01])?|importtime|faulthandler|tracemalloc(?:=\d+)?|int_max_str_digits=\d+)$/
        : /^\w*(?::[^:.]*){0,2}$/;
    if ((name === "-X" || name === "-W") && !plain.test(text))
      draft.lifts.push(`${name} of ${draft.form} can load code or write elsewhere`);
  }
  then(parsed.operands);
}

/** Applies a form to arguments of a program that the project itself can replace: at least a build. */
function asBuild(form: Form, words: readonly Word[], draft: Draft, context: HookContext): void {
  use(draft, "build", draft.form, HERE);
  applyForm(form, words, draft, context);
}

function pythonModule(
  name: string | null,
  rest: readonly Word[],
  draft: Draft,
  context: HookContext,
): void {
  draft.form = `${draft.form} -m ${name ?? "?"}`;
  const form =
    pythonModules[name ?? ""] ??
    (pythonNames.has(name ?? "") ? context.catalogue.get(name ?? "") : undefined);
  if (name !== null && INSTALLING.has(name)) {
    const spec = context.catalogue.get(name);
    use(draft, "build", draft.form, HERE);
    if (spec === undefined) use(draft, "install", draft.form, HERE);
    else applyForm(spec, rest, draft, context);
  } else if (form === undefined) {
    use(draft, "run", draft.form, HERE);
    judgeArguments(rest, draft);
  } else
    asBuild(
      form,
      name === "unittest" && textOf(rest[0]) === "discover" ? rest.slice(1) : rest,
      draft,
      context,
    );
}

const EXPERIMENTS =
  "--experimental-vm-modules --experimental-strip-types --experimental-transform-types --experimental-specifier-resolution= " +
  "--experimental-test-coverage --experimental-test-module-mocks --experimental-sqlite --experimental-json-modules " +
  "--experimental-default-type= --experimental-fetch --experimental-permission --permission --no-experimental-strip-types " +
  "--no-experimental-fetch --experimental-websocket --experimental-require-module --experimental-import-meta-resolve";
const node: Form = {
  flags:
    "-c --check --test -e= --eval= -p= --print= -i --interactive --no-warnings --no-deprecation --trace-warnings " +
    "--trace-deprecation --trace-uncaught --throw-deprecation --pending-deprecation --enable-source-maps " +
    "--max-old-space-size= --max_old_space_size= --max-semi-space-size= --stack-trace-limit= --stack-size= " +
    "--unhandled-rejections= --input-type= -C= --conditions= --expose-gc --expose_gc --trace-gc --watch " +
    "--watch-preserve-output --test-only --test-name-pattern= --test-skip-pattern= --test-concurrency= --test-timeout= " +
    "--test-force-exit --test-shard= --test-coverage-lines= --test-coverage-branches= --test-coverage-functions= " +
    `--test-coverage-include= --test-coverage-exclude= --test-update-snapshots --test-isolation= --preserve-symlinks ${EXPERIMENTS}`,
  reads: "--env-file= --env-file-if-exists= --watch-path= --allow-fs-read=",
  codes:
    "-r= --require= --import= --loader= --experimental-loader= --test-reporter= --test-global-setup=",
  lifts: {
    [SERVES]: "--inspect=? --inspect-brk=? --inspect-wait=?",
    "runs a script by its name": "--run=",
  },
  help: "--version -v --help -h --v8-options",
};

const nodeChecks: Form = { ...node, writes: "--test-reporter-destination=" };

/** Options of node may also stand between words that it takes as files to test or check. */
function describeNode(words: readonly Word[], draft: Draft): void {
  const texts = words.map(textOf);
  const tests = texts.includes("--test");
  const checks = texts.includes("--check") || texts.includes("-c");
  if (!tests && !checks) {
    const parsed = own(node, words, draft);
    if (given(parsed, "-e --eval -p --print")) {
      use(draft, "run", draft.form, HERE);
      judgeArguments(parsed.operands, draft);
    } else runsProgram(parsed.operands, draft);
    return;
  }
  const { operands, options, problems } = parseOptions(words, {
    table: optionTable(nodeChecks),
    digits: false,
    strict: false,
    oneDash: false,
    anyArgs: false,
  });
  for (const problem of problems) draft.lifts.push(`${problem} of ${draft.form}`);
  const preloads = options.some(({ def }) => def.role === "code");
  for (const { name, value, def } of options) {
    if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
    else if (value === null) continue;
    else if (def.role === "code") loads(draft, value, name);
    else if (def.role === "read") reads(draft, value, name);
    else if (def.role === "write") use(draft, "build", name, { path: value, effect: "write" });
  }
  if (options.some(({ name }) => /^(-e|--eval|-p|--print|-i|--interactive)$/.test(name)))
    use(draft, "run", draft.form, HERE);
  if (tests || preloads) use(draft, "build", draft.form, HERE);
  draft.form = tests ? "node --test" : "node --check";
  for (const path of operands) {
    if (tests) runs(draft, path, "operand", "build");
    else reads(draft, path, "operand");
  }
}

/** A runner of scripts whose every other form is the running of project code. */
function script(names: string, help: string, flags = "", codes = ""): VerbSpec {
  const form: Form = { flags, codes, help };
  return {
    ...form,
    names: names.split(" "),
    class: "run",
    custom: (words, draft) => {
      const parsed = own(form, words, draft);
      runsProgram(parsed.operands, draft);
    },
    examples: [],
  };
}

/** An interpreter of which only `check FILE` and questions about itself are known: everything else runs. */
function other(names: string, help: string, check?: RegExp): VerbSpec {
  return {
    names: names.split(" "),
    class: "run",
    help,
    custom: (words, draft) => {
      const [first, ...rest] = words;
      if (check?.test(textOf(first) ?? "")) {
        draft.form = `${draft.form} ${first?.text}`;
        for (const path of rest) {
          if (textOf(path)?.startsWith("-") ?? false)
            draft.lifts.push(`option ${path.text} of ${draft.form}`);
          else reads(draft, path, "operand");
        }
        return;
      }
      use(draft, "run", draft.form, HERE);
      const program = words.find((word) => !/^[-+]/.test(textOf(word) ?? ""));
      const inline = words.some((word) => /^-\w*[eE]$|^-r$/.test(textOf(word) ?? ""));
      if (program !== undefined && !inline) runs(draft, program, "program");
      judgeArguments(words, draft);
    },
    examples: [],
  };
}

/** A shell that could not be unwrapped: a file to run, or text that is not known. */
const shells: VerbSpec = {
  names: ["bash", "sh", "dash", "zsh", "ksh", "fish"],
  class: "run",
  note: "`-n FILE` only reads; code given with `-c` is judged command by command",
  help: "--version --help",
  custom: (words, draft) => {
    const program = words.findIndex((word) => !/^[-+]./.test(textOf(word) ?? ""));
    const before = (program < 0 ? words : words.slice(0, program)).map(textOf);
    const operands = program < 0 ? [] : words.slice(program);
    if (
      before.length === 1 &&
      /^-[vux]*n[vux]*$/.test(before[0] ?? "") &&
      operands[0] !== undefined
    ) {
      draft.form = `${draft.form} -n`;
      reads(draft, operands[0], "operand");
      return;
    }
    const known = before.every((text) =>
      /^[-+][euxvfnhmB]+$|^--(?:norc|noprofile|posix)$/.test(text ?? ""),
    );
    if (known) runsProgram(operands, draft);
    else {
      use(draft, "run", draft.form, HERE);
      draft.lifts.push(`${draft.form} was given code or options that are not known`);
    }
  },
  examples: ["bash --version"],
};

const deno: Form = {
  flags:
    "-q --quiet --log-level= -L= --no-lock --frozen=? --no-npm --no-remote --cached-only --unstable --no-check=? --check=? --all --json",
  codes: "-c= --config= --import-map= --preload= --lock=",
  refine: (parsed, draft) => fetches(parsed.operands, draft),
};
const PERMITS =
  "-R=? --allow-read=? -W=? --allow-write=? -N=? --allow-net=? -E=? --allow-env=? -S=? --allow-sys=? --deny-read=? --deny-write=? --deny-net=? --deny-run=?";

export const interpreters: readonly VerbSpec[] = [
  {
    ...python,
    names: [
      "python",
      "python3",
      "python2",
      "python3.8",
      "python3.9",
      "python3.10",
      "python3.11",
      "python3.12",
      "python3.13",
      "python3.14",
      "pypy",
      "pypy3",
    ],
    class: "run",
    note: "`-m` of a tool of this table is that tool; other code is project code",
    custom: describePython,
    examples: ["python3 --version"],
  },
  {
    ...node,
    names: ["node", "nodejs"],
    class: "run",
    note: "`--test` is a build, `--check` reads",
    custom: (words, draft) => describeNode(words, draft),
    examples: ["node -v", "node --check a.js"],
  },
  {
    names: ["deno"],
    help: "--version -V --help -h",
    sub: {
      "test bench": {
        ...build,
        ...deno,
        flags: `${deno.flags} ${PERMITS} --no-run --doc --filter= --fail-fast=? --parallel --shuffle=? --coverage=? --reporter= --permit-no-files --trace-leaks -w --watch=? --no-prompt --ignore=`,
        writes: "--junit-path=",
        lifts: {
          "lets tests run anything":
            "-A --allow-all --allow-run=? --allow-ffi=? --allow-import=? --env-file=? --location=",
          [SERVES]: "--inspect=? --inspect-brk=?",
        },
      },
      "check lint info doc": {
        ...build,
        ...deno,
        edits: "--fix",
        flags: `${deno.flags} --compact --rules --rules-tags= --rules-include= --rules-exclude= --ignore= --fix`,
      },
      fmt: {
        ...build,
        ...deno,
        flags: `${deno.flags} --ext= --ignore= --indent-width= --line-width= --no-semicolons --single-quote --prose-wrap= --use-tabs`,
        refine: (parsed, draft) => {
          if (!given(parsed, "--check")) use(draft, "write", draft.form, HERE);
        },
      },
      types: { ...deno },
      "install add remove uninstall upgrade cache update outdated publish": {
        class: "install",
        custom: (_words, draft) => use(draft, "install", draft.form, HERE),
      },
    },
    otherSub: { class: "run", custom: runsAnything },
    examples: ["deno --version"],
  },
  script(
    "tsx ts-node ts-node-esm babel-node",
    "--version -v --help -h",
    "-T --transpile-only --esm --files --no-cache --swc",
    "-r= --require= -P= --project= --tsconfig= --import= --loader=",
  ),
  other("ruby", "--version -v --help -h", /^-w?c$/),
  other("perl", "--version -v -V"),
  other("php", "--version -v --help -h -m -i --ini", /^-l$/),
  other(
    "lua luajit Rscript R julia tclsh wish guile racket elixir iex escript swipl octave",
    "--version -v --help",
  ),
  other("java scala kotlin groovy clojure jshell", "--version -version -fullversion --help"),
  other("nodemon pm2 ts-node-dev forever concurrently", "--version -v --help"),
  shells,
  {
    names: ["source", "."],
    class: "run",
    note: "runs a file in the shell itself",
    help: "",
    custom: (words, draft) => runsProgram(words, draft),
    examples: [],
  },
];

function runsAnything(words: readonly Word[], draft: Draft): void {
  use(draft, "run", draft.form, HERE);
  const program = words.slice(1).find((word) => !textOf(word)?.startsWith("-")) ?? words[0];
  if (program !== undefined && /[/.]/.test(program.text))
    runs(draft, under(null, program), "program");
  judgeArguments(words, draft);
  fetches(words, draft);
}

/** Deno loads modules by their addresses, and packages by `npm:` and `jsr:`. */
function fetches(words: readonly Word[], draft: Draft): void {
  const far = words.find((word) => /^(?:https?|npm|jsr):/.test(textOf(word) ?? ""));
  if (far !== undefined) use(draft, "network", far.text);
}
