/** Two ends of one connection inside the process: what is written to one is read from the other. */
import { Duplex } from "node:stream";

/** Destroying one end ends the other, as it is with sockets. */
export function duplexPair(): readonly [Duplex, Duplex] {
  const one = new End();
  const other = new End();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

class End extends Duplex {
  peer: End | undefined;
  /** Set while the other side waits for us to be read. */
  #wanted: (() => void) | undefined;

  override _read(): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    wanted?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const peer = this.peer as End;
    if (peer.push(chunk)) done();
    else peer.#wanted = done;
  }

  override _final(done: () => void): void {
    this.peer?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.peer?.destroy();
    done(error);
  }
}
