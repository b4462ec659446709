/** Which environment variables a command may be given: those that cannot change what runs, or where it reads and writes. */

export type EnvJudgement =
  | { readonly kind: "harmless" }
  /** Names folders that are read; scope judges them. */
  | { readonly kind: "paths"; readonly paths: readonly string[] }
  | { readonly kind: "lifts"; readonly reason: string };

const HARMLESS: EnvJudgement = { kind: "harmless" };

/** Values that can name neither a program nor a file. */
const SWITCH = /^(?:|true|false|yes|no|on|off|[0-9]{1,9})$/i;
const WORD = /^[\w.:,*=+@ -]{0,200}$/;
const LOCALE = /^(?:C|POSIX|[a-z]{2,3}(?:_[A-Z]{2})?)?(?:\.(?:utf|UTF)-?8)?$/;
const ZONE = /^(?:[A-Za-z][\w+-]*)(?:\/[A-Za-z][\w+-]*){0,2}$/;
const PLAIN_PAGER = /^(?:|cat)$/;
const NO_EDITOR = /^(?:true|:)$/;

/** Known variables whose values are safe when they have this shape. */
const TABLE: readonly (readonly [names: string, value: RegExp])[] = [
  [
    "CI NODE_ENV APP_ENV RAILS_ENV RACK_ENV FLASK_ENV MIX_ENV ASPNETCORE_ENVIRONMENT DOTNET_ENVIRONMENT DEBUG LOG_LEVEL " +
      "RUST_LOG RUST_BACKTRACE TERM COLORTERM CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN GOOS GOARCH GOARM GOAMD64 GODEBUG " +
      "GO111MODULE GOTRACEBACK GOEXPERIMENT PYTHONIOENCODING PY_COLORS DJANGO_SETTINGS_MODULE HYPOTHESIS_PROFILE",
    WORD,
  ],
  [
    "NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES PORT CGO_ENABLED GOMAXPROCS CARGO_INCREMENTAL " +
      "CARGO_NET_OFFLINE PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONUTF8 PYTHONHASHSEED PYTHONFAULTHANDLER " +
      "PYTHONTRACEMALLOC PYTHONOPTIMIZE PYTHONASYNCIODEBUG NODE_DISABLE_COLORS NODE_NO_WARNINGS HUSKY " +
      "NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO",
    SWITCH,
  ],
  ["GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS", /^0$/],
  ["PYTHONWARNINGS", /^(?:ignore|default|error|always|module|once)$/],
  ["HOST", /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1?)$/],
  ["LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME", LOCALE],
  ["TZ", ZONE],
  ["PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GH_PAGER", PLAIN_PAGER],
  ["EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR", NO_EDITOR],
  ["GOPROXY GOWORK GOSUMDB GOTELEMETRY", /^off$/],
  ["GOTOOLCHAIN", /^local$/],
  ["RUSTFLAGS RUSTDOCFLAGS", /^(?: *-[ADW] ?[a-z_:]+)* *$/],
  [
    "GOFLAGS",
    /^(?: *-(?:mod=(?:mod|vendor|readonly)|count=\d+|v|race|short|trimpath|p=\d+|tags=[\w,]+|timeout=\w+|buildvcs=\w+))* *$/,
  ],
  [
    "NODE_OPTIONS",
    /^(?: *--(?:max[-_]old[-_]space[-_]size=\d+|stack-trace-limit=\d+|experimental-vm-modules|experimental-strip-types|no-warnings|trace-warnings|no-deprecation|trace-deprecation|enable-source-maps|unhandled-rejections=\w+))* *$/,
  ],
];
const KNOWN = new Map(
  TABLE.flatMap(([names, value]) => names.split(" ").map((name) => [name, value] as const)),
);
/** Lists of folders, separated by colons. */
const PATH_LISTS = new Set(["PYTHONPATH", "MYPYPATH", "NODE_PATH"]);

