/** The last output of one job by absolute byte offsets: written once, read by anybody at any pace, never waited for. */
import { JOB_GATHER_BYTES, JOB_HISTORY_BYTES, JOB_HISTORY_PIECES } from "../../limits.ts";

export type OutputStream = "stdout" | "stderr";

export interface OutputPiece {
  readonly stream: OutputStream;
  readonly data: Uint8Array;
}

export interface OutputPart {
  /** Offset of the first byte that is given. */
  readonly at: number;
  /** Bytes between what was asked for and that, which are not kept any more. */
  readonly lost: number;
  readonly pieces: readonly OutputPiece[];
  /** Where to go on reading. */
  readonly next: number;
}

interface Kept {
  readonly at: number;
  readonly stream: OutputStream;
  data: Uint8Array;
  /** Set: small output is gathered here, and `data` is what of it is filled. */
  readonly block?: Buffer;
}

/** Both streams in the order in which they came. Offsets count the bytes of both, from 0. */
export class JobOutput {
  readonly #bytesMax: number;
  readonly #kept: Kept[] = [];
  readonly #waiting = new Set<() => void>();
  /** Nothing before it is given, though its piece may still be held. */
  #from = 0;
  #to = 0;
  #ended = false;

  constructor(bytesMax = JOB_HISTORY_BYTES) {
    this.#bytesMax = bytesMax;
  }

  /** Offset of the oldest byte that is kept. */
  get from(): number {
    return this.#from;
  }

  /** Offset after the newest byte. */
  get to(): number {
    return this.#to;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Keeps `data` itself where it is large: it must not be written to any more. */
  push(stream: OutputStream, data: Uint8Array): void {
    if (data.length === 0) return;
    if (!this.#gathered(stream, data)) this.#kept.push({ at: this.#to, stream, data });
    this.#to += data.length;
    this.#drop(this.#bytesMax);
    this.#wake();
  }

  /** No more output: whoever waits for some is told. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Forgets what it keeps; offsets stay as they are. */
  clear(): void {
    this.#drop(0);
  }

  /** From `since` on, at most about `bytesMax`, at least one byte where there is one. */
  read(since: number, bytesMax: number): OutputPart {
    const at = Math.min(Math.max(since, this.#from), this.#to);
    const pieces: OutputPiece[] = [];
    let next = at;
    for (let index = this.#indexOf(at); index < this.#kept.length; index++) {
      const { at: begin, stream, data } = this.#kept[index] as Kept;
      const part = data.subarray(next - begin, next - begin + bytesMax - (next - at));
      pieces.push({ stream, data: part });
      next += part.length;
      if (next - at >= bytesMax) break;
    }
    return { at, lost: Math.max(0, at - since), pieces, next };
  }

  /** Resolves when there is output after `offset`, when there will be none, or on `signal`. */
  async after(offset: number, signal: AbortSignal): Promise<void> {
    if (this.#to > offset || this.#ended || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }

  #gathered(stream: OutputStream, data: Uint8Array): boolean {
    const last = this.#kept.at(-1);
    if (data.length >= JOB_GATHER_BYTES || last === undefined || last.stream !== stream) {
      return false;
    }
    if (last.block === undefined) {
      if (last.data.length >= JOB_GATHER_BYTES) return false;
      const block = Buffer.allocUnsafeSlow(2 * JOB_GATHER_BYTES);
      block.set(last.data);
      const { at, data: begun } = last;
      this.#kept[this.#kept.length - 1] = {
        at,
        stream,
        block,
        data: block.subarray(0, begun.length),
      };
      return this.#gathered(stream, data);
    }
    const filled = last.data.length;
    if (filled + data.length > last.block.length) return false;
    last.block.set(data, filled);
    last.data = last.block.subarray(0, filled + data.length);
    return true;
  }

  #drop(bytesMax: number): void {
    this.#from = Math.max(this.#from, this.#to - bytesMax);
    while (this.#kept.length > 0) {
      const { at, data } = this.#kept[0] as Kept;
      const end = at + data.length;
      if (end > this.#from && this.#kept.length <= JOB_HISTORY_PIECES) break;
      this.#kept.shift();
      this.#from = Math.max(this.#from, end);
    }
  }

  /** Of the piece that holds the byte at `offset`; readers are mostly near the end. */
  #indexOf(offset: number): number {
    if (offset >= this.#to) return this.#kept.length;
    return this.#kept.findLastIndex(({ at }) => at <= offset);
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }
}
