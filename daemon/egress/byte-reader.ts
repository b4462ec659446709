/** Bytes of one connection in the pieces that a protocol speaks of: heads, lines, bodies, and whatever is left. */
import { Duplex, type Readable, type Writable } from "node:stream";
import { parseChunkSize } from "./request-head.ts";

/** The other side broke off, or broke the format. */
export class BrokenStream extends Error {}

const CHUNK_LINE_BYTES_MAX = 16;

export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #over = false;

  constructor(source: Readable) {
    // Its end is the end of one direction only.
    this.#chunks = source.iterator({ destroyOnReturn: false });
  }

  /** Up to and with `end`, or null at the end of the stream. Throws BrokenStream beyond `max` bytes. */
  async until(end: string, max: number): Promise<Buffer | null> {
    for (;;) {
      const at = this.#held.indexOf(end);
      if (at >= 0 && at + end.length <= max) return this.#take(at + end.length);
      if (at >= 0 || this.#held.length >= max) throw new BrokenStream("too long");
      if (await this.#more()) continue;
      if (this.#held.length === 0) return null;
      throw new BrokenStream("broken off");
    }
  }

  async exactly(size: number): Promise<Buffer> {
    while (this.#held.length < size) {
      if (!(await this.#more())) throw new BrokenStream("broken off");
    }
    return this.#take(size);
  }

  /** A body of so many bytes, as it comes. */
  async *length(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) throw new BrokenStream("broken off");
      const part = this.#take(Math.min(left, this.#held.length));
      left -= part.length;
      yield part;
    }
  }

  /** The data of a chunked body. Extensions and trailers are refused. */
  async *chunked(): AsyncGenerator<Buffer> {
    for (;;) {
      const line = await this.until("\r\n", CHUNK_LINE_BYTES_MAX);
      const size = parseChunkSize(line?.toString("latin1").slice(0, -2) ?? "");
      if (size === null) throw new BrokenStream("not a chunk");
      yield* this.length(size);
      if ((await this.exactly(2)).toString("latin1") !== "\r\n") {
        throw new BrokenStream(size === 0 ? "a trailer" : "a chunk longer than it says");
      }
      if (size === 0) return;
    }
  }

  /** Everything that still comes. */
  async *rest(): AsyncGenerator<Buffer> {
    do {
      if (this.#held.length > 0) yield this.#take(this.#held.length);
    } while (await this.#more());
  }

  /** What still comes from here and goes to `to`, for a protocol inside this one. */
  asDuplex(to: Writable): Duplex {
    const rest = this.rest();
    const duplex: Duplex = new Duplex({
      read: () => {
        rest.next().then(
          ({ value, done }) => duplex.push(done === true ? null : value),
          (error: Error) => duplex.destroy(error),
        );
      },
      write: (chunk, _encoding, done) => {
        to.write(chunk, done);
      },
      final: (done) => {
        to.end(done);
      },
    });
    return duplex;
  }

  #take(size: number): Buffer {
    const taken = this.#held.subarray(0, size);
    this.#held = this.#held.subarray(size);
    return taken;
  }

  async #more(): Promise<boolean> {
    if (this.#over) return false;
    const { value, done } = await this.#chunks.next();
    if (done === true) {
      this.#over = true;
      return false;
    }
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
    return true;
  }
}
