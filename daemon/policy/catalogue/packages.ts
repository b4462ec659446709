/** Package managers: what they install asks, what they list reads, what they run in their environments is judged. */

import type { Word } from "../shell/segment.ts";
import { judgeArguments } from "./arguments.ts";
import { type Draft, reads, runs, under, use } from "./draft.ts";
import { applyForm } from "./form.ts";
import { parseOptions } from "./options.ts";
import { type Form, given, type HookContext, optionTable, textOf, type VerbSpec } from "./spec.ts";

const HERE = { cwd: true, tree: true } as const;

/** A sub-command that asks by its class, whatever follows. */
export function asks(actionClass: "install" | "network" | "engine"): Form {
  return {
    class: actionClass,
    custom: (_words, draft) => use(draft, actionClass, draft.form, HERE),
  };
}

/** Looks only, but by loading the project's Gemfile, plug-ins or own interpreter. */
const LOADING: Form = { class: "build", inCwd: "read" };

/** A manager whose commands install unless they are in a list; `flags` are those of the reading ones. */
function installer(
  names: string,
  lists: {
    reads?: string;
    network?: string;
    flags?: string;
    help?: string;
    examples?: readonly string[];
  },
): VerbSpec {
  const reading: Form = { flags: lists.flags ?? "", operands: "data" };
  return {
    names: names.split(" "),
    flags: lists.flags ?? "",
    sub: {
      ...(lists.reads === undefined ? {} : { [lists.reads]: reading }),
      ...(lists.network === undefined ? {} : { [lists.network]: asks("network") }),
    },
    otherSub: asks("install"),
    noSub: asks("install"),
    help: lists.help ?? "--version -V --help -h -v",
    examples: lists.examples ?? [],
  };
}

/** `uv run`, `poetry run`: a command in the project's environment, judged as that command. */
function runner(flags: string, lifts: NonNullable<Form["lifts"]>, chdirs = ""): Form {
  const form: Form = { class: "run", flags, lifts, chdirs };
  return {
    ...form,
    custom: (words, draft, context) => {
      const parsed = parseOptions(words, {
        table: optionTable(form),
        digits: false,
        strict: true,
        oneDash: false,
        anyArgs: false,
      });
      for (const problem of parsed.problems) draft.lifts.push(`${problem} of ${draft.form}`);
      let folder: Word | null = null;
      for (const { name, value, def } of parsed.options) {
        if (def.lift !== null) draft.lifts.push(`${name} of ${draft.form} ${def.lift}`);
        if (def.role !== "chdir" || value === null) continue;
        folder = under(folder, value);
        reads(draft, folder, name, { tree: true });
      }
      const module = parsed.options.some(({ name }) => name === "-m" || name === "--module");
      inEnvironment(parsed.operands, module, draft, context, folder);
    },
  };
}

/** The words of a command whose program comes from the project's environment: never less than a build. */
function inEnvironment(
  words: readonly Word[],
  module: boolean,
  draft: Draft,
  context: HookContext,
  folder: Word | null,
): void {
  const [program, ...rest] = words;
  const name = textOf(program);
  const here = folder === null ? HERE : { path: folder, tree: true };
  const spec =
    module || name === null || name.includes("/") ? undefined : context.catalogue.get(name);
  const known =
    spec !== undefined &&
    (spec.class === "build" || spec.class === "run" || spec.sub !== undefined);
  if (program === undefined) {
    use(draft, "run", draft.form, here);
    return;
  }
  draft.form = `${draft.form} ${program.text}`;
  if (known && folder === null && !/^(?:ba|z|da)?sh$/.test(name ?? "")) {
    use(draft, "build", draft.form, here);
    applyForm(spec, rest, draft, context);
    return;
  }
  use(draft, "run", draft.form, here);
  if (name === null) draft.lifts.push(`the program ${program.text} is not known`);
  else if (/\/|\.py$/.test(name)) runs(draft, under(folder, program), "program");
  else if (!module && spec === undefined) draft.lifts.push(`${name} is not in the catalogue`);
  else if (!module && folder === null)
    draft.lifts.push(`${name} is not judged inside ${draft.form}`);
  judgeArguments(rest, draft, folder);
}

