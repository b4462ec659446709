/** The man pages and the shell completion, made from what `--help` says. */
import type { Command } from "commander";
import { COMMANDS, rootCommand } from "../../daemon/cli/commands.ts";
import { ERROR_KINDS } from "../../daemon/errors.ts";

const root = rootCommand();
for (const make of Object.values(COMMANDS)) root.addCommand(await make());

/** Every command with the words that call it, parents first. */
function* walk(
  command: Command,
  words: readonly string[],
): Generator<[Command, readonly string[]]> {
  yield [command, words];
  for (const child of command.commands) yield* walk(child, [...words, child.name()]);
}

/** recinto(1), with a subsection for each command. */
export function recintoPage(): string {
  const lines = [
    '.\\" Made by scripts/generate-docs.ts from the --help texts. Do not edit.',
    '.TH RECINTO 1 "" "Recinto" "User Commands"',
    ".SH NAME",
    `recinto \\- ${escaped(root.description())}`,
    ".SH SYNOPSIS",
    ".B recinto",
    "[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
    ".SH OPTIONS",
    ...options(root),
    ".SH COMMANDS",
  ];
  for (const [command, words] of walk(root, ["recinto"])) {
    if (words.length === 1 || command.commands.length > 0) continue;
    lines.push(
      `.SS ${escaped(words.join(" "))} ${escaped(command.usage())}`,
      escaped(command.description()),
      ...options(command),
      ...preformatted(textAfterHelp(command)),
    );
  }
  lines.push(
    ".SH EXIT STATUS",
    "Of \\fBrecinto run\\fR: the command's own, or 126 where it was refused.",
    ...exitCodes(),
  );
  lines.push(".SH SEE ALSO", ".BR recintod (8)");
  return `${lines.join("\n")}\n`;
}

/** recintod(8): few words of its own, since it has few options. */
export function recintodPage(): string {
  return `.\\" Made by scripts/generate-docs.ts. Do not edit.
.TH RECINTOD 8 "" "Recinto" "System Administration"
.SH NAME
recintod \\- ${escaped(root.description())}: the daemon
.SH SYNOPSIS
.B recintod
[\\fB\\-\\-config\\fR \\fIfile\\fR] | \\fB\\-\\-version\\fR | \\fB\\-\\-help\\fR
.SH DESCRIPTION
Judges each command that an agent sends over its project's socket, asks a person where it must, runs it in the worktree's
own container and puts everything on record.
.SH SIGNALS
.TP
.B SIGTERM, SIGINT
Running commands get ten seconds, then they are ended; a second one leaves at once.
.TP
.B SIGHUP
Profiles, projects, rules and the log level are read again. The rest of the configuration needs a restart.
.SH ENVIRONMENT
.TP
.B NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS
Of
.BR systemd (1),
see
.BR sd_notify (3).
.TP
.B RECINTO_MAX_CONSECUTIVE_DENIALS, RECINTO_MAX_TOTAL_DENIALS
Over what the configuration says.
.SH FILES
.TP
.I /etc/recinto/config.yaml
Configuration; docs/profiles.md lists its keys.
.TP
.I /etc/recinto/profiles, /etc/recinto/projects, /etc/recinto/rules
What sandboxes look like, where agents work, which commands pass.
.TP
.I /run/recinto/admin.sock, /run/recinto/projects/ID/agent.sock
Sockets of people who answer, and of each project's agents.
.TP
.I /var/lib/recinto
State: the journal first of all.
.SH SEE ALSO
.BR recinto (1)
`;
}

/** Completion for bash: the words and options of the command typed so far. */
export function bashCompletion(): string {
  const cases = [...walk(root, ["recinto"])].map(([command, words]) => {
    const children = command.commands.map((child) => child.name());
    const flags = command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long }) => long ?? []);
    return `    "${words.slice(1).join(" ")}") words="${[...children, ...flags].join(" ")}" ;;`;
  });
  return `# bash completion for recinto. Made by scripts/generate-docs.ts. Do not edit.
_recinto_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}

_recinto() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # What stands after -- is the agent's command, and none of ours.
    if [ "$word" = -- ]; then
      COMPREPLY=()
      return
    fi
    case "$word" in -*) continue ;; esac
    # A value of an option is no command: it is passed over.
    if _recinto_words "\${path:+$path }$word"; then path="\${path:+$path }$word"; fi
  done
  _recinto_words "$path" || true
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _recinto recinto
`;
}

function options(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .flatMap(({ flags, description }) => [
      ".TP",
      `\\fB${escaped(flags)}\\fR`,
      escaped(description),
    ]);
}

/** What a command says below its options. */
function textAfterHelp(command: Command): string {
  let whole = "";
  command.configureOutput({
    writeOut: (text) => {
      whole += text;
    },
  });
  command.outputHelp();
  return whole.slice(command.helpInformation().length).trim();
}

function preformatted(text: string): string[] {
  return text === "" ? [] : [".PP", ".nf", ...text.split("\n").map(escaped), ".fi"];
}

function exitCodes(): string[] {
  const codes = new Map<number, string[]>();
  for (const [code, { exit }] of Object.entries(ERROR_KINDS)) {
    codes.set(exit, [...(codes.get(exit) ?? []), code]);
  }
  return [...codes]
    .sort(([one], [other]) => one - other)
    .flatMap(([exit, names]) => [".TP", `.B ${exit}`, escaped(names.join(", "))]);
}

/** Text as roff takes it: a backslash, a leading dot or quote, and hyphens that are to stay hyphens. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1");
}
