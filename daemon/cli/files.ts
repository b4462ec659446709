/** `recinto files`: what a worktree holds, read and changed as its agent would, under the policy of its commands. */
import { Command } from "commander";
import { absoluteWorktree, targetOf, targetOptions } from "./agent-target.ts";
import { wholeNumberOf } from "./arguments.ts";
import { whereOf } from "./context.ts";
import type { FileSession } from "./files-session.ts";

export function filesCommand(): Command {
  const files = new Command("files").description(
    "read and change files of a worktree, as its agent would",
  );
  add(files, "read <path>", "print a file", (c) =>
    c.option("--offset <bytes>", "first byte").option("--length <bytes>", "at most so many"),
  ).action((path, _, command) =>
    within(command, (session) =>
      session.read(path, numbers(command, ["offset", "length"] as const)),
    ),
  );
  add(files, "write <path>", "write standard input to a file, in one step", (c) =>
    c
      .option("--if-hash <sha256>", "only over this content; `absent`: only a new file")
      .option("--append", "add to the end of a file that exists")
      .option("--parents", "make the folders that are missing above it")
      .option("--executable", "make it executable"),
  ).action((path, _, command) =>
    within(command, (session) => session.write(path, given(command, WRITE_OPTIONS))),
  );
  add(files, "list [path]", "entries of a folder", (c) =>
    c.option("--after <name>", "those after this name").option("--limit <n>", "at most so many"),
  ).action((path, _, command) =>
    within(command, (session) =>
      session.list(path ?? ".", {
        ...given(command, ["after"] as const),
        ...numbers(command, ["limit"] as const),
      }),
    ),
  );
  add(files, "stat <path>", "one entry, a link as itself", (c) =>
    c.option("--hash", "with the SHA-256 of its content"),
  ).action((path, _, command) =>
    within(command, (session) => session.stat(path, given(command, ["hash"] as const))),
  );
  add(files, "mkdir <path>", "make a folder", (c) =>
    c.option("--parents", "also what is missing above it"),
  ).action((path, _, command) =>
    within(command, (session) => session.mkdir(path, given(command, ["parents"] as const))),
  );
  add(files, "remove <path>", "remove a file, a link or an empty folder", (c) =>
    c.option("--recursive", "a folder with all it holds; asks"),
  ).action((path, _, command) =>
    within(command, (session) => session.remove(path, given(command, ["recursive"] as const))),
  );
  add(files, "move <from> <to>", "move an entry", (c) =>
    c.option("--replace", "what stands there goes"),
  ).action((from, to, _, command) =>
    within(command, (session) => session.move(from, to, given(command, ["replace"] as const))),
  );
  add(files, "patch", "apply a unified diff from standard input: all or nothing", (c) =>
    c.option("--strip <n>", "path parts left out in front (1)"),
  ).action((_, command) =>
    within(command, (session) => session.patch(numbers(command, ["strip"] as const))),
  );
  add(files, "pack [path]", "write a folder to standard output as a tar archive", (c) =>
    c.option("--gzip", "compressed"),
  ).action((path, _, command) =>
    within(command, (session) => session.pack(path ?? ".", given(command, ["gzip"] as const))),
  );
  add(files, "unpack [path]", "unpack a tar archive from standard input below a folder").action(
    (path, _, command) => within(command, (session) => session.unpack(path ?? ".")),
  );
  return files;
}

const WRITE_OPTIONS = ["ifHash", "append", "parents", "executable"] as const;

function add(
  files: Command,
  words: string,
  description: string,
  options: (command: Command) => Command = (command) => command,
) {
  const command = targetOptions(files.command(words).description(description));
  return options(command).option(
    "--wait-for <seconds>",
    "longest wait for a person; 0: do not ask anybody",
  );
}

/** Runs `act` as the worktree's agent: root, who could approve what it asks for, becomes the owner first. */
async function within(
  command: Command,
  act: (session: FileSession) => Promise<void>,
): Promise<void> {
  const { waitFor } = command.opts<{ waitFor?: string }>();
  const [{ openFileSession }, asUser] = await Promise.all([
    import("./files-session.ts"),
    import("./as-user.ts"),
  ]);
  let target = await targetOf(command);
  if (asUser.isRoot()) {
    target = { ...target, worktree: await absoluteWorktree(command, target) };
    asUser.become(asUser.ownerOf(target.worktree));
  }
  const session = await openFileSession({
    ...target,
    waitForStart: (await whereOf(command)).waitForStart,
    ...(waitFor === undefined ? {} : { waitMs: wholeNumberOf("--wait-for", waitFor, 0) * 1000 }),
  });
  try {
    await act(session);
  } finally {
    session.close();
  }
}

/** The options that were given, by name. */
function given<const Names extends readonly string[]>(command: Command, names: Names) {
  const options = command.opts<Record<string, unknown>>();
  const said = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(said.map((name) => [name, options[name]])) as {
    [Name in Names[number]]?: never;
  };
}

function numbers<const Names extends readonly string[]>(command: Command, names: Names) {
  const texts = Object.entries(given(command, names) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    texts.map(([name, text]) => [name, wholeNumberOf(`--${name}`, String(text), 0)]),
  ) as { [Name in Names[number]]?: number };
}
