/** The command line: loads the group that was named and nothing else, and ends with one line when something is wrong. */
import { type Command, CommanderError } from "commander";
import { COMMANDS, rootCommand } from "./cli/commands.ts";
import { fail } from "./cli/context.ts";
import { EXIT_BLOCKS } from "./cli/hook-formats.ts";
import { ERROR_KINDS } from "./errors.ts";

async function program(words: readonly string[]): Promise<Command> {
  const root = rootCommand();
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
const words = process.argv.slice(2);
try {
  const root = await program(words);
  root.hook("preAction", (_root, command) => {
    called = command;
  });
  await root.parseAsync(words, { from: "user" });
} catch (error) {
  if (!(error instanceof CommanderError)) fail(error, called);
  // Commander has written what is wrong, or the help that was asked for.
  else process.exitCode = error.exitCode === 0 ? 0 : ERROR_KINDS["bad-usage"].exit;
  // Called wrongly, too: an agent takes any other code for leave to go on.
  if (process.exitCode !== 0 && words.find((word) => Object.hasOwn(COMMANDS, word)) === "hook") {
    process.exitCode = EXIT_BLOCKS;
  }
}
