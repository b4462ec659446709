/** `recinto profile`: what sandboxes and policies look like, and whether a file of an admin's is right. */
import { Command } from "commander";
import { withAdmin } from "./context.ts";
import { print, printJson, table } from "./terminal-text.ts";

export function profileCommand(): Command {
  const check = new Command("check")
    .description("check a profile file: every mistake with line and column; no daemon needed")
    .argument("<file>", "the YAML file")
    .option(
      "--profiles-dir <folder>",
      "where the profiles it extends are, besides the shipped ones",
    )
    .action(async (file: string, { profilesDir }: { profilesDir?: string }) => {
      const { checkProfileFile } = await import("./profile-check.ts");
      const profile = checkProfileFile(file, profilesDir);
      print(`${file}: good; image ${profile.image}, ${profile.policy.rules.length} rules\n`);
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
