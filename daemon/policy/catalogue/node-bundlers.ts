/** Bundlers, frameworks and task runners of Node projects: building and testing with them is a build, the rest runs. */

import { build, FETCHES, LOADS, SERVES } from "./build-form.ts";
import { use } from "./draft.ts";
import { type Form, given, type Refine, textOf, type VerbSpec } from "./spec.ts";

/** `webpack serve` is a server. */
const serving: Refine = (parsed, draft) => {
  if (parsed.operands.some((word) => /^(?:serve|server|watch|s)$/.test(textOf(word) ?? "serve")))
    use(draft, "run", draft.form, { cwd: true, tree: true });
};

const running: Form = {
  class: "run",
  custom: (_words, draft) => use(draft, "run", draft.form, { cwd: true, tree: true }),
};

export const nodeBundlers: readonly VerbSpec[] = [
  {
    names: ["next"],
    sub: {
      build: {
        ...build,
        flags:
          "--no-lint -d --debug --profile --no-mangling --turbo --turbopack --experimental-app-only",
      },
      lint: {
        ...build,
        edits: "--fix",
        flags:
          "-d= --dir= --file= --ext= --fix --strict --quiet --max-warnings= --no-cache --format= --no-inline-config " +
          "--error-on-unmatched-pattern",
        codes: "-c= --config=",
        writes: "-o= --output-file= --cache-location=",
        lifts: { [LOADS]: "--resolve-plugins-relative-to= --rulesdir=" },
      },
      typegen: build,
      info: build,
    },
    otherSub: running,
    help: "--help --version -v -h",
    examples: ["next --version"],
  },
  {
    names: ["vite"],
    flags: "-m= --mode= --base= -l= --logLevel= -d=? --debug=? -f= --filter= --clearScreen",
    codes: "-c= --config=",
    sub: {
      build: {
        ...build,
        flags:
          "--target= --assetsDir= --assetsInlineLimit= --ssr=? --sourcemap=? --minify=? --manifest=? --ssrManifest=? " +
          "-w --watch --emptyOutDir --mode= -m= --base= -l= --logLevel= --app --profile",
        codes: "-c= --config=",
        writes: "--outDir=",
      },
      optimize: build,
    },
    otherSub: running,
    noSub: running,
    help: "--help --version -v -h",
    examples: ["vite --version"],
  },
  {
    ...build,
    names: ["rollup", "webpack", "rspack"],
    flags:
      "-m= --mode= --bundleConfigAsCjs --silent --failAfterWarnings --environment= --progress --stats= --no-stats --color " +
      "--no-color --node-env= --env= --fail-on-warnings --devtool= --no-devtool -f= --format= --sourcemap=? -t= --target=",
    codes: "-c=? --config=?",
    writes: "-o= --file= --output-path= -d= --dir=",
    lifts: {
      [LOADS]: "-p= --plugin= --configPlugin= --require= --config-loader=",
      [SERVES]: "-w --watch --hot",
    },
    help: "--help --version -v -h",
    refine: serving,
    examples: ["rollup --version"],
  },
  {
    names: [
      "astro",
      "ng",
      "nuxt",
      "nuxi",
      "svelte-kit",
      "gatsby",
      "react-scripts",
      "craco",
      "vue-cli-service",
      "prisma",
    ],
    flags: "--silent --verbose --no-color",
    sub: {
      "build test lint check typecheck validate": {
        ...build,
        operands: "data",
        edits: "--fix",
        flags:
          "--watch=? --no-watch --watchAll=? --configuration= --prod --project= --ci --coverage --code-coverage --mode= " +
          "--passWithNoTests --browsers= --runInBand -t= --testNamePattern= --testPathPattern= --no-progress --progress=? --fix " +
          "--minimumSeverity= --verbose --silent",
        codes: "--config= --schema=",
        writes: "--output-path= --outDir=",
      },
    },
    otherSub: running,
    help: "--help --version -v -h",
    examples: ["ng --version"],
  },
  {
    ...build,
    names: ["esbuild"],
    oneDash: true,
    flags:
      "--bundle --minify --sourcemap=? --platform= --format= --target= --watch=? --splitting --external:= --loader= " +
      "--global-name= --metafile=? --log-level= --tree-shaking= --jsx= --packages= --color= --charset=",
    reads: "--tsconfig=",
    writes: "--outfile= --outdir=",
    lifts: { [SERVES]: "--serve=? --servedir=" },
    examples: ["esbuild --version"],
  },
  {
    names: ["turbo", "nx"],
    note: "run scripts of the project by name",
    flags:
      "--filter= -F= --no-color --color --no-daemon --force --output-logs= --concurrency= --continue --parallel --dry-run=? --verbosity= --nxBail --skip-nx-cache --all",
    chdirs: "--cwd=",
    lifts: {
      [FETCHES]: "--token= --team= --api= --login= --remote-cache-timeout=",
      [LOADS]: "--runner=",
    },
    sub: {
      "run test build lint check typecheck affected run-many": {
        ...build,
        operands: "data",
        flags:
          "--filter= -F= --no-color --color --no-daemon --force --output-logs= --concurrency= --continue --parallel " +
          "--dry-run=? -t= --target= --targets= --projects= -p= --base= --head= --all --skip-nx-cache --verbose --exclude= --configuration= -c=",
        refine: (parsed, draft) => {
          // `nx test NAME` names a project; after `run` and with a list of targets the words are tasks.
          const tasks = / run$/.test(draft.form) ? parsed.operands : [];
          const named = tasks.some(
            ({ text }) => !/(^|:)(test|build|lint|check|typecheck)[\w:-]*$/.test(text),
          );
          if (named || given(parsed, "-t --target --targets"))
            use(draft, "run", draft.form, { cwd: true, tree: true });
        },
      },
    },
    help: "--help --version -v -h",
    examples: ["turbo --version"],
  },
];
