/** Test runners, linters, formatters and type checkers of Python projects; also what `python -m` runs by name. */

import { build, LOADS, RUNS } from "./build-form.ts";
import { literal, use, writes } from "./draft.ts";
import { type Form, given, type Refine, textOf, type VerbSpec } from "./spec.ts";

/** A formatter writes the files it is given, unless an option makes it only look. */
function formatter(checking: string): Refine {
  return (parsed, draft) => {
    if (given(parsed, checking)) return;
    for (const path of parsed.operands)
      if (textOf(path) !== "-") use(draft, "write", draft.form, { path, tree: true });
    if (parsed.operands.length === 0) use(draft, "write", draft.form, { cwd: true, tree: true });
  };
}

const pytest: Omit<VerbSpec, "names" | "examples"> = {
  ...build,
  flags:
    "-h --help -V --version -q --quiet -v --verbose --verbosity= -s -x --exitfirst -k= -m= --lf --last-failed --ff --failed-first --nf " +
    "--new-first --lfnf= --sw --stepwise --stepwise-skip -n= --numprocesses= --dist= --maxprocesses= --maxfail= --tb= " +
    "--full-trace -r= --durations= --durations-min= --collect-only --co --no-header --no-summary -l --showlocals " +
    "--no-showlocals --color= --code-highlight= --strict-markers --strict-config --strict --cov=? --cov-branch " +
    "--cov-fail-under= --cov-append --cov-context= --no-cov --no-cov-on-fail --disable-warnings " +
    "--disable-pytest-warnings --cache-clear --cache-show=? --import-mode= --capture= --show-capture= --runxfail --reruns= " +
    "--reruns-delay= --timeout= --timeout-method= --asyncio-mode= --fixtures --fixtures-per-test --markers --ignore-glob= " +
    "--deselect= --benchmark-only --benchmark-skip --benchmark-disable --forked --reuse-db --create-db --no-migrations " +
    "--nomigrations --snapshot-update --inline-snapshot= --hypothesis-seed= --hypothesis-show-statistics " +
    "--hypothesis-profile= --randomly-seed= --random-order --doctest-modules --doctest-glob= --doctest-continue-on-failure " +
    "--keep-duplicates --collect-in-virtualenv --continue-on-collection-errors --setup-only --setup-show --setup-plan " +
    "--log-level= --log-cli-level= --log-format= --no-loadscope-reorder --pyargs --junit-prefix= " +
    "--testmon --picked=? --slow --runslow --run-slow --integration --update-snapshots --snapshot-details -p= -W= " +
    "--pythonwarnings= -o= --override-ini= --cov-report=",
  reads: "--ignore= --rootdir= --confcutdir= --cov-config=",
  codes: "-c= --config-file=",
  writes:
    "--junitxml= --junit-xml= --log-file= --debug=? --html= --json-report-file= --report-log=",
  lifts: {
    [LOADS]: "--pdbcls= --ds= --dc=",
    "empties a folder": "--basetemp=",
    "waits for answers": "--pdb --trace",
    "sends output away": "--pastebin=",
  },
  // Even these load the conftest.py of the project.
  help: "",
  refine: (parsed, draft) => {
    for (const { name, value } of parsed.options) {
      const text = textOf(value);
      if (name === "-p" && !/^no:\w+$/.test(text ?? ""))
        draft.lifts.push(`-p of ${draft.form} ${LOADS}`);
      if (/^(-W|--pythonwarnings)$/.test(name) && /\./.test((text ?? ".").split(":")[2] ?? ""))
        draft.lifts.push(`${name} of ${draft.form} ${LOADS}`);
      if (
        /^(-o|--override-ini)$/.test(name) &&
        !/^(?:addopts=|(?:log_cli|xfail_strict|console_output_style)=\w*)$/.test(text ?? "?")
      )
        draft.lifts.push(`${name} of ${draft.form} can load code or write elsewhere`);
      const target = name === "--cov-report" ? /^\w+:(.*)$/.exec(text ?? "")?.[1] : undefined;
      if (target !== undefined && !/^skip-covered$/.test(target))
        writes(draft, literal(target), name, { class: "build", tree: true });
    }
  },
};

