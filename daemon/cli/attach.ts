/** Attaching to a job that was started elsewhere: its output from now on, and the keyboard where it has a terminal. */
import type { AgentClient } from "../api/client.ts";
import type { ClientJobEvent, Job } from "../api/client-jobs.ts";
import type { TwoWay } from "../api/client-two-way.ts";
import { RecintoError } from "../errors.ts";
import { Loan } from "./on-terminal.ts";
import { hasTerminal } from "./raw-terminal.ts";
import { exitCodeOf, exitCodeOfSignal, passOn, say } from "./run-events.ts";
import { stdinOf } from "./run-session.ts";

/** Resolves with the command's exit code, 0 when its user left it running. Errors: those of the API. */
export async function attachTo(
  client: AgentClient,
  session: string,
  job: Job,
  since: number | undefined,
): Promise<number> {
  const loan = new Loan();
  let code: number | undefined;
  try {
    const from = since === undefined ? {} : { since };
    const connection = await client.jobs(session).attach(job.id, from, loan.signal);
    if (job.state === "running" && job.tty !== null && hasTerminal()) {
      loan.begin(connection, { detachable: true });
    } else if (job.stdin) feed(connection);
    for await (const event of connection.events) {
      if (event.type === "stdout" || event.type === "stderr") {
        await passOn(event.type, event.data);
      } else if (event.type === "at" && event.lost > 0) {
        say(`${event.lost} bytes before this are not kept any more`);
      } else if (event.type === "exit") {
        code = exitCodeOf(event);
        // What it left running may go on for hours; what was attached to is over.
        break;
      } else if (event.type === "end") code ??= 0;
    }
  } finally {
    loan.end();
  }
  if (code !== undefined) return code;
  if (loan.detached || loan.by === "SIGINT") {
    say(`job ${job.id} goes on`);
    return 0;
  }
  if (loan.by !== null) return exitCodeOfSignal(loan.by);
  throw new RecintoError("daemon-unreachable", "the stream ended before the command did");
}

/** What comes by a pipe or a file goes to the job as it comes, then its end. */
function feed(connection: TwoWay<ClientJobEvent>): void {
  const stdin = stdinOf("auto");
  if (stdin === undefined) return;
  const send = async () => {
    if (stdin instanceof Uint8Array) await connection.write(stdin);
    else for await (const chunk of stdin) await connection.write(chunk);
    connection.end();
  };
  // The command may end before it has read all: its stream says so.
  void send().catch(() => undefined);
}
