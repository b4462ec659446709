/** What a command's events come to at the caller's side: output passed on, the rest said on stderr, one exit code. */
import { once } from "node:events";
import { constants } from "node:os";
import type { ClientRunEvent } from "../api/client-run.ts";
import { carried } from "../api/client-run.ts";
import { visible } from "./terminal-text.ts";

export const EXIT_REFUSED = 126;
/** As timeout(1) says it. */
const EXIT_TIMED_OUT = 124;
const EXIT_SIGNAL = 128;

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | "SIGQUIT";

export function exitCodeOfSignal(name: SignalName | "SIGKILL"): number {
  return EXIT_SIGNAL + constants.signals[name];
}

/** Of the last event; undefined for the others. */
export function exitCodeOf(event: ClientRunEvent): number | undefined {
  if (event.type === "refused") return EXIT_REFUSED;
  if (event.type !== "exit") return undefined;
  if (event.timedOut || event.idleTimedOut) return EXIT_TIMED_OUT;
  return event.exitCode ?? exitCodeOfSignal("SIGKILL");
}

/** Notes that a shell would say nothing about. */
const ASIDE: ReadonlySet<string> = new Set(["queued", "git_imported"]);

/**
 * Passes output on and says the rest; a wait is told once, however often it is reported. `quiet`: like a shell, which
 * says what went wrong and no more.
 */
export function shower({ quiet }: { readonly quiet: boolean }) {
  const told = new Set<string>();
  return async (event: ClientRunEvent): Promise<void> => {
    if (event.type === "pending") {
      if (told.has(event.approval)) return;
      told.add(event.approval);
    }
    if (event.type === "stdout" || event.type === "stderr") {
      await passOn(event.type, event.data);
      return;
    }
    if (quiet && event.type === "note" && ASIDE.has(event.code)) return;
    const text = textOf(event);
    if (text !== null) say(text);
    if (!quiet && event.type === "exit" && (event.left ?? 0) > 0) {
      say(`what it left running goes on as job ${event.exec} (recinto ps, recinto kill)`);
    }
  };
}

/** Resolves when the stream takes more. */
export async function passOn(to: "stdout" | "stderr", data: Uint8Array): Promise<void> {
  const stream = process[to];
  if (!stream.write(data) && !stream.destroyed) {
    await Promise.race([once(stream, "drain"), once(stream, "close")]);
  }
}

export function say(text: string): void {
  process.stderr.write(`recinto: ${visible(text)}\n`);
}

function textOf(event: ClientRunEvent): string | null {
  switch (event.type) {
    case "pending":
      return `waiting for a person to answer ${event.approval} (recinto approvals show ${event.approval})`;
    case "approved":
      return `${event.approval} was approved`;
    case "note":
      return event.reason;
    case "truncated":
      return `${event.stream} is over its limit: ${event.bytes} bytes left out`;
    case "refused":
      return refusal(event);
    case "exit":
      if (event.timedOut) return "the command was over its time and was stopped";
      if (event.idleTimedOut) return "the command was silent for too long and was stopped";
      return event.oomKilled ? "the sandbox ran out of memory and the command was killed" : null;
    default:
      return null;
  }
}

function refusal(event: ClientRunEvent & { type: "refused" }): string {
  const by = {
    policy: "refused by the policy",
    person: "refused by a person",
    timeout: "nobody answered in time, so it did not run",
    "facts-changed": "what was approved is no longer what would run",
    "not-waiting": "not run",
  }[event.by];
  const instead = event.instead === undefined ? "" : ` (${event.instead})`;
  return `${by}: ${event.reason}${instead}`;
}

/** Output as the API sends it: text where it is UTF-8, else base64. */
export function wireOf(event: { readonly type: string }): object {
  return "data" in event ? { type: event.type, ...carried(event.data as Buffer) } : event;
}
