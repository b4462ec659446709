/** The beginning and the end of a stream of output, in bounded memory: both say more than the middle. */

export class BoundedOutput {
  readonly #headBytesMax: number;
  readonly #tailBytesMax: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#headBytesMax = Math.floor(bytesMax / 4);
    this.#tailBytesMax = bytesMax - this.#headBytesMax;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const fits = chunk.subarray(0, this.#headBytesMax - this.#headBytes);
    if (fits.length > 0) {
      this.#head.push(fits);
      this.#headBytes += fits.length;
    }
    const rest = chunk.subarray(fits.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // Shortened now and then only: cutting at every piece would copy the same bytes again and again.
    if (this.#tailBytes > 2 * this.#tailBytesMax) this.#shorten();
  }

  /** Bytes that came. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes in the middle that were left out. */
  get leftOut(): number {
    return Math.max(0, this.#bytes - this.#headBytesMax - this.#tailBytesMax);
  }

  /** As UTF-8, with what is none of it replaced. */
  text(): string {
    this.#shorten();
    if (this.leftOut === 0) return Buffer.concat([...this.#head, ...this.#tail]).toString("utf8");
    const [head, tail] = [Buffer.concat(this.#head), Buffer.concat(this.#tail)];
    return `${head.toString("utf8")}\n[… ${this.leftOut} bytes left out …]\n${tail.toString("utf8")}`;
  }

  #shorten(): void {
    const tail = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(tail.subarray(Math.max(0, tail.length - this.#tailBytesMax)))];
    this.#tailBytes = this.#tail[0]?.length ?? 0;
  }
}
