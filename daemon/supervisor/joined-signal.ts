/** One signal for several reasons to give up, let go of when the work is over: AbortSignal.any keeps a trace of each. */
import { setMaxListeners } from "node:events";

export interface JoinedSignal {
  readonly signal: AbortSignal;
  /** Must be called: the long-lived ones among the signals would hold it for as long as they live. */
  release(): void;
}

/** Aborts with the reason of the first of them that does. */
export function joinSignals(...signals: readonly AbortSignal[]): JoinedSignal {
  const joined = new AbortController();
  const onAbort = (event: { readonly target: unknown }) => {
    joined.abort((event.target as AbortSignal).reason);
  };
  // Many commands listen to one session; that is no leak as long as each lets go.
  setMaxListeners(0, ...signals);
  for (const signal of signals) {
    if (signal.aborted) joined.abort(signal.reason);
    else signal.addEventListener("abort", onAbort, { once: true });
  }
  return {
    signal: joined.signal,
    release() {
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
    },
  };
}
