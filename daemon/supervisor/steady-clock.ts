/** The time of day that never goes back: a clock that is set back prolongs no question, grant or wait. */

export interface SteadyClockInput {
  /** The machine's time of day, Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds since any moment; nothing sets it. */
  readonly monotonic: () => number;
}

export class SteadyClock {
  readonly #input: SteadyClockInput;
  #last: number;
  #lastMonotonic: number;

  constructor(input: SteadyClockInput) {
    this.#input = input;
    this.#last = input.wall();
    this.#lastMonotonic = input.monotonic();
  }

  /** Unix milliseconds, whole: what the machine says, and never less than what was said before plus the time since. */
  now = (): number => {
    const monotonic = this.#input.monotonic();
    const passed = Math.floor(this.#last + monotonic - this.#lastMonotonic);
    const wall = this.#input.wall();
    // What passed is rounded down, so it is held against the same beginning until the machine's own time is ahead.
    if (wall < passed) return passed;
    this.#last = wall;
    this.#lastMonotonic = monotonic;
    return wall;
  };

  /** For what is on record from before: returns how far the machine's clock is behind it, milliseconds, 0: it is not. */
  notBefore(at: number): number {
    const behind = at - this.now();
    if (behind <= 0) return 0;
    this.#last = at;
    this.#lastMonotonic = this.#input.monotonic();
    return behind;
  }
}
