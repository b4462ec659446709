/** What the daemon has to look at so that a ledger's grants end in time: conditions to check, and the next moment. */
import type { LedgerState } from "./ledger-types.ts";
import type { Closure } from "./types.ts";

export interface WatchedClosure {
  readonly closure: Closure;
  /** The grants it would end. */
  readonly handles: readonly string[];
}

/** Tests to run and files to look at; phases and times come by themselves. In the order of the grants. */
export function watchedClosures(state: LedgerState): readonly WatchedClosure[] {
  const watched = new Map<string, { closure: Closure; handles: string[] }>();
  for (const grant of state.grants) {
    if (grant.state === "closing") continue;
    for (const closure of grant.closes) {
      if (closure.when.kind !== "command" && closure.when.kind !== "file") continue;
      // A person's gift may name a condition like one of the contract that is another.
      const key = JSON.stringify(closure);
      const known = watched.get(key);
      if (known === undefined) watched.set(key, { closure, handles: [grant.handle] });
      else known.handles.push(grant.handle);
    }
  }
  return [...watched.values()];
}

/** When the next grant is over and a `tick` is due, Unix milliseconds; null when none waits for its end. */
export function nextEnd(state: LedgerState): number | null {
  const ends = state.grants
    .filter((grant) => grant.state !== "closing")
    .map(({ expiresAt }) => expiresAt);
  return ends.length === 0 ? null : Math.min(...ends);
}
