/** Bytes from a source to a stream with back-pressure. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { BrokenStream } from "./byte-reader.ts";

/** Everything from one side to the other, no faster than that takes it, and then its end. `count` may throw. */
export async function carry(
  from: AsyncIterable<Buffer>,
  to: Writable,
  count: (size: number) => void,
): Promise<void> {
  for await (const chunk of from) {
    count(chunk.length);
    if (to.destroyed) throw new BrokenStream("closed");
    if (!to.write(chunk)) await drained(to);
  }
  to.end();
}

/** Resolves too when it will never drain: the next write finds out. */
export async function drained(stream: Writable): Promise<void> {
  if (stream.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]).catch(
    () => undefined,
  );
  over.abort();
}

/** Resolves when all that was written is out, or never will be. */
export function flushed(stream: Writable): Promise<void> {
  if (stream.destroyed || stream.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("finish", resolve);
    stream.once("close", resolve);
  });
}
