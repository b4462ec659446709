/** `recinto project`: which folders agents may work in. */
import { Command } from "commander";
import type { Project } from "../api/client.ts";
import { withAdmin } from "./context.ts";
import { print, printJson, table, visible } from "./terminal-text.ts";

export function projectCommand(): Command {
  return new Command("project")
    .description("the folders that agents work in")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(removeCommand());
}

interface AddOptions {
  readonly root: string;
  readonly profile: string;
  readonly worktrees: string;
  readonly agentGroup?: string;
}

function addCommand(): Command {
  return new Command("add")
    .description("declare a project and open its agent socket")
    .argument("<id>", "small letters, digits and dashes")
    .requiredOption("--root <folder>", "its root: every worktree lies below it")
    .option("--profile <name>", "its profile", "default")
    .option("--worktrees <glob>", "which folders below the root are worktrees", ".worktrees/*")
    .option("--agent-group <group>", "group of its socket; the worktree owner's when absent")
    .addHelpText(
      "after",
      `
  recinto project add shop --root /srv/shop --profile dev
  recinto project add solo --root /srv/solo --worktrees .      the root itself is the worktree`,
    )
    .action(async (id: string, options: AddOptions, command: Command) => {
      const { resolve } = await import("node:path");
      const { realpathSync, existsSync } = await import("node:fs");
      const root = resolve(options.root);
      const group = options.agentGroup;
      const project: Project = {
        id,
        // The person's shell may have come through a link; the project's root is the folder itself.
        root: existsSync(root) ? realpathSync(root) : root,
        profile: options.profile,
        worktrees: options.worktrees,
        agentGroup: group === undefined ? null : /^\d+$/.test(group) ? Number(group) : group,
      };
      await withAdmin(command, async (admin) => {
        const { whereOf } = await import("./context.ts");
        const added = await admin.addProject(project);
        const { runDir } = await whereOf(command);
        print(`${added.id}: agents connect to ${runDir}/projects/${added.id}/agent.sock\n`);
        const { noWorktree, rootOwned } = await import("./doctor-worktrees.ts");
        for (const trouble of [noWorktree(added), rootOwned(added)]) {
          if (trouble === null) continue;
          const { found, fix } = trouble;
          process.stderr.write(`warning: ${visible(found)}\n         ${visible(fix)}\n`);
        }
      });
    });
}

function listCommand(): Command {
  return new Command("list")
    .description("all projects")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const projects = await admin.projects();
        if (json) return printJson(projects);
        if (projects.length === 0)
          return print("no projects yet: recinto project add --help shows how one is added\n");
        const rows = projects.map((one) => [one.id, one.profile, one.worktrees, one.root]);
        print(table(["PROJECT", "PROFILE", "WORKTREES", "ROOT"], rows));
      }),
    );
}

function showCommand(): Command {
  return new Command("show")
    .description("one project, as JSON")
    .argument("<id>", "the project")
    .action((id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => printJson(await admin.project(id))),
    );
}

function removeCommand(): Command {
  return new Command("remove")
    .description("end its sessions, remove its sandboxes and its socket; its files stay")
    .argument("<id>", "the project")
    .action((id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        await admin.removeProject(id);
        print(`${id}: removed\n`);
      }),
    );
}