const WITH = {
  "installs more packages": "--with= --with-editable= --with-requirements= -w=",
  "picks an interpreter": "-p= --python=",
};

const pip: Form = {
  flags:
    "-v --verbose -q --quiet --disable-pip-version-check --no-color --no-input --isolated --require-virtualenv",
  sub: {
    list: {
      flags:
        "--format= -v --verbose -l --local --user -e --editable --not-required --exclude= --include-editable " +
        "--exclude-editable --pre -o --outdated -u --uptodate --disable-pip-version-check",
      reads: "--path=",
      refine: (parsed, draft) => {
        if (given(parsed, "-o --outdated -u --uptodate")) use(draft, "network", draft.form);
      },
    },
    "show freeze check inspect debug": {
      flags:
        "-f --files -v --verbose -l --local --all --exclude= --user --disable-pip-version-check --strict",
      reads: "--path= -r= --requirement=",
      operands: "data",
    },
    "cache config": {
      sub: { "dir info list get debug": { operands: "data", flags: "-v --format=" } },
      otherSub: asks("install"),
    },
    "search index": asks("network"),
    help: { operands: "data" },
  },
  otherSub: asks("install"),
  noSub: {},
  help: "--version -V --help -h",
};

/** `composer test`, `composer run NAME`: scripts of the project by their name. */
const composerScripts: Form = {
  class: "run",
  custom: (words, draft) => {
    const name = /run/.test(draft.form) ? textOf(words[0]) : draft.form.slice("composer ".length);
    const builds = /^(?:test|lint|check|analy[sz]e|phpstan|psalm|cs|build)(?![a-z])/.test(
      name ?? "",
    );
    const publishes = /deploy|publish|release/.test(name ?? "");
    use(draft, builds && !publishes ? "build" : "run", draft.form, HERE);
    judgeArguments(words, draft);
  },
};

