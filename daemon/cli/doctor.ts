/** `recinto doctor`: looks at everything a working installation needs, each line ok or the fix. */
import { Command } from "commander";
import { print, visible } from "./terminal-text.ts";

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("check engine, images, daemon, sockets and permissions; each line ok or the fix")
    .action(async (_options, command: Command) => {
      const { examine } = await import("./doctor-checks.ts");
      let wrong = 0;
      for await (const { name, ok, found, fix } of examine(command)) {
        if (!ok) wrong += 1;
        print(`${ok ? "ok  " : "BAD "} ${name.padEnd(14)} ${visible(found)}\n`);
        if (fix !== undefined) print(`     ${"".padEnd(14)} ${visible(fix)}\n`);
      }
      if (wrong > 0) process.exitCode = 69;
    });
}
