/** Reads of a socket in larger pieces than node's own of 64 KiB: a flood is fewer events, and a few bytes no buffer each. */
import type { OnReadOpts } from "node:net";
import { STREAM_AHEAD_BYTES } from "../limits.ts";

/** Half of what may be on its way, so that one half is sent while the other is read. */
export const WIDE_READ_BYTES = STREAM_AHEAD_BYTES / 2;

/** For a socket's `onread`. `give` gets what was read, for good, and says whether to go on reading, as `push` does. */
export function wideReads(give: (piece: Buffer) => boolean): OnReadOpts {
  let buffer = Buffer.allocUnsafeSlow(WIDE_READ_BYTES);
  return {
    buffer: () => buffer,
    callback: (bytes) => {
      const piece = buffer.subarray(0, bytes);
      // Who keeps a small piece must not keep a large buffer by it.
      if (bytes < WIDE_READ_BYTES / 2) return give(Buffer.from(piece));
      buffer = Buffer.allocUnsafeSlow(WIDE_READ_BYTES);
      return give(piece);
    },
  };
}
