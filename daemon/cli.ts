/** The command line: loads the group that was named and nothing else, and ends with one line when something is wrong. */
import { Command, CommanderError } from "commander";
import { fail } from "./cli/context.ts";
import { version } from "./cli/version.ts";
import { ERROR_KINDS } from "./errors.ts";

/** Each command and how it comes: only the one that is called is loaded, so that `run` starts fast. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import("./cli/run.ts")).runCommand(),
  agent: async () => (await import("./cli/agent.ts")).agentCommand(),
  files: async () => (await import("./cli/files.ts")).filesCommand(),
  mcp: async () => (await import("./cli/mcp.ts")).mcpCommand(),
  approvals: async () => (await import("./cli/approvals.ts")).approvalsCommand(),
  policy: async () => (await import("./cli/policy.ts")).policyCommand(),
  project: async () => (await import("./cli/project.ts")).projectCommand(),
  profile: async () => (await import("./cli/profile.ts")).profileCommand(),
  rules: async () => (await import("./cli/sessions.ts")).rulesCommand(),
  session: async () => (await import("./cli/sessions.ts")).sessionCommand(),
  denials: async () => (await import("./cli/sessions.ts")).denialsCommand(),
  events: async () => (await import("./cli/journal.ts")).eventsCommand(),
  stats: async () => (await import("./cli/stats.ts")).statsCommand(),
  journal: async () => (await import("./cli/journal.ts")).journalCommand(),
  hazards: async () => (await import("./cli/state.ts")).hazardsCommand(),
  sandboxes: async () => (await import("./cli/state.ts")).sandboxesCommand(),
  git: async () => (await import("./cli/git.ts")).gitCommand(),
  image: async () => (await import("./cli/image.ts")).imageCommand(),
  health: async () => (await import("./cli/state.ts")).healthCommand(),
  doctor: async () => (await import("./cli/doctor.ts")).doctorCommand(),
};

async function program(words: readonly string[]): Promise<Command> {
  const root = new Command("recinto")
    .description("a sandbox supervisor for coding agents")
    .version(version(), "-V, --version")
    .option("--run-dir <folder>", "where the daemon's sockets are (RECINTO_RUN_DIR, /run/recinto)")
    .option("--config <file>", "the daemon's config file")
    .option("--wait", "keep trying for some seconds while the daemon starts")
    .enablePositionalOptions();
  const own = words.slice(0, words.indexOf("--") >>> 0);
  // A word may also be the value of an option: then one group too many is loaded.
  const named = own.filter((word) => Object.hasOwn(COMMANDS, word));
  const all = named.length === 0 && !own.some((word) => word === "-V" || word === "--version");
  const wanted = all || own[0] === "help" ? Object.keys(COMMANDS) : named;
  for (const command of await Promise.all(wanted.map((name) => COMMANDS[name]?.()))) {
    if (command !== undefined) root.addCommand(command);
  }
  return throwing(root);
}

/** Mistakes in the words look like every other error, and are thrown, so that they get our exit code. */
function throwing(command: Command, path = command.name()): Command {
  for (const child of command.commands) throwing(child, `${path} ${child.name()}`);
  return command.exitOverride().configureOutput({
    outputError: (text, write) =>
      write(`recinto: ${text.replace(/^error: /, "").trim()} (${path} --help shows how)\n`),
  });
}

let called: Command | undefined;
try {
  const words = process.argv.slice(2);
  const root = await program(words);
  root.hook("preAction", (_root, command) => {
    called = command;
  });
  await root.parseAsync(words, { from: "user" });
} catch (error) {
  if (!(error instanceof CommanderError)) fail(error, called);
  // Commander has written what is wrong, or the help that was asked for.
  else process.exitCode = error.exitCode === 0 ? 0 : ERROR_KINDS["bad-usage"].exit;
}
