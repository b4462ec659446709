/** `recinto profile`: what sandboxes and policies look like, and whether a file of an admin's is right. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { withAdmin } from "./context.ts";
import { counted, print, printJson, table, visible } from "./terminal-text.ts";

export function profileCommand(): Command {
  const check = new Command("check")
    .description("check a profile file: every mistake with line and column; no daemon needed")
    .argument("<file>", "the YAML file")
    .option(
      "--profiles-dir <folder>",
      "where the profiles it extends are, besides the shipped ones",
    )
    .action(async (file: string, { profilesDir }: { profilesDir?: string }) => {
      const { checkProfileFile, listProblems, unsafeFile } = await import("./profile-check.ts");
      const unsafe = existsSync(file) ? unsafeFile(file) : null;
      if (unsafe !== null) {
        const { why, fix } = unsafe;
        process.stderr.write(
          `warning: ${visible(why)}: the daemon would not read it (${visible(fix)})\n`,
        );
      }
      try {
        const { image, policy } = checkProfileFile(file, profilesDir);
        const holds = `${counted(policy.rules.length, "rule")}, ${counted(policy.verbs.length, "verb")}`;
        print(`${file}: good; image ${image}, ${holds}\n`);
      } catch (error) {
        const problems = listProblems(error) ?? [];
        if (problems.length < 2) throw error;
        for (const problem of problems) process.stderr.write(`${visible(problem)}\n`);
        throw new RecintoError("bad-profile", `${file}: ${counted(problems.length, "mistake")}`, {
          hint: "mend each at the line and column named",
        });
      }
    });
  const list = new Command("list")
    .description("the profiles a project may name")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const profiles = await admin.profiles();
        if (json) return printJson(profiles);
        const rows = profiles.map((one) => [one.name, one.image, one.description]);
        print(table(["PROFILE", "IMAGE", "DESCRIPTION"], rows));
      }),
    );
  const show = new Command("show")
    .description("one profile with everything it inherits, as JSON")
    .argument("<name>", "the profile")
    .action((name: string, _options, command: Command) =>
      withAdmin(command, async (admin) => printJson(await admin.profile(name))),
    );
  return new Command("profile")
    .description("what sandboxes and policies look like")
    .addCommand(check)
    .addCommand(list)
    .addCommand(show);
}