const mypy: Omit<VerbSpec, "names" | "examples"> = {
  ...build,
  flags:
    "-p= --package= -m= --module= -c= --command= -v --verbose --strict --ignore-missing-imports --follow-imports= " +
    "--show-error-codes --hide-error-codes --no-error-summary --pretty --no-pretty --incremental --no-incremental " +
    "--check-untyped-defs --disallow-untyped-defs --disallow-any-generics --disallow-incomplete-defs --exclude= " +
    "--exclude-gitignore --python-version= --platform= --namespace-packages --no-namespace-packages " +
    "--explicit-package-bases --show-column-numbers --show-error-context --show-error-end --show-absolute-path " +
    "--no-color-output --color-output --warn-unused-ignores --warn-return-any --warn-unreachable --warn-redundant-casts " +
    "--warn-unused-configs --no-strict-optional --no-implicit-optional --implicit-optional --no-implicit-reexport " +
    "--allow-redefinition --local-partial-types --strict-equality --enable-error-code= --disable-error-code= " +
    "--skip-cache-mtime-checks --no-site-packages --no-silence-site-packages --scripts-are-modules " +
    "--sqlite-cache --cache-fine-grained --fast-module-lookup --soft-error-limit= --output= --linecount --dump-type-stats " +
    "--error-summary --raise-exceptions --tb --show-traceback",
  reads: "--custom-typeshed-dir=",
  codes: "--config-file=",
  writes:
    "--cache-dir= --html-report= --txt-report= --xml-report= --cobertura-xml-report= --junit-xml= --any-exprs-report= " +
    "--linecount-report= --linecoverage-report= --lineprecision-report= --xslt-html-report= --shadow-file=",
  lifts: {
    [RUNS]: "--python-executable= --pdb",
    "installs packages": "--install-types --non-interactive",
  },
  help: "--help --version -V -h",
};

const ruffRules =
  "--fix --unsafe-fixes --no-unsafe-fixes --show-fixes --diff --watch -w --fix-only --no-fix --output-format= --select= " +
  "--ignore= --extend-select= --extend-ignore= --per-file-ignores= --extend-per-file-ignores= --fixable= --unfixable= " +
  "--exclude= --extend-exclude= --respect-gitignore --no-respect-gitignore --force-exclude -n --no-cache --isolated " +
  "--statistics --add-noqa=? --show-files --show-settings -q --quiet -v --verbose -s --silent -e --exit-zero " +
  "--exit-non-zero-on-fix --preview --no-preview --target-version= --line-length= --stdin-filename= --range= --check " +
  "--color= --extension=";