export const packages: readonly VerbSpec[] = [
  {
    ...pip,
    names: ["pip", "pip3"],
    examples: ["pip --version", "pip list", "pip show pip", "pip freeze", "pip check"],
  },
  {
    names: ["uv"],
    flags: "-q --quiet -v --verbose --offline --no-cache -n --color= --no-progress --no-config",
    sub: {
      run: runner(
        "--no-sync --frozen --locked --offline --isolated -q --quiet -v --verbose --extra= --group= --all-extras --all-groups " +
          "--no-extra= --no-group= --only-group= --dev --no-dev --only-dev --package= --all-packages --active --exact -m --module --no-project",
        {
          ...WITH,
          "reads settings elsewhere":
            "--env-file= --config-file= -s --script --gui-script --index= --index-url= -i=",
        },
        "--directory= --project=",
      ),
      pip: {
        sub: {
          "list show freeze check tree": {
            ...LOADING,
            flags:
              "--format= -v -q --exclude= --editable -e --strict --depth= --invert --no-dedupe --files",
            operands: "data",
          },
        },
        otherSub: asks("install"),
      },
      "version help": { operands: "data", flags: "--short" },
    },
    otherSub: asks("install"),
    noSub: {},
    examples: ["uv --version"],
  },
  ...["poetry", "pipenv", "pdm"].map(
    (name): VerbSpec => ({
      names: [name],
      flags: "-q --quiet -v --verbose -n --no-interaction --no-ansi --ansi --no-plugins --no-cache",
      chdirs: "-C= --directory=",
      sub: {
        run: runner("-q -v --no-site-packages", {}),
        "show list check version about": {
          flags:
            "-t --tree -a --all --why --no-dev --with= --without= --only= -s --short --lock --format= --json -T",
          lifts: { "asks the registry": "-o --outdated -l --latest" },
          operands: "data",
          ...LOADING,
        },
      },
      otherSub: asks("install"),
      noSub: {},
      help: "--version -V --help -h",
      examples: [`${name} --version`],
    }),
  ),
  installer("pipx uvx", { reads: "list environment", flags: "--short --json" }),
  installer("conda mamba micromamba", {
    reads: "list info",
    network: "search",
    flags: "-n= --name= --json -e --envs --show-channel-urls --export --explicit --no-pip",
    examples: [],
  }),
  installer("gem", {
    reads: "list which env environment contents specification dependency",
    network: "search query outdated push owner signin signout fetch info",
    flags: "-l --local -a --all -d --details -q --quiet -v=",
    help: "--version -v --help -h",
  }),
  installer("apt apt-get aptitude", {
    reads: "list show policy search depends rdepends showsrc",
    network: "changelog download source",
    flags: "--installed --upgradable --all-versions -a -q -qq",
  }),
  installer("apt-cache", {
    reads: "policy show search depends rdepends pkgnames madison stats showpkg",
    flags: "-q -n --names-only --installed",
  }),
  installer("apk", {
    reads: "info list policy version",
    network: "search fetch",
    flags: "-e -L -v -q --installed -I -W -R -a -d -s -w",
  }),
  installer("yum dnf microdnf zypper pacman snap flatpak port nix nix-env nix-shell", {
    flags: "",
  }),
  installer("brew", {
    reads: "list ls deps leaves config --prefix --cellar --repository uses",
    network: "info search outdated home livecheck",
    flags: "--versions --formula --cask --installed --tree -1 -l",
  }),
  {
    names: ["dpkg", "dpkg-query"],
    flags:
      "-l --list -s --status -L --listfiles -S --search -p --print-avail --get-selections --print-architecture --print-foreign-architectures -W --show -f= --showformat= --no-pager",
    reads: "-I= --info= -c= --contents= -e=",
    lifts: {
      "installs or removes":
        "-i --install -r --remove -P --purge --unpack --configure -x --extract -a --set-selections --add-architecture",
    },
    operands: "data",
    help: "--version --help",
    examples: ["dpkg -l", "dpkg -s bash", "dpkg --print-architecture"],
  },
  {
    names: ["rpm"],
    flags:
      "-q --query -a --all -i --info -l --list -f --file -c -d -V --verify --qf= --queryformat= --whatprovides --requires --provides --changelog",
    lifts: {
      "installs or removes":
        "-U --upgrade -F -e --erase --install --import --rebuilddb --eval= -E= --define= -D=",
    },
    operands: "data",
    refine: (parsed, draft) => {
      if (!given(parsed, "-q --query -V --verify")) {
        use(draft, "install", draft.form);
        draft.lifts.push("rpm without a query installs");
      }
    },
    examples: ["rpm --version"],
  },
  {
    names: ["bundle", "bundler"],
    sub: {
      exec: runner("--keep-file-descriptors", { "reads settings elsewhere": "--gemfile=" }),
      "list show info check platform licenses version help": {
        flags: "--paths --name-only --path --dry-run --ruby --version",
        operands: "data",
        ...LOADING,
      },
      outdated: asks("network"),
    },
    otherSub: asks("install"),
    noSub: asks("install"),
    help: "--version -v --help -h",
    examples: ["bundle --version"],
  },
  {
    names: ["composer"],
    flags:
      "-q --quiet -v -vv -vvv -n --no-interaction --no-ansi --ansi --no-plugins --no-scripts --profile --no-cache",
    chdirs: "-d= --working-dir=",
    sub: {
      "test lint check analyse analyze phpstan psalm cs run run-script": composerScripts,
      "validate show info licenses depends why prohibits why-not check-platform-reqs status suggests fund":
        {
          flags:
            "-i --installed -D --direct -t --tree -N --name-only -f= --format= --no-dev --no-check-all --no-check-publish --no-check-lock --strict --with-dependencies -P --path -s --self -l --latest=?",
          lifts: { "asks the registry": "-o --outdated --available -a --all" },
          operands: "data",
          ...LOADING,
        },
      "outdated search browse home diagnose audit": asks("network"),
    },
    otherSub: asks("install"),
    noSub: {},
    help: "--version -V --help -h",
    examples: ["composer --version"],
  },
  installer(
    "cpan cpanm luarocks cabal stack opam nimble vcpkg conan corepack volta fnm nvm pyenv rbenv asdf mise sdk",
    { reads: "list versions version which where current ls", flags: "" },
  ),
];
