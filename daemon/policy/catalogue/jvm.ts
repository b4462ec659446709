/** Build tools and compilers of the JVM and of .NET. */

import { build, FETCHES, LOADS, RUNS } from "./build-form.ts";
import { use } from "./draft.ts";
import { asks } from "./packages.ts";
import { type Form, given, type Refine, textOf, type VerbSpec } from "./spec.ts";

const HERE = { cwd: true, tree: true } as const;

/** Goals of maven up to the packaging of the project; `install` and `deploy` leave it. */
const GOAL =
  /^(?:clean|validate|initialize|(?:generate|process)-(?:test-)?(?:sources|resources)|(?:test-)?compile|process-(?:test-)?classes|test|prepare-package|package|(?:pre-|post-)?integration-test|verify|checkstyle:check|spotless:check|spotbugs:check|pmd:check|enforcer:enforce|dependency:(?:tree|analyze|list))$/;
/** Tasks of gradle, with or without the path of a sub-project. */
const TASK =
  /^(?::?[\w-]+)*:?(?:test|check|build|assemble|classes|testClasses|compile\w*|lint\w*|ktlintCheck|detekt|spotlessCheck|checkstyle\w*|spotbugs\w*|pmd\w*|javadoc|jar|war|bootJar|clean|cleanTest|tasks|projects|dependencies|properties|help|\w+Test)$/;
