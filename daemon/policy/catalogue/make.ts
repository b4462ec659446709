/** Runners of named targets (make, just, task, rake) and the CMake, ninja and meson family. */

import type { Word } from "../shell/segment.ts";
import { build, LOADS, RUNS } from "./build-form.ts";
import { type Draft, literal, reads, use } from "./draft.ts";
import { judgeEnv } from "./env-prefixes.ts";
import { applyForm } from "./form.ts";
import { type Form, type ParsedForm, type Refine, textOf, type VerbSpec } from "./spec.ts";

/** Targets that build or test by their name; one that also says it publishes or installs is not. */
const BUILD_TARGET =
  /^(?:[\w/.-]*[:/])?(?:all|default|test|build|lint|check|compile|typecheck|type-check|unit|coverage|vet|verify|fmt-check|format-check|spec|help|list)(?![a-z])[\w:./%-]*$|\.(?:o|a|so|elf|bin)$/;
const OTHERWISE = /deploy|publish|release|upload|push|install/;

export function isBuildTarget(name: string): boolean {
  return BUILD_TARGET.test(name) && !OTHERWISE.test(name);
}

/** Targets decide the class; `NAME=value` must be as harmless as in the environment. */
const targets: Refine = (parsed, draft) => {
  for (const word of parsed.operands) {
    const text = textOf(word);
    const [, name, value] = /^([^=]*?)(?:[:+?!]*=)(.*)$/s.exec(text ?? "") ?? [];
    if (text === null) draft.lifts.push(`the target ${word.text} of ${draft.form} is not known`);
    else if (name === undefined) {
      if (!isBuildTarget(text)) use(draft, "run", `target ${text}`, { cwd: true, tree: true });
    } else if (
      !/^(?:V|Q|D|VERBOSE|SILENT|RELEASE)$/.test(name) &&
      judgeEnv(name, value ?? "", true).kind !== "harmless"
    )
      draft.lifts.push(`${name}= of ${draft.form} can change what runs or where`);
  }
};

const running: Form = { ...build, operands: "data", refine: targets };

/** Compilers and generators that a `-D` of cmake may name without a path. */
const CMAKE_PROGRAM =
  /(?:COMPILER|LAUNCHER|TOOLCHAIN|PROGRAM|EXECUTABLE|INCLUDE|LINKER|COMMAND|EMULATOR|RULE|_AR|_LD|_NM|MODULE_PATH|PREFIX_PATH|PROJECT_TOP|FLAGS)/;

function defines(parsed: ParsedForm, draft: Draft): void {
  for (const { name, value } of parsed.options) {
    if (name !== "-D" && name !== "-G") continue;
    const text = textOf(value);
    const [, variable = "", given = ""] = /^([^=]*)=?(.*)$/s.exec(text ?? "") ?? [];
    if (text === null) draft.lifts.push(`${name} of ${draft.form} is not known`);
    else if (
      CMAKE_PROGRAM.test(variable) &&
      !/^(?:ON|OFF|gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ccache|-Wall|-O[0-3s]|-g|[ ])*$/.test(given)
    )
      draft.lifts.push(`-D${variable} of ${draft.form} ${RUNS}`);
    else if (given.includes("/")) reads(draft, literal(given), "-D", { tree: true });
  }
}

/** What stands after `--` of `cmake --build` reaches make or ninja. */
function nativeOptions(words: readonly Word[], draft: Draft): void {
  const at = words.findIndex((word) => textOf(word) === "--");
  if (
    at >= 0 &&
    !words.slice(at + 1).every((word) => /^-(?:[jkl]\d*|v|n)$|^\d+$/.test(textOf(word) ?? ""))
  )
    draft.lifts.push(`what ${draft.form} passes on after -- is not known to be safe`);
}

const cmakeConfigure: Form = {
  ...build,
  flags:
    "-D= -U= -G= -A= -T= -Wdev -Wno-dev -Werror=? -Wno-error=? --fresh --preset= --list-presets=? -N -LA -L -LH -LAH " +
    "--log-level= --log-context --warn-uninitialized --no-warn-unused-cli --check-system-vars --trace --trace-expand",
  trees: "-S=",
  codes: "-C=",
  writes: "-B= --graphviz= --trace-redirect= --profiling-output=",
  lifts: {
    [RUNS]: "-P= -E --open --install --debugger --workflow --find-package",
    [LOADS]: "--toolchain= --install-prefix=",
  },
  refine: (parsed, draft) => defines(parsed, draft),
};

const cmakeBuild: Form = {
  ...build,
  flags:
    "-t= --target= -j=? --parallel=? --config= --clean-first -v --verbose --use-stderr --preset= --list-presets=? --resolve-package-references=",
  writes: "--build=",
  refine: (parsed, draft) => {
    for (const { name, value } of parsed.options)
      if (/^(-t|--target)$/.test(name) && OTHERWISE.test(textOf(value) ?? "install"))
        use(draft, "run", draft.form, { cwd: true, tree: true });
  },
};

