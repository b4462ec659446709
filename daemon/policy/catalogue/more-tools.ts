/** Test runners and linters of Ruby, PHP, Elixir, Swift and Zig, and checkers of shell, YAML and Docker files. */

import { build, LOADS, plainNames, RUNS } from "./build-form.ts";
import { literal, reads, use } from "./draft.ts";
import { isBuildTarget } from "./make.ts";
import { asks } from "./packages.ts";
import { type Form, given, lastValue, type Refine, textOf, type VerbSpec } from "./spec.ts";

const HERE = { cwd: true, tree: true } as const;
const running: Form = {
  class: "run",
  custom: (_words, draft) => use(draft, "run", draft.form, HERE),
};

/** A formatter that writes unless one of these is given. */
function writesUnless(checking: string): Refine {
  return (parsed, draft) => {
    if (!given(parsed, checking)) use(draft, "write", draft.form, HERE);
  };
}

const phpTool: Form = {
  ...build,
  flags:
    "--filter= --group= --exclude-group= --testsuite= --exclude-testsuite= --stop-on-failure --stop-on-error --stop-on-defect " +
    "--colors=? --testdox --no-coverage --list-tests --list-suites --order-by= --repeat= --debug -v --verbose --no-progress " +
    "--do-not-cache-result --cache-result --fail-on-warning --fail-on-risky --display-warnings --display-deprecations " +
    "--no-output --parallel --compact --dirty --bail --coverage --min= -l= --level= --memory-limit= --error-format= -q --quiet " +
    "-n --no-interaction --ansi --no-ansi --no-cache --show-info=? --threads= --dry-run --diff --using-cache= --standard= -s " +
    "-p --report= --extensions= --ignore=",
  codes: "-c= --configuration= --bootstrap= -a= --autoload-file= --config=",
  writes:
    "--log-junit= --coverage-html= --coverage-clover= --coverage-text=? --coverage-xml= --cache-directory= --cache-file= --report-file= --generate-baseline=? --testdox-html= --testdox-text= --cache-result-file=",
  lifts: {
    [LOADS]: "-d= --prepend= --printer= --extension= --include-path= --loader= --rules= --plugin=",
    "writes a configuration": "--generate-configuration --migrate-configuration --init",
  },
  help: "--version -V --help -h",
};

