/** Takes Docker's multiplexed stream apart: eight bytes of head (stream, length), then the payload. */
import { RecintoError } from "../../errors.ts";

const HEAD_BYTES = 8;
const STDERR = 2;
/** 0 is stdin (never sent), 1 stdout, 2 stderr, 3 an error of the engine itself. */
const STREAM_MAX = 3;

export type FrameSink = (stream: "stdout" | "stderr", payload: Buffer) => void;

/** Incremental and without copies: payloads are slices of the chunks that came in. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #left = 0;
  #stream: "stdout" | "stderr" = "stdout";

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Throws `engine-failed` when the bytes are not such a stream. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left);
        this.#left -= end - at;
        this.#sink(this.#stream, chunk.subarray(at, end));
        at = end;
        continue;
      }
      const end = Math.min(chunk.length, at + HEAD_BYTES - this.#headBytes);
      chunk.copy(this.#head, this.#headBytes, at, end);
      this.#headBytes += end - at;
      at = end;
      if (this.#headBytes === HEAD_BYTES) this.#readHead();
    }
  }

  #readHead(): void {
    const stream = this.#head.readUInt8(0);
    if (stream > STREAM_MAX || this.#head.readUIntBE(1, 3) !== 0) {
      throw new RecintoError("engine-failed", `the engine sent a broken stream (kind ${stream})`);
    }
    this.#stream = stream >= STDERR ? "stderr" : "stdout";
    this.#left = this.#head.readUInt32BE(4);
    this.#headBytes = 0;
  }
}
