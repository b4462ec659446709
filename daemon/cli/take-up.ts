/** A command whose daemon ends while a person is asked: waits for the next daemon, and takes its question up there. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentClient, ClientRunEvent, ClientRunRequest } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { CLIENT_DAEMON_BACK_MS, CLIENT_START_RETRY_MS } from "../limits.ts";

/**
 * The command's events. It is sent again only while its question was open, when nothing of it can have run without one
 * more question; and never where its input was a stream, which cannot be had twice.
 */
export async function* runTakingUp(
  client: AgentClient,
  session: string,
  request: ClientRunRequest,
  signal: AbortSignal,
): AsyncGenerator<ClientRunEvent, void> {
  const { stdin } = request;
  const again = stdin === undefined || stdin instanceof Uint8Array;
  let waitUntil: number | null = null;
  for (;;) {
    let asked = waitUntil !== null;
    try {
      for await (const event of client.run(session, request, signal)) {
        // Told once already.
        const repeated = waitUntil !== null && event.type === "decision";
        asked = event.type === "pending" || repeated;
        if (asked && !repeated) waitUntil = null;
        if (!repeated) yield event;
      }
      return;
    } catch (error) {
      const gone = error instanceof RecintoError && error.code === "daemon-unreachable";
      if (!again || !asked || !gone || signal.aborted) throw error;
      waitUntil ??= Date.now() + CLIENT_DAEMON_BACK_MS;
      if (Date.now() > waitUntil) throw error;
      await sleep(CLIENT_START_RETRY_MS);
    }
  }
}
