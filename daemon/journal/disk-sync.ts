/** Syncs to disk beside the event loop: whoever waits at the same moment shares one. */
import { close, closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

const sync = promisify(fdatasync);

export class DiskSync {
  readonly #path: string;
  #fd: number | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  /** Something was written since the last sync began. */
  #behind = false;
  #later: NodeJS.Timeout | null = null;

  /** `path` must be there when `reached` is called first, and stay the same file from then on. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves once everything that was written before the call is on disk. */
  reached(): Promise<void> {
    // One that runs already may have begun before the last write.
    if (this.#running === null) return this.#begin();
    this.#next ??= this.#running.catch(() => {}).then(() => this.#begin());
    return this.#next;
  }

  /** Has it reached the disk within a while, together with whatever else is written until then. Never throws. */
  soon(ms: number, onError: (error: unknown) => void): void {
    this.#behind = true;
    this.#later ??= setTimeout(() => {
      this.#later = null;
      if (this.#behind) this.reached().catch(onError);
    }, ms);
  }

  close(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    if (this.#fd !== null) close(this.#fd, () => {});
    this.#fd = null;
  }

  #begin(): Promise<void> {
    this.#next = null;
    this.#behind = false;
    const running = this.#sync().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  async #sync(): Promise<void> {
    this.#fd ??= openSync(this.#path, "r");
    await sync(this.#fd);
  }
}

/** A file is safe only once its name in the folder is. */
export function syncFolderOf(path: string): void {
  const fd = openSync(dirname(path), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