export const pythonTools: readonly VerbSpec[] = [
  { ...pytest, names: ["pytest", "py.test"], examples: [] },
  {
    ...mypy,
    names: ["mypy"],
    examples: ["mypy --version"],
  },
  {
    names: ["ruff"],
    flags: "-q --quiet -v --verbose -s --silent --isolated --color=",
    codes: "--config=",
    sub: {
      check: {
        ...build,
        edits: "--fix --fix-only --add-noqa",
        flags: ruffRules,
        codes: "--config=",
        writes: "-o= --output-file= --cache-dir=",
      },
      format: {
        ...build,
        flags: ruffRules,
        codes: "--config=",
        writes: "--cache-dir=",
        refine: formatter("--check --diff --stdin-filename"),
      },
      "rule linter config version help": { operands: "data", flags: "--all --output-format=" },
      analyze: { sub: { graph: { ...build, flags: ruffRules, codes: "--config=" } } },
      clean: { ...build, class: "write" },
    },
    shared: true,
    help: "--help --version -V -h",
    examples: ["ruff --version"],
  },
  {
    ...build,
    names: ["black"],
    flags:
      "--check --diff -q --quiet -v --verbose -l= --line-length= -t= --target-version= --pyi -S --skip-string-normalization " +
      "-C --skip-magic-trailing-comma --preview --unstable --fast --safe -W= --workers= --include= --exclude= " +
      "--extend-exclude= --force-exclude= --stdin-filename= --color --no-color --required-version= --no-cache -c= --code= " +
      "--line-ranges= -x --skip-source-first-line",
    codes: "--config=",
    help: "--help --version -h",
    refine: formatter("--check --diff -c --code"),
    examples: ["black --version"],
  },
  {
    ...build,
    names: ["isort"],
    flags:
      "-c --check-only --check --diff -q --quiet -v --verbose --profile= -l= --line-length= --skip= -s= --skip-glob= --sg= " +
      "--gitignore --filter-files --only-modified --atomic --float-to-top --stdout -d -j= --jobs= --color --show-files " +
      "--show-config --known-first-party= -p= --src= --multi-line= -m= --trailing-comma --tc --force-single-line-imports --sl",
    codes: "--settings-path= --settings-file= --sp= --settings=",
    lifts: { "writes where links lead": "--resolve-all-configs --follow-links" },
    help: "--help --version -V -h --vn",
    refine: formatter("-c --check-only --check --diff --stdout -d"),
    examples: ["isort --version"],
  },
  {
    ...build,
    names: [
      "flake8",
      "pycodestyle",
      "pydocstyle",
      "pyflakes",
      "bandit",
      "vulture",
      "radon",
      "xenon",
      "codespell",
      "interrogate",
    ],
    flags:
      "--max-line-length= --select= --ignore= --extend-ignore= --extend-select= --exclude= --count --statistics " +
      "--show-source --show-pep8 -q --quiet -v --verbose --max-complexity= --format= -j= --jobs= --color= " +
      "--per-file-ignores= --benchmark --exit-zero --max-doc-length= --hang-closing --first --no-show-source " +
      "--disable-noqa -r --recursive -l --level -ll -lll -i -ii -iii -x= -s= --skip= --skips= --tests= -t= -n= -a -nc " +
      "--min= --max= -e= -u --min-confidence= --sort-by-size --convention= --json --xml --show-complexity --total-average " +
      "--ignore-words-list= -L= -S= --quiet-level= --no-color --tee",
    codes: "--config= --append-config= -c= --ini=",
    reads: "--ignore-words= -I=",
    writes: "--output-file= -o= --output=",
    lifts: {
      [LOADS]: "--enable-extensions= --require-plugins= -p= --profile=",
      "changes files": "-w --write-changes --interactive",
    },
    help: "--help --version -h",
    refine: (parsed, draft) => {
      // radon and bandit take a sub-command or nothing first; `cc` and `mi` are then no paths and do no harm as ones.
      if (
        parsed.options.some(
          ({ name, value }) => name === "--format" && /[/\\]/.test(textOf(value) ?? "/"),
        )
      )
        draft.lifts.push(`--format of ${draft.form} names a file`);
    },
    examples: ["flake8 --version"],
  },
  {
    ...build,
    names: ["pylint"],
    flags:
      "-E --errors-only -d= --disable= -e= --enable= -j= --jobs= -s= --score= -r= --reports= --persistent= " +
      "--max-line-length= --ignore= --ignore-patterns= --ignore-paths= --recursive= --fail-under= --fail-on= --exit-zero " +
      "--msg-template= -f= --output-format= --disable-all --list-msgs --list-msgs-enabled --help-msg= -v --verbose " +
      "--ignored-modules= --ignored-classes= --good-names= --min-similarity-lines= --py-version= --from-stdin --clear-cache-post-run=",
    codes: "--rcfile=",
    writes: "--output=",
    lifts: {
      [LOADS]:
        "--load-plugins= --init-hook= --extension-pkg-allow-list= --extension-pkg-whitelist= --unsafe-load-any-extension= --source-roots=",
    },
    help: "--help --version -h --generate-rcfile --long-help",
    refine: (parsed, draft) => {
      for (const { name, value } of parsed.options)
        if (/^(-f|--output-format)$/.test(name) && !/^[a-z0-9,]+$/.test(textOf(value) ?? ""))
          draft.lifts.push(`${name} of ${draft.form} ${LOADS}`);
    },
    examples: ["pylint --version"],
  },
  {
    ...build,
    names: ["pyright", "basedpyright", "ty"],
    oneDash: true,
    flags:
      "--outputjson --stats --verbose --warnings --level= --pythonversion= --pythonplatform= --skipunannotated --threads=? -w --watch --dependencies --ignoreexternal --verifytypes= --python-version= --error-on-warning --output-format= --exit-zero",
    codes: "-p= --project=",
    reads: "-v= --venvpath= --venv-path= -t= --typeshedpath= --typeshed-path=",
    writes: "--createstub= --writebaseline",
    lifts: { [RUNS]: "--pythonpath= --python=" },
    help: "--help --version -h",
    examples: ["pyright --version"],
  },
  {
    names: ["coverage"],
    help: "--help --version -h help",
    sub: {
      report: {
        ...build,
        flags:
          "-m --show-missing --skip-covered --no-skip-covered --skip-empty --sort= --fail-under= --include= --omit= -i --ignore-errors --format= --precision= -q --quiet --contexts= --data-file=",
        codes: "--rcfile=",
      },
      "html xml json lcov": {
        ...build,
        flags:
          "-q --quiet -i --ignore-errors --include= --omit= --skip-covered --skip-empty --fail-under= --title= --pretty-print --show-contexts --precision=",
        codes: "--rcfile=",
        writes: "-d= --directory= -o= --data-file=",
      },
      combine: { ...build, flags: "-a --append --keep -q --quiet", codes: "--rcfile=" },
      erase: { ...build, flags: "-q", codes: "--rcfile=" },
      /** Runs any script or module: only a test runner by its name is a build. */
      run: {
        ...build,
        strict: true,
        flags:
          "-a --append --branch --concurrency= --context= --include= --omit= --parallel-mode -p --pylib --source= --timid -m --module",
        codes: "--rcfile=",
        lifts: { "writes elsewhere": "--data-file= --debug=" },
        operands: "data",
        refine: (parsed, draft) => {
          const [target] = parsed.operands;
          const runner =
            given(parsed, "-m --module") && /^(pytest|unittest)$/.test(textOf(target) ?? "");
          if (!runner)
            use(
              draft,
              "run",
              draft.form,
              target === undefined || given(parsed, "-m --module")
                ? { cwd: true }
                : { path: target, code: true },
            );
          if (
            runner &&
            parsed.operands
              .slice(1)
              .some((word) =>
                /^-[po]|^--(?:pdbcls|basetemp|override|rootdir|config)/.test(textOf(word) ?? "-p"),
              )
          )
            draft.lifts.push(`${draft.form} passes on options that are not known to be safe`);
        },
      },
    },
    examples: ["coverage --version"],
  },
  {
    names: ["tox", "nox", "pre-commit", "hatch"],
    note: "make environments of their own and install into them",
    help: "--help --version -h",
    custom: (_words, draft) => use(draft, "install", draft.form, { cwd: true, tree: true }),
    examples: ["tox --version"],
  },
  {
    names: [
      "jupyter",
      "uvicorn",
      "gunicorn",
      "flask",
      "django-admin",
      "celery",
      "streamlit",
      "mkdocs",
      "sphinx-build",
    ],
    note: "run project code or serve",
    help: "--version",
    custom: (_words, draft) => use(draft, "run", draft.form, { cwd: true, tree: true }),
    examples: ["flask --version"],
  },
];

