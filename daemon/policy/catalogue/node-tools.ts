/** Compilers, linters, formatters and test runners of Node projects. They run by the project's configuration. */

import { build, LOADS, plainNames, SERVES } from "./build-form.ts";
import { use } from "./draft.ts";
import { nodeBundlers } from "./node-bundlers.ts";
import { lastValue, textOf, type VerbSpec } from "./spec.ts";

/** Compilers of TypeScript; what they write is inside the project unless an option says otherwise. */
const tsc: Omit<VerbSpec, "names" | "examples"> = {
  ...build,
  flags:
    "--all -b --build -d --declaration --declarationMap --emitDeclarationOnly --noEmit --noEmitOnError --watch -w " +
    "--incremental -i --composite --strict --skipLibCheck --skipDefaultLibCheck --esModuleInterop --allowJs --checkJs " +
    "--jsx= --jsxImportSource= -m= --module= -t= --target= --lib= --moduleResolution= --resolveJsonModule " +
    "--allowImportingTsExtensions --isolatedModules --noImplicitAny --noUnusedLocals --noUnusedParameters " +
    "--noUncheckedIndexedAccess --exactOptionalPropertyTypes --strictNullChecks --forceConsistentCasingInFileNames " +
    "--downlevelIteration --experimentalDecorators --emitDecoratorMetadata --useDefineForClassFields --pretty " +
    "--listFiles --listFilesOnly --listEmittedFiles --showConfig --traceResolution --explainFiles --diagnostics " +
    "--extendedDiagnostics --preserveWatchOutput --force -f --dry --verbose -v --clean --stopBuildOnErrors --sourceMap " +
    "--inlineSourceMap --removeComments --types= --assumeChangesOnlyAffectDirectDependencies --verbatimModuleSyntax " +
    "--erasableSyntaxOnly --noResolve --ignoreConfig --threshold= --fail-on-warnings --output= --compiler-warnings= " +
    "--no-tsconfig --noCheck --singleThreaded --checkers=",
  reads: "--rootDir= --baseUrl= --workspace= --tsconfig=",
  codes: "-p= --project=",
  writes:
    "-o= --outFile= --outDir= --declarationDir= --tsBuildInfoFile= --generateTrace= --generateCpuProfile=",
  lifts: { "writes a configuration": "--init", [LOADS]: "--plugins= --typeRoots= --paths=" },
};

