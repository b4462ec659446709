/** Content that comes from outside, for as long as the operation that it belongs to may go on. */
import { throwIfOver } from "../run-context.ts";

/** Stops with why as soon as the operation is given up, also while nothing comes: a sender who stalls holds nothing open. */
export async function* whileAllowed(
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const chunks = content[Symbol.asyncIterator]();
  let giveUp: () => void = () => undefined;
  const over = new Promise<null>((resolve) => {
    giveUp = () => resolve(null);
  });
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    for (;;) {
      throwIfOver(signal);
      const next = chunks.next();
      // What comes, or goes wrong, after that is nobody's.
      next.catch(() => undefined);
      const given = await Promise.race([next, over]);
      throwIfOver(signal);
      if (given === null || given.done === true) return;
      yield given.value;
    }
  } finally {
    signal.removeEventListener("abort", giveUp);
    chunks.return?.()?.catch(() => undefined);
  }
}
