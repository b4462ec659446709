/** `recinto policy files`, `trust` and `distrust`: which rule files count, and the ones that agents can write. */
import { Command } from "commander";
import type { AdminClient, RuleFile } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { confirm } from "./confirm.ts";
import { withAdmin } from "./context.ts";
import { print, printJson, table, visible } from "./terminal-text.ts";

export function filesCommand(): Command {
  return new Command("files")
    .description("the rule files of a project, from every source, and whether they count")
    .argument("<project>", "the project")
    .option("--json", "as JSON, with every rule")
    .action((project: string, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const files = await admin.ruleFiles(project);
        if (json) return printJson(files);
        if (files.length === 0)
          return print("no rule files: the profile and the built-in rules hold\n");
        const rows = files.map((one) => [
          one.source,
          one.owner,
          one.state,
          String(one.rules.length),
          one.file,
        ]);
        print(table(["SOURCE", "OF", "STATE", "RULES", "FILE"], rows));
        for (const { file, problem } of files) {
          if (problem !== undefined) print(`${visible(file)}: ${visible(problem)}\n`);
        }
      }),
    );
}

export function trustCommand(): Command {
  return new Command("trust")
    .description("let a policy file in a worktree count, as long as it says what it says now")
    .argument("<project>", "the project")
    .argument("<file>", ".recinto/policy.yaml or coder_policy.json of a worktree or of the root")
    .option("--yes", "do not ask")
    .action((id: string, path: string, { yes }: { yes?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const file = await fileNamed(admin, id, path);
        if (file.sha256 === undefined || file.state === "broken") {
          throw new RecintoError("bad-rules", `${file.file}: ${file.problem ?? "cannot be used"}`);
        }
        print(trustText(file));
        if (file.state === "trusted") return print("this content is trusted already\n");
        if (!yes && !(await confirm("trust exactly this content?"))) {
          throw new RecintoError("bad-usage", "nothing was trusted", {
            hint: "answer y, or give --yes",
          });
        }
        const { state } = await admin.trustRuleFile(id, file.file, file.sha256);
        print(`${visible(file.file)}: ${state}\n`);
      }),
    );
}

export function distrustCommand(): Command {
  return new Command("distrust")
    .description("forget every content of a policy file that was trusted")
    .argument("<project>", "the project")
    .argument("<file>", "the file, or its name below a worktree")
    .action((id: string, path: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        const { resolve } = await import("node:path");
        const here = resolve(path);
        const known = (await admin.ruleFiles(id)).some(({ file }) => file === here);
        const { forgotten } = await admin.distrustRuleFile(id, known ? here : path);
        print(`${forgotten} trusted contents forgotten\n`);
      }),
    );
}

async function fileNamed(admin: AdminClient, id: string, path: string): Promise<RuleFile> {
  const [{ resolve }, { realpathSync, existsSync }] = await Promise.all([
    import("node:path"),
    import("node:fs"),
  ]);
  const { dirname, basename, join } = await import("node:path");
  const asked = resolve(path);
  // The way to the file may lead over a link; the file itself may not be one.
  const folder = dirname(asked);
  const real = existsSync(folder) ? join(realpathSync(folder), basename(asked)) : asked;
  const own = (await admin.ruleFiles(id)).filter(
    ({ sha256, state, source }) =>
      source === "project" && (sha256 !== undefined || state === "broken"),
  );
  const found = own.find(({ file }) => file === real || file === asked);
  if (found !== undefined) return found;
  throw new RecintoError("not-found", `${asked} is no policy file of project ${id}`, {
    hint:
      own.length > 0
        ? `there are: ${own.map(({ file }) => file).join(", ")}`
        : "it is .recinto/policy.yaml or coder_policy.json, in a worktree or at the root",
  });
}

/** What the person agrees to: every rule, then the hash that it is bound to. */
export function trustText({ file, rules, sha256, problem }: RuleFile): string {
  const lines = rules.map(({ action, rule, justification }) => {
    const why = justification === undefined ? "" : `  (${justification})`;
    return `  ${action.padEnd(5)} ${visible(rule)}${visible(why)}\n`;
  });
  return [
    `${visible(file)}\n`,
    ...(lines.length > 0 ? lines : ["  no rules\n"]),
    ...(problem === undefined ? [] : [`${visible(problem)}\n`]),
    `sha256 ${sha256}\n`,
    "an agent can write this file: a change of it is trusted no more. It never lifts the admin's denies, safety or ceilings.\n",
  ].join("");
}
