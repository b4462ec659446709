/** The journal with a memory of whether its last append succeeded, for health. */
import type { Journal } from "../journal/types.ts";

export interface NoticingJournal extends Journal {
  /** false: the last append failed. */
  readonly ok: boolean;
}

export function noticing(journal: Journal): NoticingJournal {
  let ok = true;
  const notice = <T>(append: () => T): T => {
    ok = false;
    const written = append();
    ok = true;
    return written;
  };
  return {
    get ok() {
      return ok;
    },
    append: (entry) => notice(() => journal.append(entry)),
    appendAll: (entries) => notice(() => journal.appendAll(entries)),
    appendSoon: (entries) => notice(() => journal.appendSoon(entries)),
    synced: () => journal.synced(),
    read: (query) => journal.read(query),
    standing: (kind) => journal.standing(kind),
    verify: () => journal.verify(),
    verifyInSteps: () => journal.verifyInSteps(),
    pruneBefore: (at) => journal.pruneBefore(at),
    subscribe: (listener) => journal.subscribe(listener),
    count: () => journal.count(),
    close: () => journal.close(),
  };
}
