/** npm, pnpm, yarn, bun and npx: scripts of the project, local tools, and what installs or reaches the registry. */

import type { Word } from "../shell/segment.ts";
import { type Draft, reads, under, use } from "./draft.ts";
import { type Manager, manager, options, type Place, tool } from "./node-managers.ts";
import { parseOptions } from "./options.ts";
import { type HookContext, optionTable, textOf, type VerbSpec } from "./spec.ts";

const SETTINGS = "can set a shell, a registry or a configuration file";
const PACKAGES = "names packages to fetch";

const npm: Manager = {
  loose: true,
  other: "refused",
  bare: "read",
  fetches: true,
  options: {
    flags:
      "-s --silent -q --quiet -d --verbose --loglevel= --json --no-json --color=? --no-color -w= --workspace= --workspaces " +
      "--include-workspace-root --if-present --ignore-scripts --foreground-scripts --no-fund --no-audit --no-progress " +
      "--progress --depth= --all -a --long -l --parseable --omit= --include= --production --dev --only= --offline " +
      "--prefer-offline --no-update-notifier --unicode -g --global --link --package-lock-only --no --no-install",
    chdirs: "-C= --prefix=",
    lifts: {
      [SETTINGS]:
        "--script-shell= --userconfig= --globalconfig= --node-options= --shell= --registry= --cache= --editor=",
      [PACKAGES]: "-p= --package= -y --yes",
      "runs a command line": "-c= --call=",
    },
  },
  commands: {
    read: "ls list ll la explain why query prefix root bin help completion fund",
    network:
      "outdated info view show v search find ping whoami audit publish unpublish login logout adduser owner deprecate " +
      "dist-tag token access team profile star stars doctor docs repo bugs",
    install:
      "install i in ins add ci clean-install install-test it install-ci-test cit update up upgrade uninstall un unlink " +
      "remove rm r link ln dedupe ddp prune rebuild rb init create",
    test: "test t tst",
    start: "start stop restart pack",
    run: "run run-script rum urn",
    exec: "exec x",
  },
};

const CHILDREN: Readonly<Record<string, RegExp>> = {
  config: /^(?:get|list|ls)$/,
  pkg: /^get$/,
  version: /^$/,
  get: /^/,
};

/** `npm config get`, `npm pkg get` and `npm version` alone read; with anything else they change. */
function npmChildren(words: readonly Word[], draft: Draft, context: HookContext): void {
  const at: Place = { folder: null };
  const operands = words.map(textOf).filter((text) => text !== null && !text.startsWith("-"));
  const reading = CHILDREN[operands[0] ?? ""];
  if (reading === undefined) {
    manager(npm)(words, draft, context);
    return;
  }
  options(words, npm, draft, at);
  draft.form = `${draft.form} ${operands[0]}`;
  if (words.every((word) => textOf(word) !== null) && reading.test(operands[1] ?? "")) {
    use(draft, "read", draft.form, { cwd: true });
  } else {
    draft.lifts.push(`${draft.form} changes settings`);
    use(draft, "write", draft.form, { cwd: true });
  }
}

const pnpm: Manager = {
  loose: false,
  other: "run",
  bare: "read",
  fetches: false,
  options: {
    flags:
      "-r --recursive --filter= -F= -s --silent --reporter= --loglevel= --parallel --stream --workspace-concurrency= -w " +
      "--workspace-root --if-present --no-bail --bail --aggregate-output --sequential --sort --no-sort --reverse --color " +
      "--no-color --fail-if-no-match --include-workspace-root --json --long --depth= --prod -P --dev -D --only-projects " +
      "--parseable -g --global --no-reporter-hide-prefix --report-summary --resume-from=",
    chdirs: "-C= --dir= --prefix=",
    lifts: {
      [SETTINGS]:
        "--script-shell= --shell-emulator --registry= --config= --node-options= --userconfig= --pnpmfile=",
      "runs a command line": "-c --shell-mode",
    },
  },
  commands: {
    read: "list ls ll la why root bin help licenses",
    network: "outdated audit publish view info",
    install:
      "install i add remove rm uninstall un update up upgrade link ln unlink import rebuild rb prune dedupe fetch patch " +
      "deploy env setup self-update approve-builds store",
    test: "test t tst",
    start: "start pack",
    run: "run run-script",
    exec: "exec",
    download: "dlx create",
    refused: "config set get server init",
  },
};

