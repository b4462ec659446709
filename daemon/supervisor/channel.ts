/** A bounded queue from many writers to one reader: a full one makes the writer wait or ends, never grows. */

/** Items have a weight (bytes, or 1); `push` resolves once the queue is below its limit again. */
export class Channel<T> implements AsyncIterable<T> {
  #weightMax: number;
  readonly #items: { item: T; weight: number }[] = [];
  readonly #waiting: (() => void)[] = [];
  #weight = 0;
  #wake: (() => void) | null = null;
  #ended = false;
  #error: unknown = null;

  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get full(): boolean {
    return this.#weight >= this.#weightMax;
  }

  /** Queues the item whatever the weight; what is pushed after the end is dropped. */
  async push(item: T, weight = 1): Promise<void> {
    if (this.#ended) return;
    this.#items.push({ item, weight });
    this.#weight += weight;
    this.#wake?.();
    while (this.full && !this.#ended) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Lets every writer go on, whatever the reader does: for what must come to its end now. */
  unbound(): void {
    this.#weightMax = Number.POSITIVE_INFINITY;
    this.#release();
  }

  /** No more items: the reader gets what is queued, then the end, or `error` thrown. */
  end(error: unknown = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
    this.#release();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const next = this.#items.shift();
        if (next !== undefined) {
          this.#weight -= next.weight;
          if (!this.full) this.#release();
          yield next.item;
        } else if (this.#ended) {
          if (this.#error !== null) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = null;
        }
      }
    } finally {
      // The reader left: writers must not wait for it.
      this.#ended = true;
      this.#items.length = 0;
      this.#release();
    }
  }

  #release(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
