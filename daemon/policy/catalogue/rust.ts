/** The Rust tool chain. */

import { build, RUNS } from "./build-form.ts";
import { type Draft, use } from "./draft.ts";
import type { HookContext } from "./spec.ts";
import { type Form, given, lastValue, type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

const SETTINGS = "sets linkers, wrappers or unstable features";
const FEATURES =
  "-v --verbose -q --quiet --color= --locked --frozen --offline -F= --features= --all-features --no-default-features";
const COMPILING =
  `${FEATURES} -p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= ` +
  "--benches --bench= --all-targets --doc -r --release --profile= -j= --jobs= --keep-going --target= --message-format= " +
  "--no-run --no-fail-fast --ignore-rust-version --timings=? --future-incompat-report";

const compiling: Form = {
  ...build,
  flags: COMPILING,
  codes: "--manifest-path=",
  writes: "--target-dir= --artifact-dir= --out-dir= --lockfile-path=",
  lifts: { [SETTINGS]: "--config= -Z=" },
  operands: "data",
  refine: (parsed, draft) => target(parsed, draft),
};

/** A target is a name; a file would set its own linker. */
function target(parsed: ParsedForm, draft: Draft): void {
  const value = lastValue(parsed, "--target");
  if (value !== null && !/^[a-z0-9_]+(-[a-z0-9_.]+)+$/.test(textOf(value) ?? ""))
    draft.lifts.push(`--target of ${draft.form} names a file that can set a linker`);
}

/** Words after `--`: of clippy they reach the compiler, so only levels of lints pass; of fmt only a check. */
function passedOn(context: HookContext, draft: Draft, allowed: RegExp): void {
  const words = context.segment.words;
  const at = words.findIndex((word) => textOf(word) === "--");
  if (at < 0) return;
  const text = words.slice(at + 1).map((word) => textOf(word) ?? "?");
  if (!allowed.test(text.join(" ")))
    draft.lifts.push(`what ${draft.form} passes on after -- is not known to be safe`);
}

const reading: Form = {
  flags: FEATURES,
  reads: "--manifest-path=",
  lifts: { [SETTINGS]: "--config= -Z=" },
  operands: "data",
  inCwd: "read",
};

export const rust: readonly VerbSpec[] = [
  {
    names: ["cargo"],
    note: "external sub-commands and `+toolchain` ask",
    flags: "-v --verbose -q --quiet --color= --locked --frozen --offline",
    chdirs: "-C=",
    lifts: { [SETTINGS]: "--config= -Z=" },
    help: "--help --version -V -h --list help version -vV",
    sub: {
      "build b check c test t bench doc d": {
        ...compiling,
        flags: `${COMPILING} --no-deps --document-private-items`,
      },
      clippy: {
        ...compiling,
        edits: "--fix",
        flags: `${COMPILING} --fix --allow-dirty --allow-staged --no-deps`,
        refine: (parsed, draft, context) => {
          target(parsed, draft);
          passedOn(context, draft, /^(?:-[ADWF] ?[\w:-]+ ?)*$/);
        },
      },
      nextest: {
        sub: {
          "run list": {
            ...compiling,
            flags: `${COMPILING} -E= --filter-expr= --no-capture --nocapture --retries= --test-threads= --fail-fast --status-level= --final-status-level= --failure-output= --success-output= -P= --cargo-profile= --partition= --run-ignored= --hide-progress-bar`,
          },
        },
      },
      fmt: {
        class: "build",
        inCwd: "read",
        flags: "--check --all -p= --package= -q --quiet -v --verbose --message-format=",
        codes: "--manifest-path=",
        operands: "data",
        refine: (parsed, draft, context) => {
          passedOn(context, draft, /^(?:--check|--edition[= ]\d+| )*$/);
          const checks =
            given(parsed, "--check") || parsed.operands.some((word) => textOf(word) === "--check");
          if (!checks) use(draft, "write", draft.form, { cwd: true, tree: true });
        },
      },
      tree: {
        ...reading,
        flags:
          `${FEATURES} -e= --edges= -i=? --invert=? --prune= --depth= --prefix= --no-dedupe -d --duplicates --charset= -f= ` +
          "--format= -p= --package= --workspace --exclude= --target= --all-targets",
      },
      metadata: { ...reading, flags: `${FEATURES} --no-deps --format-version= --filter-platform=` },
      "pkgid locate-project read-manifest verify-project": {
        ...reading,
        flags: `${FEATURES} --workspace --message-format= -p=`,
      },
      "run r": { ...compiling, class: "run", strict: true },
      clean: { ...compiling, class: "write", flags: `${COMPILING} --dry-run -n` },
      "fix miri": { ...compiling, class: "run" },
      "install add remove rm update fetch vendor generate-lockfile uninstall": {
        class: "install",
        custom: asks("install"),
      },
      "publish search login logout owner yank info package": {
        class: "network",
        custom: asks("network"),
      },
      "new init": { class: "write", custom: asks("write") },
    },
    examples: [
      "cargo --version",
      "cargo tree --offline",
      "cargo metadata --offline --no-deps --format-version 1",
    ],
  },
  {
    ...build,
    names: ["rustc"],
    flags:
      "--version --edition= --crate-type= --crate-name= -O -g --test -A= -W= -D= -F= --cap-lints= --cfg= --check-cfg= --emit= " +
      "--error-format= --color= -v --verbose --print= --explain= -V -l=",
    reads: "-L= --extern=",
    writes: "-o= --out-dir=",
    lifts: { [SETTINGS]: "-C= --codegen= -Z= --sysroot= --remap-path-prefix= --target=" },
    help: "--help --version -V -vV -h --print=sysroot",
    refine: (parsed, draft) => {
      for (const { name, value } of parsed.options)
        if (/^--(emit|print|extern)$/.test(name) && /=.*\//.test(textOf(value) ?? "=/"))
          draft.lifts.push(`${name} of ${draft.form} names a file`);
    },
    examples: ["rustc --version", "rustc -vV"],
  },
  {
    names: ["rustfmt"],
    flags:
      "--check -l --files-with-diff -q --quiet -v --verbose --edition= --color= --unstable-features --emit=",
    reads: "--config-path=",
    lifts: { "sets formatting that can read elsewhere": "--config= --print-config=" },
    operands: "read",
    help: "--help --version -V -h",
    refine: (parsed, draft) => {
      if (!given(parsed, "--check") && textOf(lastValue(parsed, "--emit")) !== "stdout")
        for (const path of parsed.operands) use(draft, "write", draft.form, { path });
    },
    examples: ["rustfmt --check src/main.rs"],
  },
  {
    names: ["rustup"],
    help: "--help --version -V -h",
    sub: {
      show: { operands: "data" },
      which: { operands: "data" },
      "toolchain target component": {
        sub: { list: { flags: "-v --verbose --installed --toolchain= -q" } },
        otherSub: { class: "install", custom: asks("install") },
      },
      run: {
        class: "run",
        custom: (_words, draft) => void draft.lifts.push(`${draft.form} ${RUNS}`),
      },
    },
    otherSub: { class: "install", custom: asks("install") },
    examples: ["rustup --version"],
  },
];

/** A sub-command that asks by its class whatever follows. */
function asks(actionClass: "install" | "network" | "write"): NonNullable<Form["custom"]> {
  return (_words, draft) => use(draft, actionClass, draft.form, { cwd: true, tree: true });
}
