/** Time as an argument: the daemon passes the machine's, tests pass their own. */

export interface Clock {
  /** Runs once after so many milliseconds unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

export const machineClock: Clock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    // An idle sandbox is no reason for the daemon to live on.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
