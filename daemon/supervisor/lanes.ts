/** One thing at a time for each name, in the order of the calls. */

export class Lanes {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result
      .catch(() => undefined)
      .finally(() => {
        if (this.#tails.get(name) === tail) this.#tails.delete(name);
      });
    this.#tails.set(name, tail);
    return result;
  }
}
