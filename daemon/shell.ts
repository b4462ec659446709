/** `recinto-sh`, a shell for agents that only know how to run a shell: wiring, kept small since it starts with every command. */
import { fail } from "./cli/context.ts";
import { runShell } from "./cli/shell.ts";

try {
  process.exitCode = await runShell(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
  });
} catch (error) {
  fail(error);
}
