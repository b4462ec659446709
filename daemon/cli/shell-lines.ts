/** `recinto-sh` by hand: each line that is typed is a command of its own, judged for itself, on this terminal. */
import { createInterface } from "node:readline/promises";
import { agentClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { runOnTerminal } from "./on-terminal.ts";
import { say } from "./run-events.ts";

const EXIT_LINE = /^\s*(?:exit|logout)(?:\s+(\d+))?\s*$/;

/** Resolves with the exit code of `exit`, or of the last line. Errors: those of the API, where no session can be had. */
export async function readLines(place: {
  readonly socketPath: string;
  readonly worktree: string;
  readonly cwd: string;
}): Promise<number> {
  const client = agentClient(place);
  let { cwd } = place;
  let code = 0;
  const history: string[] = [];
  try {
    const { session } = await client.openSession(place.worktree);
    for (;;) {
      const line = await typed(`${cwd.slice(cwd.lastIndexOf("/") + 1)}$ `, history);
      if (line === null) return code;
      if (line.trim() === "") continue;
      const [exit, given] = EXIT_LINE.exec(line) ?? [];
      if (exit !== undefined) return given === undefined ? code : Number(given) & 0xff;
      try {
        const ended = await runOnTerminal(client, session.id, { command: line, cwd });
        code = ended.code;
        cwd = ended.cwd ?? cwd;
      } catch (error) {
        if (!(error instanceof RecintoError)) throw error;
        say(`${error.message} (${error.hint})`);
        code = error.exitCode;
      }
    }
  } finally {
    client.close();
  }
}

/** One line; null at the end of the input. Ctrl-C begins a new one. A reader of its own, so that commands have the keys. */
async function typed(prompt: string, history: string[]): Promise<string | null> {
  const { stdin: input, stdout: output } = process;
  const reader = createInterface({ input, output, prompt, history, terminal: true });
  reader.on("history", (lines) => history.splice(0, history.length, ...lines));
  try {
    return await new Promise((resolve) => {
      reader.once("line", resolve);
      reader.once("close", () => resolve(null));
      reader.on("SIGINT", () => {
        output.write("^C\n");
        resolve("");
      });
      reader.prompt();
    });
  } finally {
    reader.close();
  }
}