const yarn: Manager = {
  ...pnpm,
  workspace: "workspace",
  bare: "install",
  options: {
    flags:
      "-s --silent --json --verbose --offline --no-progress --non-interactive --ignore-engines --no-color --depth= --pattern= -A --all -R --recursive",
    chdirs: "--cwd=",
    lifts: {
      [SETTINGS]: "--script-shell= --use-yarnrc= --registry= --config= --cache-folder= --rc-file=",
      [PACKAGES]: "-p= --package=",
    },
  },
  commands: {
    read: "list why bin versions help licenses",
    network: "info outdated audit publish npm login logout owner tag team upgrade-interactive",
    install:
      "install add remove upgrade up import link unlink global init set plugin dedupe rebuild autoclean generate-lock-entry",
    test: "test",
    start: "start pack node",
    run: "run",
    exec: "exec",
    download: "dlx create",
    refused: "config cache policies patch patch-commit stage workspace workspaces constraints",
  },
};

const bun: Manager = {
  ...pnpm,
  bare: "read",
  options: {
    flags:
      "--bun -b --silent --if-present --filter= -F= --smol --no-install --prefer-offline --watch --hot --no-clear-screen " +
      "--elide-lines= --bail=? --timeout= -t= --test-name-pattern= --coverage --only --todo --rerun-each= " +
      "--coverage-reporter= --reporter= --update-snapshots -u --concurrent --dots --randomize --seed=",
    chdirs: "--cwd=",
    lifts: {
      [SETTINGS]: "-c= --config= --env-file= --shell= --define= -d= --conditions=",
      "loads more code":
        "-r= --preload= --require= --import= --inspect=? --inspect-brk=? -l= --loader=",
      "fetches packages": "-i --install= --prefer-latest",
      "writes elsewhere": "--coverage-dir= --reporter-outfile= --cpu-prof --heap-prof",
    },
  },
  commands: {
    install: "install i add a remove rm update link unlink create c upgrade init patch",
    network: "outdated publish audit info",
    test: "test",
    run: "run",
    download: "x",
    refused: "pm build repl exec -e -p --eval --print",
  },
};

export const nodePackages: readonly VerbSpec[] = [
  {
    ...npm.options,
    names: ["npm"],
    note: "scripts by their name: test, build, lint, check and typecheck are builds, others run project code",
    help: "--help --version -v -h -l",
    custom: npmChildren,
    examples: ["npm -v", "npm ls", "npm run", "npm pkg get name", "npm config get registry"],
  },
  {
    ...pnpm.options,
    names: ["pnpm"],
    help: "--help --version -v -h",
    custom: manager(pnpm),
    examples: ["pnpm -v"],
  },
  {
    ...yarn.options,
    names: ["yarn"],
    help: "--help --version -v -h",
    custom: manager(yarn),
    examples: ["yarn --version"],
  },
  {
    ...bun.options,
    names: ["bun"],
    help: "--help --version -v -h --revision",
    custom: (words, draft, context) => {
      const command = textOf(words.find((word) => !textOf(word)?.startsWith("-")));
      if (command !== "test") return manager(bun)(words, draft, context);
      // `bun test` takes files and its own options after the word.
      const at: Place = { folder: null };
      for (const word of options(words, { ...bun, loose: true }, draft, at).slice(1))
        reads(draft, under(at.folder, word), "operand", { tree: true });
      draft.form = "bun test";
      return use(draft, "build", "bun test", {
        ...(at.folder === null ? { cwd: true } : { path: at.folder }),
        tree: true,
      });
    },
    examples: ["bun --version"],
  },
  {
    names: ["npx", "bunx"],
    note: "only tools of the project that are in this table",
    flags: "--no-install --no --quiet -q --silent -s --bun",
    lifts: {
      [PACKAGES]: "-p= --package= -y --yes",
      "runs a command line": "-c= --call=",
      [SETTINGS]:
        "--registry= --userconfig= --shell= --script-shell= --node-options= --prefix= -w= --workspace= --cache=",
    },
    help: "--help --version -v -h",
    custom: (words, draft, context) => {
      const parsed = npxOptions(words, draft);
      tool(parsed.rest, draft, context, { folder: null }, !parsed.offline);
    },
    examples: ["npx --version"],
  },
];

function npxOptions(
  words: readonly Word[],
  draft: Draft,
): { rest: readonly Word[]; offline: boolean } {
  const spec = nodePackages.at(-1) as VerbSpec;
  const {
    options: found,
    operands,
    problems,
  } = parseOptions(words, {
    table: optionTable(spec),
    digits: false,
    strict: true,
    oneDash: false,
    anyArgs: false,
  });
  for (const problem of problems) draft.lifts.push(`${problem} of ${draft.form}`);
  for (const { name, def } of found)
    if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
  return {
    rest: operands,
    offline: found.some(({ name }) => name === "--no-install" || name === "--no"),
  };
}
