/** What a file operation sends: until its end, its client's or that of the grant it rests on, and then on record. */
import { RecintoError } from "../../errors.ts";
import { throwIfOver } from "../run-context.ts";
import type { Granted } from "./file-gate.ts";

/** The stream, with its outcome on record when it ends, breaks off, is left, or may not go on. */
export function recorded(
  granted: Granted,
  source: AsyncIterable<Uint8Array>,
  outcome: (sent: { readonly bytes: number }) => Readonly<Record<string, unknown>>,
  after: () => Promise<void> = async () => undefined,
) {
  const { signal } = granted;
  let ended = false;
  let gaveUp = false;
  let bytes = 0;
  const end = async (error?: unknown): Promise<void> => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", giveUp);
    await after();
    if (error === undefined) await granted.done(outcome({ bytes }));
    else await granted.failed(error);
  };
  async function* stream(): AsyncGenerator<Uint8Array, void> {
    try {
      throwIfOver(signal);
      for await (const chunk of source) {
        throwIfOver(signal);
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      await end(error);
      throw error;
    }
    await end();
  }
  const whole = stream();
  /** Also while the client reads nothing: who stalls holds no grant open. What it has open is closed by its own end. */
  function giveUp(): void {
    gaveUp = true;
    whole
      .return()
      .then(() => end(signal.reason))
      .catch(() => undefined);
  }
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  async function* told(): AsyncGenerator<Uint8Array, void> {
    yield* whole;
    // Its reader must not take what came for all there is.
    if (gaveUp) throwIfOver(signal);
  }
  return {
    bytes: told(),
    async close() {
      await whole.return();
      await end(new RecintoError("busy", `left by the client after ${bytes} bytes`));
    },
  };
}
