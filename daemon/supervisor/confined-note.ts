/** Tells an agent whose command failed under a narrow confinement what to ask for. */
import { CONFINED_STDERR_CHARS } from "../limits.ts";
import type { Held } from "../sandbox/confinement.ts";
import type { RunEvent } from "./types.ts";

/** The same events, with a `confined` note before the exit where the confinement looks like the cause. */
export async function* withConfinedNote(
  events: AsyncIterable<RunEvent>,
  held: Held,
): AsyncGenerator<RunEvent> {
  let end = "";
  for await (const event of events) {
    if (event.type === "stderr") {
      const { data } = event;
      const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      end = (end + text.toString("latin1", Math.max(0, text.length - CONFINED_STDERR_CHARS))).slice(
        -CONFINED_STDERR_CHARS,
      );
    } else if (event.type === "exit" && !event.timedOut && !event.cancelled) {
      const reason = held.hint(event.exitCode, end);
      if (reason !== null) yield { type: "note", code: "confined", paths: [], reason };
    }
    yield event;
  }
}
