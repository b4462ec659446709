/** `recinto git`: the sandboxes' own git beside the host's repositories, and taking an import back. */
import { Command } from "commander";
import { wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { print, printJson, table } from "./terminal-text.ts";

export function gitCommand(): Command {
  return new Command("git")
    .description("what sandboxes commit, and how it comes to the host")
    .addCommand(statusCommand())
    .addCommand(undoCommand());
}

function statusCommand(): Command {
  return new Command("status")
    .description("each sandbox's branch beside its host's")
    .argument("[project]", "one project; all of them when absent")
    .option("--json", "as JSON")
    .action((project: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const all = await admin.gitStatus(project);
        if (json) return printJson(all);
        if (all.length === 0)
          return print("no sandbox commits yet: its profile says git: commit\n");
        const rows = all.map((one) => [
          one.worktree,
          one.host ?? "(detached)",
          one.commit?.slice(0, 12) ?? "-",
          one.sandbox ?? "(detached)",
          one.left ?? "",
        ]);
        print(table(["WORKTREE", "HOST", "COMMIT", "SANDBOX", "LEFT INSIDE"], rows));
      }),
    );
}

function undoCommand(): Command {
  return new Command("undo")
    .description("take back what was brought to the host, while nothing was put on top")
    .argument("<seq>", "number of its git.imported entry")
    .addHelpText(
      "after",
      `
  recinto events --event git.imported        shows the numbers
  recinto git undo 4711                      the commits stay in the sandbox's reflog`,
    )
    .action((seq: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        const { data } = await admin.undoImport(wholeNumberOf("<seq>", seq, 1));
        print(`${data.ref}: back at ${data.old ?? "nothing: the branch was made there"}\n`);
      }),
    );
}
