/** The Go tool chain and its linters. */

import { judgeArguments } from "./arguments.ts";
import { build, FETCHES, LOADS, RUNS, SERVES } from "./build-form.ts";
import { type Draft, runs, use } from "./draft.ts";
import { type Form, given, lastValue, type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

/** Options of everything that compiles. `-overlay` replaces files by others, `-toolexec` and `-exec` run programs. */
const COMPILING: Form = {
  flags:
    "-a -n -p= -race -msan -asan -cover -covermode= -coverpkg= -v -work -x -asmflags= -buildmode= -buildvcs= -gcflags= " +
    "-installsuffix= -json -ldflags= -linkshared -mod= -modcacherw -tags= -trimpath",
  reads: "-pgo=",
  chdirs: "-C=",
  writes: "-modfile= -pkgdir=",
  lifts: {
    [RUNS]: "-toolexec= -exec= -vettool=",
    [LOADS]: "-overlay= -compiler= -gccgoflags=",
  },
  oneDash: true,
};

/** Flags for the compiler and linker that neither write files nor start other programs. */
const TOOL_FLAGS =
  /^(?:all=|\.\/\.\.\.=)?(?: *-(?:m(?:=\d)?|N|l|e|S|s|w|X[= ][\w./-]+=[\w.:+-]*|B))* *$/;

function toolFlags(parsed: ParsedForm, draft: Draft): void {
  for (const { name, value } of parsed.options)
    if (
      /^-(gc|ld|asm)flags$/.test(name) &&
      !TOOL_FLAGS.test(textOf(value)?.replace(/['"]/g, "") ?? "-")
    )
      draft.lifts.push(`${name} of ${draft.form} can write files and run a linker`);
}

const compiling: Form = { ...build, ...COMPILING, refine: toolFlags };
const reading: Form = { oneDash: true, operands: "data", inCwd: "read" };

const TEST_FLAGS =
  "-bench= -benchmem -benchtime= -blockprofilerate= -count= -cpu= -failfast -fullpath -fuzz= -fuzztime= " +
  "-fuzzminimizetime= -list= -memprofilerate= -mutexprofilefraction= -parallel= -run= -short -shuffle= -skip= -timeout= " +
  "-vet= -c -args -update";

/** A package or file to run; one with a version is fetched. */
function goRun(parsed: ParsedForm, draft: Draft): void {
  toolFlags(parsed, draft);
  const [target] = parsed.operands;
  if (target === undefined) return;
  if ((textOf(target) ?? "@").includes("@")) {
    draft.lifts.push(`${draft.form} ${target.text} ${FETCHES}`);
    use(draft, "install", draft.form);
  } else runs(draft, target, "operand");
}

const formatter: Omit<VerbSpec, "names" | "examples"> = {
  oneDash: true,
  flags: "-d -e -l -s -w -r= -local= -format-only -v -extra -lang= -modpath=",
  reads: "-srcdir=",
  writes: "-cpuprofile= -memprofile= -trace=",
  operands: "tree",
  refine: (parsed, draft) => {
    if (!given(parsed, "-w")) return;
    for (const path of parsed.operands) use(draft, "write", "-w", { path, tree: true });
  },
};

export const go: readonly VerbSpec[] = [
  {
    names: ["go"],
    help: "help version --version -version -h --help",
    sub: {
      "build vet": {
        ...compiling,
        writes: `${COMPILING.writes} -o=`,
        flags: `${COMPILING.flags} -fix -diff`,
      },
      test: {
        ...compiling,
        flags: `${COMPILING.flags} ${TEST_FLAGS}`,
        writes: `${COMPILING.writes} -o= -blockprofile= -coverprofile= -cpuprofile= -memprofile= -mutexprofile= -outputdir= -trace=`,
      },
      fmt: { ...build, class: "write", oneDash: true, flags: "-n -x -mod=" },
      fix: { ...build, class: "write", oneDash: true, flags: "-fix= -diff" },
      list: {
        ...reading,
        ...COMPILING,
        flags: `${COMPILING.flags} -f= -m -u -versions -deps -test -e -compiled -export -find -retracted`,
        refine: (parsed, draft) => {
          toolFlags(parsed, draft);
          judgeArguments(parsed.operands, draft);
          if (given(parsed, "-compiled -export"))
            use(draft, "build", draft.form, { cwd: true, tree: true });
          const fetches =
            given(parsed, "-u -versions -retracted") ||
            textOf(lastValue(parsed, "-mod")) === "mod" ||
            parsed.operands.some((word) => textOf(word)?.includes("@") ?? false);
          if (fetches) use(draft, "network", draft.form);
        },
      },
      env: {
        oneDash: true,
        flags: "-json -changed",
        lifts: { "changes settings that later commands obey": "-w -u" },
        operands: "data",
      },
      version: { oneDash: true, flags: "-m -v -json", operands: "read" },
      doc: {
        ...reading,
        flags: "-all -c -cmd -short -src -u -ex",
        chdirs: "-C=",
        lifts: { [SERVES]: "-http" },
      },
      run: {
        ...COMPILING,
        class: "run",
        inCwd: "write",
        strict: true,
        operands: "data",
        refine: goRun,
      },
      generate: {
        ...COMPILING,
        class: "run",
        inCwd: "write",
        operands: "data",
        flags: `${COMPILING.flags} -run= -skip=`,
      },
      "get install": {
        ...COMPILING,
        class: "install",
        operands: "data",
        flags: `${COMPILING.flags} -t -u=? -d -tool`,
      },
      clean: {
        ...build,
        class: "write",
        oneDash: true,
        flags: "-n -x -cache -testcache -fuzzcache",
        lifts: { "removes what others need": "-modcache -r -i" },
      },
      mod: {
        sub: {
          "graph why verify": { ...reading, flags: "-m -vendor -go= -x" },
          "tidy download vendor": {
            class: "install",
            operands: "data",
            oneDash: true,
            flags: "-e -v -x -go= -compat= -diff -json -o= -reuse=",
          },
          "edit init": {
            class: "write",
            inCwd: "write",
            operands: "data",
            oneDash: true,
            flags:
              "-json -print -fmt -module= -go= -toolchain= -require= -droprequire= -exclude= -dropexclude= -replace= -dropreplace= -retract= -dropretract= -tool= -droptool=",
          },
        },
      },
      tool: {
        noSub: reading,
        sub: {
          cover: {
            oneDash: true,
            reads: "-func= -html=",
            writes: "-o=",
            flags: "-mode= -var= -pkgcfg=",
            refine: (parsed, draft) => {
              if (given(parsed, "-html") && !given(parsed, "-o"))
                draft.lifts.push(`-html of ${draft.form} without -o starts a browser`);
            },
          },
        },
      },
    },
    examples: [
      "go version",
      "go env GOOS",
      "go env -json",
      "go list ./...",
      "go doc fmt.Println",
      "go mod graph",
    ],
  },
  {
    ...formatter,
    names: ["gofmt", "goimports", "gofumpt"],
    examples: ["gofmt -l src", "gofmt -d src"],
  },
  {
    names: ["golangci-lint"],
    flags: "--color= -v --verbose -h --help",
    writes: "--cpu-profile-path= --mem-profile-path= --trace-path=",
    sub: {
      run: {
        ...build,
        edits: "--fix",
        flags:
          "-v --verbose --color= --timeout= --fast --fast-only --fix --new -n --new-from-rev= --new-from-merge-base= " +
          "--whole-files --out-format= --issues-exit-code= -E= --enable= -D= --disable= --enable-only= --enable-all " +
          "--disable-all --default= -p= --presets= --build-tags= --tests=? -j= --concurrency= --max-issues-per-linter= " +
          "--max-same-issues= --print-issued-lines=? --print-linter-name=? --show-stats=? --path-prefix= --path-mode= " +
          "--modules-download-mode= --skip-dirs= --skip-files= -e= --exclude= --allow-parallel-runners " +
          "--allow-serial-runners --go= --sort-results --no-config --exclude-use-default=? --uniq-by-line=?",
        codes: "-c= --config=",
        writes: "--cpu-profile-path= --mem-profile-path= --trace-path=",
        refine: (parsed, draft) => {
          if (/:(?!std(?:out|err)\b)/.test(textOf(lastValue(parsed, "--out-format")) ?? ""))
            draft.lifts.push(`--out-format of ${draft.form} names a file`);
        },
      },
      fmt: {
        ...build,
        class: "write",
        flags: "-d --diff --diff-colored --stdin -E= --enable=",
        codes: "-c= --config=",
      },
      "linters formatters version help": {
        ...build,
        operands: "data",
        flags: "--json --format= --short --debug -E= -D=",
      },
    },
    examples: ["golangci-lint --version"],
  },
  {
    ...build,
    names: ["staticcheck", "errcheck", "ineffassign", "revive", "gocyclo", "misspell"],
    oneDash: true,
    flags:
      "-checks= -f= -tests -tags= -go= -fail= -explain= -show-ignored -blank -asserts -ignoretests -exclude= -formatter= " +
      "-over= -top= -avg -error -q -locale= -set_exit_status",
    codes: "-config=",
    lifts: { "changes files": "-w" },
    examples: ["staticcheck --version"],
  },
];
