/** `recinto contract` and `recinto phase`: what a task may do beyond its profile, and how far it has come. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { Contract } from "../api/client-authority.ts";
import { RecintoError } from "../errors.ts";
import { withAdmin } from "./context.ts";
import { counted, localTime, print, printJson, table, visible } from "./terminal-text.ts";

/** The schema that `scripts/generate-docs.ts` writes. */
const SCHEMA = new URL("../../profiles/contract.schema.json", import.meta.url);

export function contractCommand(): Command {
  return new Command("contract")
    .description("what a task may do beyond its profile, and what ends it (docs/authority.md)")
    .addCommand(checkCommand())
    .addCommand(setCommand())
    .addCommand(showCommand())
    .addCommand(listCommand())
    .addCommand(clearCommand())
    .addCommand(
      new Command("schema")
        .description("the JSON Schema of contract files, for editors")
        .action(() => print(readFileSync(SCHEMA, "utf8"))),
    );
}

interface At {
  readonly project: string;
  readonly worktree: string;
}

function atWorktree(command: Command): Command {
  return command
    .requiredOption("--project <id>", "the project")
    .requiredOption("--worktree <folder>", "the worktree: a path, or its name below the root");
}

function checkCommand(): Command {
  return new Command("check")
    .description("check a contract: every mistake and doubt with line and column; no daemon needed")
    .argument("<file>", "the YAML file; - for standard input")
    .option("--profile <name>", "the profile that its envelope is held against")
    .option("--profiles-dir <folder>", "where profiles are, besides the shipped ones")
    .action(async (file: string, options: { profile?: string; profilesDir?: string }) => {
      const { checkContractFile, contractText } = await import("./contract-check.ts");
      const { profile: name, profilesDir: dir } = options;
      const against =
        name === undefined ? undefined : { name, ...(dir === undefined ? {} : { dir }) };
      const { contract, mistakes, warnings } = checkContractFile(file, contractText(file), against);
      for (const line of mistakes) process.stderr.write(`${visible(line)}\n`);
      for (const line of warnings) process.stderr.write(`warning: ${visible(line)}\n`);
      if (contract === null) {
        throw new RecintoError("bad-contract", `${file}: ${counted(mistakes.length, "mistake")}`, {
          hint: "mend each at the line and column named",
        });
      }
      const { task, envelope, grants, closures } = contract;
      const holds = [
        counted(envelope.length, "envelope entry").replace("entrys", "entries"),
        counted(grants.length, "grant rule"),
        counted(closures.length, "closure"),
      ];
      print(`${file}: good; task ${task}, ${holds.join(", ")}\n`);
    });
}

function setCommand(): Command {
  return atWorktree(new Command("set"))
    .description("put every session on a worktree under a contract; what another one granted ends")
    .argument("<file>", "the YAML file; - for standard input")
    .action(async (file: string, { project, worktree }: At, command: Command) => {
      const { contractText } = await import("./contract-check.ts");
      const text = contractText(file);
      await withAdmin(command, async (admin) => {
        const set = await admin.setContract(project, worktree, text);
        for (const { line, column, key, message } of set.warnings) {
          process.stderr.write(
            `warning: ${visible(`${file}:${line}:${column}: ${key}: ${message}`)}\n`,
          );
        }
        print(`${visible(set.worktree)}: task ${set.task}${phaseText(set)}, epoch ${set.epoch}\n`);
      });
    });
}

function phaseText({ phase }: Contract): string {
  return phase === null ? "" : `, phase ${phase}`;
}

function showCommand(): Command {
  return atWorktree(new Command("show"))
    .description("a worktree's contract as it was set")
    .option("--json", "as JSON, with phase, epoch and warnings")
    .action(({ project, worktree, json }: At & { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const { resolve } = await import("node:path");
        const here = resolve(worktree);
        const found = (await admin.contracts(project)).find(
          (one) => one.worktree === here || one.worktree.endsWith(`/${worktree}`),
        );
        if (found === undefined) {
          throw new RecintoError("not-found", `${worktree} of ${project} has no contract`, {
            hint: "recinto contract list shows those there are",
          });
        }
        if (json) printJson(found);
        else print(found.text.endsWith("\n") ? found.text : `${found.text}\n`);
      }),
    );
}

function listCommand(): Command {
  return new Command("list")
    .description("the contracts in force")
    .argument("[project]", "of one project; of all when absent")
    .option("--json", "as JSON")
    .action((project: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const all = await admin.contracts(project);
        if (json) return printJson(all);
        if (all.length === 0)
          return print("no contracts: every session has its profile's permission\n");
        const rows = all.map((one) => [
          one.project,
          one.task,
          one.phase ?? "-",
          String(one.epoch),
          localTime(one.setAt),
          String(one.setBy),
          one.worktree,
        ]);
        print(table(["PROJECT", "TASK", "PHASE", "EPOCH", "SET", "BY UID", "WORKTREE"], rows));
      }),
    );
}

function clearCommand(): Command {
  return atWorktree(new Command("clear"))
    .description("take a worktree's contract away: its profile's permission holds again")
    .action(({ project, worktree }: At, command: Command) =>
      withAdmin(command, async (admin) => {
        await admin.clearContract(project, worktree);
        print(`${visible(worktree)}: no contract any more\n`);
      }),
    );
}

export function phaseCommand(): Command {
  return atWorktree(new Command("phase"))
    .description("move a worktree's task on to a phase of its contract")
    .argument("<phase>", "the phase it enters")
    .action((phase: string, { project, worktree }: At, command: Command) =>
      withAdmin(command, async (admin) => {
        const set = await admin.setPhase(project, worktree, phase);
        print(`${visible(set.worktree)}: task ${set.task}${phaseText(set)}, epoch ${set.epoch}\n`);
      }),
    );
}
