/** The agent of the evaluation: a process of its own, under the agent's uid, that knows only its project's socket. */
import { type AgentClient, agentClient } from "../../daemon/api/client.ts";
import type { AuthorityInterface } from "../../daemon/authority/interface.ts";
import { RecintoError } from "../../daemon/errors.ts";

export interface Outcome {
  readonly ran: boolean;
  readonly exit: number | null;
  /** What it was shown: output, or the refusal. */
  readonly text: string;
  readonly refused: { readonly by: string; readonly reason: string } | null;
}

export interface Requested {
  readonly handle: string;
  /** The question that waits for a person; null: it was granted, or refused. */
  readonly approval: string | null;
  readonly refused: string | null;
}

export interface Connect {
  readonly socketPath: string;
  readonly worktree: string;
}

interface Call {
  readonly id: number;
  readonly method: keyof Methods;
  readonly words: readonly unknown[];
}

type Methods = typeof methods;
/** What the evaluation can tell its agent to do. */
export type AgentCalls = {
  readonly [M in keyof Methods]: (
    ...words: Parameters<Methods[M]>
  ) => Promise<Awaited<ReturnType<Methods[M]>>>;
};

let client: AgentClient;
let session: string;

const methods = {
  /** Gives up root for good. */
  become(uid: number, gid: number): void {
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  },

  async connect({ socketPath, worktree }: Connect): Promise<string> {
    client?.close();
    client = agentClient({ socketPath, waitForStart: true });
    session = (await client.openSession(worktree)).session.id;
    return session;
  },

  async run(command: string, handle: string | null = null): Promise<Outcome> {
    let text = "";
    let ran = false;
    // Nobody sits there to be asked about single commands: what asks does not run.
    for await (const event of client.run(session, {
      command,
      waitMs: 0,
      ...(handle === null ? {} : { handle }),
    })) {
      if (event.type === "stdout" || event.type === "stderr") text += event.data.toString();
      if (event.type === "started") ran = true;
      if (event.type === "note") text += `${event.reason}\n`;
      if (event.type === "exit") return { ran, exit: event.exitCode, text, refused: null };
      if (event.type === "refused") {
        const { by, reason } = event;
        return { ran, exit: null, text: reason, refused: { by, reason } };
      }
    }
    return { ran, exit: null, text, refused: null };
  },

  interface: (): Promise<AuthorityInterface> => client.interface(session),

  async request(rule: string, reason: string): Promise<Requested> {
    try {
      const { handle, approval } = await client.requestGrant(session, { rule, reason, waitMs: 0 });
      return { handle, approval, refused: null };
    } catch (error) {
      if (!(error instanceof RecintoError)) throw error;
      return { handle: "", approval: null, refused: `${error.message} (${error.hint})` };
    }
  },

  release: async (handle: string) => void (await client.releaseGrant(session, handle)),
  /** The daemon looks by itself too, and may have been faster. */
  check: async (closure: string) => {
    await client.checkClosure(session, closure).catch((error: unknown) => {
      if (!(error instanceof RecintoError)) throw error;
    });
  },
};

process.on("message", ({ id, method, words }: Call) => {
  const call = methods[method] as (...words: readonly unknown[]) => unknown;
  Promise.resolve()
    .then(() => call(...words))
    .then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: describe(error) }),
    );
});

function describe(error: unknown): { readonly code?: string; readonly message: string } {
  const { code, message } = error as { code?: string; message: string };
  return { ...(code === undefined ? {} : { code }), message };
}