/** What `python -m NAME` runs that is no verb by itself. The folder it starts in is searched first: always a build. */
export const pythonModules: Readonly<Record<string, Form>> = {
  unittest: {
    ...build,
    flags:
      "-v --verbose -q --quiet -f --failfast -b --buffer -c --catch -k= --locals --durations= -p= --pattern=",
    trees: "-s= --start-directory= -t= --top-level-directory=",
    operands: "data",
  },
  py_compile: { ...build, flags: "-q --quiet", operands: "read" },
  compileall: {
    ...build,
    flags: "-q -f -l -r= -b -j= --workers= --invalidation-mode= -o= -s= -p= -x=",
    reads: "-i=",
    lifts: { "names other folders in what it writes": "-d= -e= --hardlink-dupes" },
  },
  "json.tool": {
    ...build,
    flags: "--sort-keys --no-ensure-ascii --json-lines --indent= --tab --no-indent --compact",
    operands: { lead: ["read", "data"] },
    // Its second file is written: no result of a build, but whatever file that is.
    refine: (parsed, draft) => {
      const [, output] = parsed.operands;
      if (output !== undefined) writes(draft, output, "operand");
    },
  },
  doctest: { ...build, flags: "-v --verbose -o= --option= -f --fail-fast" },
  tabnanny: { ...build, flags: "-v -q" },
  ast: { ...build, flags: "-m= --mode= --no-type-comments -a --include-attributes -i= --indent=" },
  tokenize: { ...build, flags: "-e --exact" },
};