export const moreTools: readonly VerbSpec[] = [
  {
    ...build,
    names: ["rspec"],
    flags:
      "-b --backtrace -e= --example= -E= --example-matches= -t= --tag= -P= --pattern= --exclude-pattern= --fail-fast=? " +
      "--no-fail-fast --seed= --order= -c --color --colour --no-color --no-colour --force-color --dry-run -w --warnings " +
      "--only-failures -n --next-failure -p=? --profile=? --no-profile -f= --format= --bisect --deprecation-out=",
    reads: "-I= --default-path=",
    codes: "-O= --options=",
    writes: "-o= --out=",
    lifts: { [LOADS]: "-r= --require= --drb --drb-port= --init" },
    refine: plainNames(/^(-f|--format)$/),
    help: "--version -v --help -h",
    examples: ["rspec --version"],
  },
  {
    ...build,
    names: ["rubocop", "standardrb", "reek", "brakeman", "erblint", "slim-lint"],
    edits: "-a --autocorrect -A --autocorrect-all -x --fix-layout --fix",
    flags:
      "-a --autocorrect -A --autocorrect-all --only= --except= -f= --format= -D --display-cop-names -l --lint -x " +
      "--fix-layout --parallel -P --no-parallel --fail-level= -F --fail-fast --force-exclusion --cache= -d --debug -q " +
      "--fix --no-fix --no-pager -L --list-target-files --display-only-fail-level-offenses --color --no-color --no-server",
    codes: "-c= --config=",
    writes: "-o= --out= --cache-root=",
    lifts: {
      [LOADS]: "-r= --require= --plugin=",
      "starts a server": "--server --lsp --start-server",
    },
    refine: plainNames(/^(-f|--format)$/),
    help: "--version -v -V --help -h",
    examples: ["rubocop --version"],
  },
  {
    names: ["rails"],
    sub: {
      "test test:all": {
        ...build,
        flags:
          "-n= --name= -v --verbose -b --backtrace -d --defer-output -f --fail-fast -s= --seed= -c --color -e= --exclude= -w --warnings",
      },
      "zeitwerk:check routes about stats notes": build,
    },
    otherSub: running,
    noSub: running,
    // Inside an application every word of it loads the application.
    help: "",
    examples: [],
  },
  {
    ...phpTool,
    names: ["phpunit", "pest", "paratest", "phpspec", "infection"],
    examples: ["phpunit --version"],
  },
  {
    ...phpTool,
    names: ["phpstan", "psalm", "phpcs", "phpmd"],
    operands: "read",
    help: "--version -V --help -h",
    examples: ["phpstan --version"],
  },
  {
    ...phpTool,
    names: ["php-cs-fixer", "phpcbf", "pint", "rector"],
    flags: `${phpTool.flags} --test`,
    operands: "read",
    refine: writesUnless("--dry-run --test"),
    examples: ["php-cs-fixer --version"],
  },
  {
    names: ["clang-format"],
    edits: "-i",
    flags:
      "-i -n --dry-run --Werror --style= --fallback-style= --lines= --offset= --length= --sort-includes --verbose --ferror-limit=",
    lifts: {
      "reads the files that a file names": "--files=",
      "names another place": "--assume-filename=",
    },
    operands: "read",
    refine: (parsed, draft) => {
      if (/[:/]/.test(textOf(lastValue(parsed, "--style")) ?? ""))
        draft.lifts.push(`--style of ${draft.form} names a file`);
    },
    examples: ["clang-format README.md", "clang-format --dry-run --Werror src/a.ts"],
  },
  {
    names: ["dune"],
    help: "--version --help",
    sub: {
      "build test runtest": {
        ...build,
        flags: "-j= --display= --profile= --no-buffer --force -f --watch -w",
      },
      fmt: { ...build, class: "write" },
    },
    otherSub: running,
    examples: ["dune --version"],
  },
  {
    names: ["dart", "flutter"],
    help: "--version --help -h",
    sub: {
      "analyze test": {
        ...build,
        flags:
          "--fatal-infos --fatal-warnings --no-fatal-infos --no-pub --coverage -r= --reporter= -n= --name= -j= --concurrency=",
      },
      format: { ...build, class: "write", flags: "--set-exit-if-changed -l= --line-length=" },
      "pub create upgrade": asks("install"),
    },
    otherSub: running,
    examples: ["dart --version"],
  },
  {
    names: ["mix"],
    help: "--version -v",
    sub: {
      test: {
        ...build,
        flags:
          "--trace --only= --include= --exclude= --failed --stale --cover --max-failures= --seed= --force --no-deps-check " +
          "--no-compile --no-start --warnings-as-errors --slowest= --color --no-color --all-warnings --max-cases= --timeout= " +
          "--partitions= --preload-modules --profile-require= --raise --listen-on-stdin --no-archives-check --no-elixir-version-check",
        lifts: { [LOADS]: "--formatter= --test-load-filters= --export-coverage=" },
      },
      "compile credo dialyzer xref docs sobelow": {
        ...build,
        operands: "data",
        flags:
          "--force --warnings-as-errors --all-warnings --no-deps-check --strict --format= --only= --checks= --ignore= -a --all --verbose --quiet --no-compile --list-unused-filters --halt-exit-status",
        codes: "--config-file=",
      },
      format: {
        ...build,
        flags: "--check-formatted --dry-run --check-equivalent",
        codes: "--dot-formatter=",
        refine: writesUnless("--check-formatted --dry-run"),
      },
      "deps.get deps.update deps.compile deps.unlock local.hex local.rebar archive.install escript.install":
        asks("install"),
      "hex.outdated hex.info hex.publish hex.audit hex.search": asks("network"),
      deps: { ...build, operands: "data" },
    },
    otherSub: running,
    noSub: running,
    examples: ["mix --version"],
  },
  {
    names: ["swift"],
    sub: {
      "build test": {
        ...build,
        operands: "data",
        flags:
          "-c= --configuration= --filter= --skip= --parallel --no-parallel --num-workers= -v --verbose -q --quiet " +
          "--enable-code-coverage --show-bin-path --product= --target= --build-tests --skip-build -l --list-tests -j= --jobs= " +
          "--static-swift-stdlib --sanitize= --skip-update --disable-automatic-resolution",
        chdirs: "--package-path= -C= --chdir=",
        writes: "--build-path= --scratch-path= --xunit-output= --cache-path=",
        lifts: {
          [RUNS]:
            "-Xswiftc= -Xcc= -Xcxx= -Xlinker= -Xmanifest= --toolchain= --triple= --sdk= --swift-sdk= --destination= --disable-sandbox --config-path= --security-path=",
        },
      },
      package: {
        sub: {
          "describe dump-package show-dependencies tools-version": {
            ...build,
            operands: "data",
            flags: "--type= --format=",
          },
        },
        otherSub: asks("install"),
      },
    },
    otherSub: running,
    noSub: running,
    help: "--version -version --help -h -help",
    examples: ["swift --version"],
  },
  {
    names: ["zig"],
    sub: {
      build: {
        ...build,
        operands: "data",
        flags:
          "--summary= -freference-trace=? --verbose --release=? -Doptimize= -Dtarget= -j= --color= --help -l --list-steps",
        codes: "--build-file=",
        writes:
          "-p= --prefix= --cache-dir= --global-cache-dir= --prefix-lib-dir= --prefix-exe-dir=",
        lifts: {
          [LOADS]:
            "--zig-lib-dir= --build-runner= --system= --search-prefix= --sysroot= --libc= --fetch",
        },
        oneDash: true,
        refine: (parsed, draft) => {
          if (!parsed.operands.every((word) => isBuildTarget(textOf(word) ?? "?")))
            use(draft, "run", draft.form, HERE);
        },
      },
      test: {
        ...build,
        oneDash: true,
        flags: "-O= --test-filter= -target= -lc --color= -fno-emit-bin",
        writes: "-femit-bin= --cache-dir= --global-cache-dir=",
      },
      fmt: {
        ...build,
        flags: "--check --stdin --color= --ast-check --exclude=",
        refine: writesUnless("--check --stdin"),
      },
      "ast-check version env targets zen": { operands: "read" },
    },
    otherSub: running,
    help: "version --help -h help env zen",
    examples: ["zig version"],
  },
  {
    names: ["shellcheck"],
    flags:
      "-a --check-sourced -C=? --color=? -i= --include= -e= --exclude= -f= --format= --list-optional --norc -o= --enable= -s= " +
      "--shell= -S= --severity= -W= --wiki-link-count= -x --external-sources --extended-analysis=",
    reads: "-P= --source-path= --rcfile=",
    operands: "read",
    help: "--version -V --help",
    examples: ["shellcheck --version"],
  },
  {
    names: ["shfmt"],
    flags:
      "-l -d -f -i= -bn -ci -sr -kp -fn -s -mn -ln= -p -w -tojson --list --diff --write --indent= --filename=",
    operands: "tree",
    oneDash: true,
    refine: (parsed, draft) => {
      if (given(parsed, "-w --write"))
        for (const path of parsed.operands) use(draft, "write", "-w", { path, tree: true });
    },
    help: "--version -version --help -h",
    examples: ["shfmt --version"],
  },
  {
    names: ["hadolint", "yamllint", "jsonlint", "editorconfig-checker", "ec", "proselint"],
    flags:
      "--ignore= -f= --format= --no-fail --no-color -t= --failure-threshold= --strict-labels --error= --warning= --info= " +
      "--style= -d= --config-data= -s --strict --no-warnings --list-files -q --quiet -v --verbose --minAlertLevel= --output= --glob=",
    reads: "-c= --config= --config-file=",
    operands: "tree",
    help: "--version -v -V --help -h",
    examples: ["yamllint --version"],
  },
  {
    names: ["actionlint"],
    oneDash: true,
    flags: "-color -no-color -ignore= -format= -oneline -verbose -debug -stdin-filename=",
    reads: "-config-file=",
    lifts: { [RUNS]: "-shellcheck= -pyflakes=", "writes a configuration": "-init-config" },
    operands: "read",
    bare: "tree",
    help: "--version -version --help -h",
    examples: ["actionlint --version"],
  },
  {
    ...build,
    names: [
      "protolint",
      "sqlfluff",
      "ktlint",
      "swiftlint",
      "swiftformat",
      "luacheck",
      "stylua",
      "selene",
      "hlint",
      "ormolu",
      "elm-test",
      "elm-format",
      "nixfmt",
      "alejandra",
      "tflint",
      "vale",
      "cfn-lint",
    ],
    note: "only with plain operands",
    refine: writesUnless("--check --lint --dry-run"),
    flags: "--check --lint --strict --quiet -q --dry-run",
    help: "--version -version -v --help -h",
    examples: ["ktlint --version"],
  },
  {
    names: ["sqlite3"],
    note: "SELECT, PRAGMA and the like on a database that is opened read-only in effect",
    flags:
      "-readonly -header -noheader -column -csv -json -line -list -table -markdown -box -html -quote -tabs -separator= -nullvalue= -batch -safe -bail -echo -newline= -ascii",
    lifts: { [LOADS]: "-init= -cmd= -interactive -vfs= -zip -A -append -unsafe-testing" },
    oneDash: true,
    operands: "data",
    help: "--version -version --help -help",
    refine: (parsed, draft) => {
      const [database] = parsed.operands;
      const uri = /^file:(?:\/\/)?([^?#%]*)(?:\?(?:mode=ro|immutable=1|&)+)?$/.exec(
        textOf(database) ?? "",
      )?.[1];
      if (uri === undefined && /^file:/.test(textOf(database) ?? "file:"))
        draft.lifts.push(`${draft.form} opens a database that is not known`);
      else if (database !== undefined)
        reads(draft, uri === undefined ? database : literal(uri), "operand");
      const statements = parsed.operands.slice(1).map((word) => textOf(word) ?? "?");
      if (statements.length === 0) statements.push("?");
      for (const text of statements) {
        const single = !/;\s*\S/.test(text.trim());
        const looks =
          /^\s*(?:select|explain|with\b[^;]*\bselect|pragma\s+\w+(?:\(['"\w]+\))?\s*;?\s*$|\.(?:tables|schema|indexes|databases|dbinfo)\b[\w\s.'"%]*$)/i.test(
            text,
          );
        if (
          single &&
          looks &&
          !/writefile|readfile|edit\s*\(|load_extension|attach|insert|update|delete|replace\s+into|fts\w*_|zipfile|fsdir/i.test(
            text,
          )
        )
          continue;
        use(draft, "run", draft.form, HERE);
        draft.lifts.push(
          `${draft.form} runs statements or commands that are not known to only read`,
        );
        return;
      }
    },
    examples: ["sqlite3 --version"],
  },
];