export const nodeTools: readonly VerbSpec[] = [
  {
    ...tsc,
    names: ["tsc", "vue-tsc", "svelte-check", "tsgo"],
    help: "--help --version -v -h --all",
    examples: ["tsc --version"],
  },
  {
    ...build,
    names: ["eslint"],
    edits: "--fix",
    flags:
      "--no-config-lookup --ext= --global= --parser-options= --env= --rule= --fix --fix-dry-run --fix-type= --no-ignore " +
      "--ignore-pattern= --stdin --stdin-filename= --quiet --max-warnings= --color --no-color --no-inline-config " +
      "--report-unused-disable-directives --report-unused-disable-directives-severity= --cache --cache-strategy= " +
      "--no-error-on-unmatched-pattern --pass-on-no-patterns --exit-on-fatal-error --no-warn-ignored --debug " +
      "--print-config= --stats --flag= --concurrency= -f= --format= --suppress-all --suppress-rule= " +
      "--prune-suppressions --no-eslintrc",
    codes: "-c= --config=",
    reads: "--ignore-path= --suppressions-location=",
    writes: "-o= --output-file= --cache-location= --cache-file=",
    lifts: {
      [LOADS]: "--rulesdir= --plugin= --parser= --resolve-plugins-relative-to=",
      "writes a configuration": "--init",
    },
    help: "--help --version -v -h --env-info",
    refine: plainNames(/^(-f|--format)$/),
    examples: ["eslint --version"],
  },
  {
    ...build,
    names: ["prettier"],
    edits: "-w --write",
    flags:
      "-c --check -l --list-different -w --write -u --ignore-unknown --log-level= --no-color --color --cache " +
      "--cache-strategy= --no-cache --no-config --no-editorconfig --config-precedence= --no-plugin-search " +
      "--with-node-modules --no-error-on-unmatched-pattern --print-width= --tab-width= --use-tabs --no-semi --single-quote " +
      "--jsx-single-quote --trailing-comma= --arrow-parens= --prose-wrap= --end-of-line= --quote-props= " +
      "--bracket-same-line --no-bracket-spacing --parser= --stdin-filepath= --file-info= --find-config-path= " +
      "--support-info --insert-pragma --require-pragma --embedded-language-formatting= --experimental-cli",
    codes: "--config=",
    reads: "--ignore-path=",
    writes: "--cache-location=",
    lifts: { [LOADS]: "--plugin=" },
    help: "--help --version -v -h",
    examples: ["prettier --version"],
  },
  {
    names: ["biome"],
    flags: "--colors= --log-level= --log-kind= --verbose --use-server",
    codes: "--config-path=",
    sub: Object.fromEntries(
      ["check", "lint", "format", "ci"].map((name) => [
        name,
        {
          ...build,
          edits: "--write --fix --apply --apply-unsafe",
          flags:
            "--write --fix --unsafe --apply --apply-unsafe --staged --changed --since= --max-diagnostics= --skip-errors " +
            "--error-on-warnings --no-errors-on-unmatched --diagnostic-level= --reporter= --json --json-pretty --summary " +
            "--stdin-file-path= --only= --skip= --suppress --reason= --formatter-enabled= --linter-enabled= " +
            "--assist-enabled= --organize-imports-enabled= --enforce-assist= --indent-style= --indent-width= " +
            "--line-width= --threads= --files-max-size= --vcs-enabled=",
          codes: "--config-path=",
        },
      ]),
    ),
    shared: true,
    help: "--help --version -V -h version",
    examples: ["biome --version"],
  },
  {
    ...build,
    names: ["vitest"],
    flags:
      "-r= -t= --testNamePattern= --run --watch -w -u --update --coverage --coverage.enabled=? " +
      "--coverage.provider= --coverage.reporter= --reporter= --project= --bail= --retry= --silent=? --passWithNoTests " +
      "--pool= --poolOptions.threads.singleThread --maxWorkers= --minWorkers= --no-file-parallelism --fileParallelism=? " +
      "--no-isolate --isolate --globals --environment= --dom --mode= --changed=? --shard= --sequence.shuffle " +
      "--sequence.seed= --testTimeout= --hookTimeout= --teardownTimeout= --logHeapUsage --allowOnly --clearScreen " +
      "--no-color --color --hideSkippedTests --typecheck --typecheck.only --exclude= " +
      "--standalone --printConsoleTrace --slowTestThreshold= --disable-console-intercept --no-cache --json --verbose " +
      "--threads --no-threads --single-thread --filesOnly --includeTaskLocation --expandSnapshotDiff --tags-filter=",
    reads: "--dir=",
    codes: "-c= --config= --setupFiles= --globalSetup=",
    chdirs: "--root=",
    writes: "--outputFile= --coverage.reportsDirectory= --cache.dir=",
    lifts: { [SERVES]: "--ui --open --api=? --browser=? --inspect=? --inspect-brk=?" },
    help: "--help --version -v -h",
    refine: plainNames(/^--(reporter|environment|pool|coverage\.provider)$/),
    examples: ["vitest --version"],
  },
  {
    ...build,
    names: ["jest"],
    flags:
      "-t= --testNamePattern= --testPathPattern= --testPathPatterns= --testPathIgnorePatterns= --runTestsByPath " +
      "--findRelatedTests --watch --watchAll=? --watchman=? --coverage=? --collectCoverage --coverageReporters= " +
      "--collectCoverageFrom= -i --runInBand -w= --maxWorkers= -u --updateSnapshot --ci --bail=? -b --silent --verbose " +
      "--no-verbose --passWithNoTests --onlyChanged -o --onlyFailures -f --lastCommit --changedSince= --json --listTests " +
      "--showConfig --clearCache --no-cache --cache --colors --color --no-color --detectOpenHandles --detectLeaks " +
      "--forceExit --expand -e --errorOnDeprecated --logHeapUsage --noStackTrace --randomize --seed= " +
      "--shard= --testTimeout= --workerIdleMemoryLimit= --selectProjects= --ignoreProjects= --env= --debug",
    reads: "--roots= --rootDir= --testMatch=",
    codes: "-c= --config= --setupFilesAfterEnv= --setupFiles= --globalSetup=",
    writes: "--outputFile= --coverageDirectory= --cacheDirectory=",
    lifts: {
      [LOADS]:
        "--transform= --resolver= --runner= --testRunner= --testEnvironment= --preset= --reporters= --testSequencer= " +
        "--testResultsProcessor= --moduleNameMapper= --modulePaths= --filter= --haste= --prettierPath= --snapshotSerializers=",
      "writes a configuration": "--init",
    },
    help: "--help --version -v -h",
    refine: (parsed, draft) => {
      const inline = lastValue(parsed, "-c --config");
      if (inline !== null && /^\s*\{/.test(textOf(inline) ?? "{"))
        draft.lifts.push(`--config of ${draft.form} is a text that can load code`);
    },
    examples: ["jest --version"],
  },
  {
    ...build,
    names: ["mocha", "_mocha"],
    flags:
      "-g= --grep= -f= --fgrep= -i --invert -b --bail -t= --timeout= -s= --slow= --retries= -R= --reporter= " +
      "--reporter-option= -O= --recursive --parallel -p -j= --jobs= --exit --no-exit --check-leaks -c --color -C --no-color " +
      "--forbid-only --forbid-pending --full-trace --inline-diffs --sort -S --watch -w -u= --ui= --dry-run --extension= " +
      "--ignore= --exclude= --fail-zero --allow-uncaught --async-only -A --diff --no-diff --global=",
    reads: "--spec=",
    codes: "--config= --package= --file=",
    lifts: { [LOADS]: "-r= --require= --import= --loader= -n= --node-option=" },
    help: "--help --version -V -h",
    refine: (parsed, draft, context) => {
      plainNames(/^(-R|--reporter|-u|--ui)$/)(parsed, draft, context);
      for (const { name, value } of parsed.options)
        if (/^(-O|--reporter-option)$/.test(name) && !/^[\w=,-]*$/.test(textOf(value) ?? "?"))
          draft.lifts.push(`${name} of ${draft.form} can name files`);
    },
    examples: ["mocha --version"],
  },
  {
    ...build,
    names: ["ava"],
    flags:
      "-m= --match= --fail-fast -s --serial -t --tap -T= --timeout= -u --update-snapshots -v --verbose -w --watch " +
      "-c= --concurrency= --no-worker-threads",
    codes: "--config=",
    lifts: { [LOADS]: "--node-arguments=" },
    help: "--help --version",
    examples: ["ava --version"],
  },
  {
    ...build,
    names: ["tap", "tape", "uvu", "c8", "nyc", "ts-mocha", "karma", "cypress", "wdio", "lerna"],
    note: "known by name; only --help and --version are described",
    custom: (_words, draft) => {
      draft.lifts.push(`the options of ${draft.form} are not described`);
      use(draft, "run", draft.form, { cwd: true, tree: true });
    },
    examples: ["nyc --version"],
  },
  {
    names: ["playwright"],
    sub: {
      test: {
        ...build,
        flags:
          "-g= --grep= -G= --grep-invert= -x --max-failures= -j= --workers= --retries= --timeout= " +
          "--global-timeout= --reporter= --project= --repeat-each= --shard= --list --forbid-only --fully-parallel " +
          "--last-failed --only-changed=? --pass-with-no-tests --quiet -u=? --update-snapshots=? --ignore-snapshots " +
          "--trace= --headed --browser= --no-deps --fail-on-flaky-tests --tsconfig= --update-source-method=",
        codes: "-c= --config=",
        writes: "--output=",
        lifts: { [SERVES]: "--ui --ui-host= --ui-port= --debug" },
        operands: "data",
        refine: plainNames(/^--(reporter|browser)$/),
      },
      "show-report open codegen screenshot pdf show-trace": {
        class: "run",
        custom: (_words, draft) => {
          draft.lifts.push(`${draft.form} ${SERVES}`);
        },
      },
      "install install-deps uninstall": {
        class: "install",
        operands: "data",
        flags: "--with-deps --dry-run --force",
      },
    },
    help: "--help --version -V -h",
    examples: ["playwright --version"],
  },
  {
    ...build,
    names: [
      "stylelint",
      "markdownlint",
      "markdownlint-cli2",
      "cspell",
      "htmlhint",
      "jshint",
      "standard",
      "xo",
      "oxlint",
    ],
    edits: "--fix",
    flags:
      "--fix --quiet -q --max-warnings= --ignore-pattern= -i= --ignore= --formatter= -f= --format= --no-color --color " +
      "--cache --allow-empty-input --no-progress --no-summary --words-only -u --unique --no-must-find-files --dot -d -j " +
      "--json -D= --deny= -A= --allow= -W= --warn= --disable= --enable= --tsconfig= --type-aware --report-unused-disable-directives",
    codes: "-c= --config=",
    reads: "--ignore-path= -p=",
    writes: "-o= --output-file= --output=",
    lifts: {
      [LOADS]:
        "-r= --rules= --plugin= --custom-syntax= --custom-formatter= --config-basedir= --parser= --rulesdir=",
    },
    help: "--help --version -v -V -h",
    examples: ["markdownlint --version"],
  },
  {
    ...build,
    names: [
      "knip",
      "depcheck",
      "madge",
      "size-limit",
      "publint",
      "attw",
      "tsd",
      "tsup",
      "unbuild",
      "swc",
      "babel",
    ],
    edits: "--fix",
    flags:
      "--production --strict --no-progress --fix --reporter= --include= --exclude= --circular --json --extensions= --dts " +
      "--format= --minify --clean --sourcemap --watch --target= --silent -q --quiet --pack --no-pack",
    codes: "-c= --config= --config-file=",
    writes: "-d= --out-dir= -o= --out-file= --outDir=",
    lifts: {
      [LOADS]: "--plugins= --presets= --require= -r= --preprocessor= --onSuccess= --on-success=",
    },
    help: "--help --version -v -V -h",
    examples: ["knip --version"],
  },
  ...nodeBundlers,
];