/** Variables that the shell itself obeys, or that the sandbox exports: assigning them is felt without `export`. */
const SHELL_OBEYS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|DIRSTACK|TMPDIR|TMP|TEMP|IFS|ENV|CDPATH|PS[0-4]|PROMPT_.*|BASH.*|SHELLOPTS|GLOBIGNORE|EXECIGNORE|FUNCNEST|POSIXLY_CORRECT|TIMEFORMAT|OPTIND|HIST.*|INPUTRC|MAIL.*|TMOUT|FCEDIT|EDITOR|VISUAL|PAGER|LD_.*|GIT_.*|XDG_.*|CARGO_.*|RUSTUP_.*|GO[A-Z0-9]+|(?:npm|NPM)_.*|NODE_.*|PYTHON.*|.*_(?:proxy|PROXY)|_)$/;

/** Families whose members change what runs; their harmless ones are in the table. */
const DANGEROUS_FAMILY =
  /^(?:LD_|DYLD_|GIT_|BASH|PYTHON|PYTEST_|PERL|RUBY|GEM|BUNDLE|NODE_|npm_|NPM_|YARN_|PNPM_|COREPACK_|JAVA|JDK_|MAVEN|GRADLE|GCC|CC|CXX|CPP|AR$|LD$|AS$|MAKE|MFLAGS|GNUMAKE|CARGO_|RUSTC|RUSTUP_|GO[A-Z0-9]+$|DOTNET_|COR_|CORECLR_|PHP|LUA|LESS|MAN|GREP_|RIPGREP_|TAR_|ZIP|UNZIP|GZIP|XZ_|ZSTD_|RSYNC_|SSH|SUDO_|DOCKER|KUBE|AWS_|GCONV|LOC|NLS|RES_|HOSTALIASES|MALLOC_|GLIBC|GETCONF|TERMINFO|POSIXLY|XDG_|FZF_|BAT_|TEST_RUNNER)/;
const DANGEROUS_WORD =
  /(?:^|_)(?:FILE|DIR|CONFIG|CFG|CMD|COMMAND|PROG|PROGRAM|EXE|BIN|EDITOR|VISUAL|PAGER|BROWSER|SHELL|OPT|OPTS|OPTIONS|FLAGS|ARGS|PLUGIN|PLUGINS|HOOK|HOOKS|WRAPPER|LAUNCHER|RUNNER|PROFILER|PRELOAD|AUDIT|PROXY|REGISTRY|LIBRARY|INCLUDE|INIT|STARTUP)(?:_|$)|(?:PATH|HOME|RC|OPTS?|OPTIONS|FLAGS)$/;

/**
 * Judges one assignment. `value` null: not known as text. `exported`: programs see it; otherwise only the shell does.
 * A name nobody knows passes on its way to a program only as a switch or a number, and only when nothing in the name
 * says that programs, files or options are meant.
 */
export function judgeEnv(name: string, value: string | null, exported: boolean): EnvJudgement {
  const shape = KNOWN.get(name);
  if (shape !== undefined && value !== null && shape.test(value)) return HARMLESS;
  if (!exported) return SHELL_OBEYS.test(name) ? lifts(name) : HARMLESS;
  if (PATH_LISTS.has(name) && value !== null) {
    // An empty entry is the working directory, as for the programs that read these.
    return { kind: "paths", paths: value.split(":").map((path) => path || ".") };
  }
  const ours = /^[A-Z][A-Z0-9_]*$/.test(name) && !SHELL_OBEYS.test(name);
  const plain = ours && !DANGEROUS_FAMILY.test(name) && !DANGEROUS_WORD.test(name);
  return plain && shape === undefined && value !== null && SWITCH.test(value)
    ? HARMLESS
    : lifts(name);
}

function lifts(name: string): EnvJudgement {
  return { kind: "lifts", reason: `environment variable ${name} can change what runs or where` };
}
