/** What the machine allows in inotify watches, and a sign that its event queue may have run over. */
import { readFileSync } from "node:fs";

export interface WatchQuota {
  readonly watchesMax: number;
  readonly queuedEventsMax: number;
}

/** The kernel's limits for one user; its defaults where they cannot be read. */
export function readWatchQuota(): WatchQuota {
  return {
    watchesMax: readNumber("max_user_watches", 8_192),
    queuedEventsMax: readNumber("max_queued_events", 16_384),
  };
}

function readNumber(name: string, otherwise: number): number {
  try {
    const value = Number(readFileSync(`/proc/sys/fs/inotify/${name}`, "utf8"));
    return Number.isSafeInteger(value) && value > 0 ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * Node has one inotify queue for the whole process and drops its overflow mark without a word. So events are counted
 * between two quiet moments over all watchers: a burst that comes near the queue's length may have lost some, and then
 * every watcher looks at everything again. Shared by the process, as the queue is.
 */
export interface EventBurst {
  note(): void;
  subscribe(onBurst: () => void): () => void;
}

export function createEventBurst(queuedEventsMax: number): EventBurst {
  const listeners = new Set<() => void>();
  let events = 0;
  let told = false;
  let waiting = false;
  function startAnew(): void {
    events = 0;
    told = waiting = false;
  }
  return {
    note() {
      events += 1;
      // One round of the event loop empties the queue: only what arrived in one round can have overrun it.
      if (!waiting) setImmediate(startAnew);
      waiting = true;
      // Half: chokidar's events go through the same queue and are not counted.
      if (told || events < queuedEventsMax / 2) return;
      told = true;
      for (const listener of listeners) listener();
    },
    subscribe(onBurst) {
      listeners.add(onBurst);
      return () => listeners.delete(onBurst);
    },
  };
}

export const processEventBurst: EventBurst = createEventBurst(readWatchQuota().queuedEventsMax);
