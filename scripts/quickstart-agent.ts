/** The quickstart's agent: a process of its own, under the agent's uid, that knows only its project's socket. */
import { type AgentClient, agentClient } from "../daemon/api/client.ts";

export interface Outcome {
  readonly verdict: string;
  /** The scope root that let it pass, or the rule that asked. */
  readonly authority: string;
  readonly approved: boolean;
  readonly refusedBy: string | null;
  readonly reason: string;
  readonly notes: readonly string[];
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

type Message =
  | {
      readonly socketPath: string;
      readonly worktree: string;
      readonly uid: number;
      readonly gid: number;
    }
  | { readonly command: string };

let client: AgentClient;
let session: string;

async function perform(command: string): Promise<Outcome> {
  const started = performance.now();
  const seen = {
    verdict: "",
    authority: "",
    approved: false,
    refusedBy: null as string | null,
    reason: "",
  };
  const notes: string[] = [];
  const asked = new Set<string>();
  let exit: number | null = null;
  const out = { stdout: "", stderr: "" };
  for await (const event of client.run(session, { command })) {
    switch (event.type) {
      case "decision": {
        const { verdict, roots, segments, reason } = event.verdict;
        const decisive = segments.find((segment) => segment.verdict === verdict);
        seen.verdict = verdict;
        seen.authority = verdict === "allow" ? `root ${roots.join(" ")}` : (decisive?.rule ?? "");
        seen.reason = reason;
        break;
      }
      case "pending":
        // It is repeated while the question is open.
        if (!asked.has(event.approval)) process.send?.({ pending: event.approval });
        asked.add(event.approval);
        break;
      case "approved":
        seen.approved = true;
        break;
      case "note":
        notes.push(event.code);
        break;
      case "stdout":
      case "stderr":
        out[event.type] += event.data.toString();
        break;
      case "refused":
        seen.refusedBy = event.by;
        seen.reason = event.reason;
        break;
      case "exit":
        exit = event.exitCode;
        break;
    }
  }
  return { ...seen, ...out, notes, exit, ms: performance.now() - started };
}

async function handle(message: Message): Promise<Outcome | null> {
  if ("command" in message) return perform(message.command);
  process.setgroups?.([message.gid]);
  process.setgid?.(message.gid);
  process.setuid?.(message.uid);
  client = agentClient({ socketPath: message.socketPath, waitForStart: true });
  session = (await client.openSession(message.worktree)).session.id;
  return null;
}

const ready: Outcome = {
  verdict: "",
  authority: "",
  approved: false,
  refusedBy: null,
  reason: "",
  notes: [],
  exit: null,
  stdout: "",
  stderr: "",
  ms: 0,
};

process.on("message", (message: Message) => {
  handle(message).then(
    (outcome) => process.send?.({ outcome: outcome ?? ready }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