export const make: readonly VerbSpec[] = [
  {
    ...running,
    names: ["make", "gmake"],
    note: "targets named after building, testing and checking; others run project code",
    flags:
      "-B --always-make -d --debug=? -i --ignore-errors -j=? --jobs=? -k --keep-going -l=? --load-average=? -n " +
      "--just-print --dry-run --recon -O=? --output-sync=? -p --print-data-base -q --question -r --no-builtin-rules -R " +
      "--no-builtin-variables -s --silent --quiet --no-silent -S --no-keep-going --stop -t --touch --trace -v -w " +
      "--print-directory --no-print-directory -W= --what-if= --new-file= --assume-new= -o= --old-file= --assume-old= " +
      "--warn-undefined-variables --shuffle=?",
    chdirs: "-C= --directory=",
    codes: "-f= --file= --makefile=",
    reads: "-I= --include-dir=",
    lifts: {
      "runs text as a makefile": "--eval= -E=",
      "lets the environment win": "-e --environment-overrides",
    },
    help: "--help --version -v -h",
    examples: ["make --version"],
  },
  {
    ...running,
    names: ["just"],
    flags:
      "-l --list --summary --dump --evaluate --groups --variables -n --dry-run -q --quiet -v --verbose --color= --no-color " +
      "-u --unsorted -s= --show= --timestamp --one --highlight --no-highlight --yes --list-heading= --list-prefix= --unstable",
    chdirs: "-d= --working-directory=",
    codes: "-f= --justfile=",
    lifts: {
      [RUNS]:
        "-c --command --shell= --shell-arg= --choose --chooser= -e --edit --set= --shell-command",
      [LOADS]: "--dotenv-filename= -E= --dotenv-path= -g --global-justfile --tempdir=",
    },
    help: "--help --version -V -h",
    examples: ["just --version"],
  },
  {
    ...running,
    names: ["task"],
    flags:
      "-l --list -a --list-all -n --dry -s --silent -f --force -v --verbose -p --parallel -C= --concurrency= -c --color=? --status --summary -j --json --sort= -y --yes",
    chdirs: "-d= --dir=",
    codes: "-t= --taskfile=",
    lifts: { [RUNS]: "-w --watch --init -g --global --insecure --download --experiments" },
    help: "--help --version -h",
    examples: ["task --version"],
  },
  {
    ...running,
    names: ["rake"],
    flags:
      "-T=? --tasks=? -P --prereqs -D=? --describe=? -W=? --where=? -A --all -n --dry-run -q --quiet -s --silent -v --verbose=? -t=? --trace=? -j=? --jobs=? -m --multitask -N --no-search -G --no-system --build-all -B --backtrace=? --rules",
    chdirs: "-C= --directory=",
    codes: "-f= --rakefile=",
    reads: "-I= --libdir= -R= --rakelibdir=",
    lifts: {
      "runs text": "-e= --execute= -p= --execute-print= -E= --execute-continue=",
      [LOADS]: "-r= --require= -g --system",
    },
    help: "--help --version -V -h",
    examples: ["rake --version"],
  },
  {
    names: ["cmake"],
    help: "--help --version -version -h --help-commands --help-modules",
    ...cmakeConfigure,
    custom: (words, draft, context) => {
      const building = textOf(words[0]) === "--build";
      if (building) nativeOptions(words, draft);
      draft.form = building ? "cmake --build" : "cmake";
      const at = words.findIndex((word) => textOf(word) === "--");
      applyForm(
        building ? cmakeBuild : cmakeConfigure,
        building && at >= 0 ? words.slice(0, at) : words,
        draft,
        context,
      );
    },
    examples: ["cmake --version"],
  },
  {
    ...build,
    names: ["ctest"],
    flags:
      "-j=? --parallel=? -V --verbose -VV --extra-verbose -N --show-only=? -R= --tests-regex= -E= --exclude-regex= -L= " +
      "--label-regex= -LE= --label-exclude= --output-on-failure --rerun-failed --timeout= -C= --build-config= --preset= " +
      "--list-presets --stop-on-failure --progress -Q --quiet -I= --tests-information= --repeat= --no-tests= --print-labels " +
      "--test-load= --schedule-random --stop-time= --max-width= --no-label-summary -F -U --union",
    chdirs: "--test-dir=",
    writes: "-O= --output-log= --output-junit=",
    lifts: {
      [RUNS]: "-S= --script= -SP= --build-and-test= --build-makeprogram= --test-command= --launch",
      "reports to a server":
        "-D= --dashboard= -M= --test-model= -T= --test-action= --submit-index= --http1.0",
    },
    oneDash: true,
    examples: ["ctest --version"],
  },
  {
    ...build,
    names: ["ninja", "samu"],
    flags: "-j= -k= -l= -n -v --verbose --quiet -d= -w=",
    chdirs: "-C=",
    codes: "-f=",
    operands: "data",
    lifts: { [RUNS]: "-t=" },
    refine: (parsed, draft) => {
      if (parsed.operands.some((word) => OTHERWISE.test(textOf(word) ?? "install")))
        use(draft, "run", draft.form, { cwd: true, tree: true });
    },
    help: "--help --version -h",
    examples: ["ninja --version"],
  },
  {
    names: ["meson"],
    help: "--help --version -h -v",
    sub: {
      "compile test": {
        ...build,
        operands: "data",
        flags:
          "-j= --jobs= -l= --load-average= -v --verbose --clean --list -q --quiet --suite= --no-suite= --no-rebuild --repeat= --timeout-multiplier= -t= --num-processes= --print-errorlogs --maxfail= --no-stdsplit --benchmark",
        chdirs: "-C=",
        writes: "--logbase=",
        lifts: {
          [RUNS]:
            "--wrapper= --gdb --gdb-path= --setup= --interactive -i --test-args= --ninja-args= --vs-args= --xcode-args=",
        },
      },
      setup: {
        ...build,
        operands: { rest: "write" },
        flags:
          "--buildtype= -D= --reconfigure --wipe --werror --warnlevel= --default-library= --strip --unity= --backend= --fatal-meson-warnings",
        lifts: {
          [RUNS]: "--native-file= --cross-file= --vsenv",
          "sets where it installs": "--prefix= --bindir= --libdir=",
        },
      },
      introspect: {
        inCwd: "read",
        operands: "tree",
        flags:
          "-a --all --targets --tests --benchmarks --buildoptions --dependencies --projectinfo --ast -i --indent -f --force-object-output --buildsystem-files --installed",
      },
    },
    examples: ["meson --version"],
  },
];