const PROPERTY =
  /^(?:skipTests|skipITs|test|it\.test|maven\.test\.(?:skip|failure\.ignore)|surefire\.failIfNoSpecifiedTests|surefire\.useFile|failIfNoTests|groups|excludedGroups|\w+\.skip|style\.color|revision|org\.gradle\.(?:parallel|caching|daemon|console))(?:=[\w.,*#:$+!-]*)?$/;

/** Goals decide the class; properties must be ones that only choose tests or switch checks off. */
function goals(known: RegExp): Refine {
  return (parsed, draft) => {
    for (const word of parsed.operands)
      if (!known.test(textOf(word) ?? "?")) {
        use(draft, "run", `goal ${word.text}`, HERE);
        if (
          /deploy|publish|upload|release|push|^(?:dependency|versions|archetype|wagon|scm|wrapper):/i.test(
            word.text,
          )
        )
          use(draft, "network", draft.form);
      }
    for (const { name, value } of parsed.options)
      if (/^(-D|--define|--system-prop)$/.test(name) && !PROPERTY.test(textOf(value) ?? "?"))
        draft.lifts.push(
          `-D${textOf(value) ?? "?"} of ${draft.form} can change what runs or where`,
        );
      else if (
        /^(-P|--project-prop)$/.test(name) &&
        draft.form === "gradle" &&
        !/^\w+(?:=[\w.-]*)?$/.test(textOf(value) ?? "?")
      )
        draft.lifts.push(`${name} of ${draft.form} can change what runs or where`);
  };
}

/** Properties of msbuild that choose a flavour of the build. */
const MSBUILD =
  /^(?:Configuration|Platform|TargetFramework|TreatWarningsAsErrors|WarningLevel|CollectCoverage|CoverletOutputFormat|Version|ContinuousIntegrationBuild|UseSharedCompilation|nodeReuse)=[\w.-]*$/;
const dotnet: Form = {
  ...build,
  flags:
    "-c= --configuration= -f= --framework= -r= --runtime= --no-restore --no-build --no-incremental --no-dependencies -v= " +
    "--verbosity= --nologo --filter= -l= --logger= -t --list-tests --blame --blame-hang --blame-hang-timeout= --collect= " +
    "--self-contained --sc --force -a= --arch= --os= --tl= -m=? -p= --property= --no-logo " +
    "--verify-no-changes --severity= --include= --exclude= --diagnostics= --no-cache --disable-build-servers",
  codes: "-s= --settings=",
  writes: "-o= --output= --results-directory= --artifacts-path= -d= --diag= --binarylog=? -bl=?",
  lifts: { [LOADS]: "--test-adapter-path= -e= --environment=", [RUNS]: "--source=" },
  refine: (parsed, draft) => {
    for (const { name, value } of parsed.options) {
      const text = textOf(value) ?? "?";
      if (/^(-p|--property)$/.test(name) && !MSBUILD.test(text.replace(/^:|^roperty:/, "")))
        draft.lifts.push(`${name} of ${draft.form} can change what runs or where`);
      if (/^(-l|--logger)$/.test(name) && !/^[\w]+(?:;verbosity=\w+)?$/.test(text))
        draft.lifts.push(`${name} of ${draft.form} can write elsewhere`);
    }
    for (const { name, value } of parsed.options)
      if (/^-[farc]$/.test(name) && !/^[\w.-]+$/.test(textOf(value) ?? "?"))
        draft.lifts.push(`${name} of ${draft.form} is an option of msbuild`);
    // `/p:Name=value` is an option of msbuild although it looks like a path.
    if (parsed.operands.some((word) => /^\/[A-Za-z]+(?::|$)/.test(textOf(word) ?? "")))
      draft.lifts.push(`${draft.form} has options of msbuild`);
  },
};

export const jvm: readonly VerbSpec[] = [
  {
    ...build,
    names: ["mvn", "mvnd"],
    flags:
      "-q --quiet -B --batch-mode -o --offline -e --errors -X --debug -T= --threads= -pl= --projects= -am --also-make -amd " +
      "--also-make-dependents -fae --fail-at-end -ff --fail-fast -fn --fail-never -N --non-recursive -ntp " +
      "--no-transfer-progress -V --show-version -P= --activate-profiles= -D= --define= -nsu --no-snapshot-updates -rf= " +
      "--resume-from= -C --strict-checksums -c --lax-checksums",
    codes: "-f= --file=",
    writes: "-l= --log-file=",
    lifts: {
      "reads settings elsewhere":
        "-s= --settings= -gs= --global-settings= -t= --toolchains= -gt= -emp= -ep=",
      [FETCHES]: "-U --update-snapshots",
    },
    oneDash: true,
    operands: "data",
    refine: goals(GOAL),
    help: "--version -v --help -h",
    examples: [],
  },
  {
    ...build,
    names: ["gradle"],
    note: "`./gradlew` is a program of the project: run",
    flags:
      "-q --quiet -i --info -d --debug -w --warn -s --stacktrace -S --full-stacktrace --offline --daemon --no-daemon " +
      "--parallel --no-parallel --continue --no-continue --rerun-tasks --rerun --build-cache --no-build-cache " +
      "--configuration-cache --no-configuration-cache --console= --tests= -x= --exclude-task= -m --dry-run --profile " +
      "--max-workers= --warning-mode= -D= --system-prop= -P= --project-prop= -a --no-rebuild --stop --status -t --continuous " +
      "--all --configuration= --watch-fs --no-watch-fs",
    chdirs: "-p= --project-dir=",
    codes: "-b= --build-file= -c= --settings-file=",
    writes: "--project-cache-dir=",
    lifts: {
      [LOADS]: "-I= --init-script= --include-build= -g= --gradle-user-home=",
      [FETCHES]: "--scan --refresh-dependencies -U --write-verification-metadata= -M=",
    },
    operands: "data",
    refine: goals(TASK),
    help: "--version -v --help -h",
    examples: ["gradle --version"],
  },
  {
    ...build,
    names: ["sbt", "mill", "lein", "ant", "bazel", "bazelisk", "buck2", "pants"],
    note: "test, compile and check alone; else project code",
    operands: "data",
    refine: (parsed, draft) => {
      if (
        !parsed.operands.every((word) =>
          /^(?:clean|test|compile|Test\/compile|check|build|scalafmtCheck\w*|__\.test|__\.compile|\/\/\.\.\.)$/.test(
            textOf(word) ?? "?",
          ),
        ) ||
        /bazel|buck/.test(draft.form)
      )
        use(draft, "run", draft.form, HERE);
    },
    help: "--help",
    examples: [],
  },
  {
    ...build,
    names: ["javac", "kotlinc", "scalac"],
    oneDash: true,
    flags:
      "-g -nowarn -verbose -deprecation -source= -target= --release= -Xlint -Xlint:all -encoding= -parameters -Werror -implicit: -proc:none -jvm-target= --enable-preview",
    reads: "-cp= -classpath= --class-path= -sourcepath= --source-path= --module-path= -p=",
    writes: "-d= -s= -h=",
    lifts: {
      [RUNS]: "-script -expression= -e=",
      [LOADS]: "-processor= -processorpath= --processor-path= -Xplugin= -J= -Xbootclasspath=",
    },
    help: "--version -version --help -help",
    examples: [],
  },
  {
    names: ["dotnet"],
    help: "--version --info --list-sdks --list-runtimes --help -h -v",
    sub: {
      "build test clean pack": dotnet,
      format: {
        ...dotnet,
        refine: (parsed, draft, context) => {
          dotnet.refine?.(parsed, draft, context);
          if (!given(parsed, "--verify-no-changes")) use(draft, "write", draft.form, HERE);
        },
      },
      "restore add remove tool workload new": asks("install"),
      nuget: asks("network"),
      list: {
        operands: "data",
        class: "build",
        inCwd: "write",
        flags: "--include-transitive --framework= --format=",
        lifts: { [FETCHES]: "--outdated --vulnerable --deprecated" },
      },
      "run watch exec ef msbuild publish script fsi": {
        class: "run",
        custom: (_words, draft) => use(draft, "run", draft.form, HERE),
      },
    },
    otherSub: { class: "run", custom: (_words, draft) => use(draft, "run", draft.form, HERE) },
    examples: ["dotnet --version"],
  },
];
