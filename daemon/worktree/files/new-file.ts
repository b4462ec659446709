/** A file's next content, written beside it and put in its place in one step that can be taken back. */
import { createHash, randomBytes } from "node:crypto";
import {
  type BigIntStats,
  close,
  closeSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  futimesSync,
  lstatSync,
  write,
} from "node:fs";
import { promisify } from "node:util";
import { RecintoError } from "../../errors.ts";
import { createIn } from "../safe-open.ts";
import { check, fileError, fromNode, shown } from "./file-error.ts";
import { beside, type FileRoot, opened, split } from "./file-root.ts";
import { isSame, type Seen, seenOf } from "./reading.ts";
import { removeFileAt, renameAt } from "./system-calls.ts";

const writeFile = promisify(write);
const sync = promisify(fdatasync);
const closeFile = promisify(close);

/** What must stand at the place: anything but a folder, nothing at all, or the very file that was seen. */
export type Expected = "anything" | "nothing" | Seen;

/** A change that has taken place and can be taken back, until `keep` makes it final. */
export interface Change {
  keep(): void;
  undo(): void;
}

const TEMPORARY = ".recinto-";

/** A name for something unfinished in the same folder, which nobody else has. */
export function temporaryName(): string {
  return `${TEMPORARY}${randomBytes(12).toString("hex")}`;
}

export class NewFile {
  readonly #root: FileRoot;
  readonly #path: string;
  readonly #folder: number;
  readonly #name: string;
  readonly #temporary: string;
  readonly #fd: number;
  readonly #own: BigIntStats;
  #ended = false;

  private constructor(root: FileRoot, path: string, folder: number, temporary: string, fd: number) {
    this.#root = root;
    this.#path = path;
    this.#folder = folder;
    this.#name = split(path)[1];
    this.#temporary = temporary;
    this.#fd = fd;
    this.#own = fstatSync(fd, { bigint: true });
  }

  /** Begins the next content of `path`, whose folder must exist. `place` or `discard` ends it. */
  static begin(root: FileRoot, path: string): NewFile {
    const [parent, name] = split(path);
    if (name === "") throw fileError("EISDIR", path);
    const folder = root.folder(parent);
    try {
      const temporary = temporaryName();
      const { fd } = root.act(() => opened(createIn(folder, temporary, 0o600), path));
      return new NewFile(root, path, folder, temporary, fd);
    } catch (error) {
      closeSync(folder);
      throw error;
    }
  }

  /** Throws `file-too-large` over `bytesMax`, and what the content's source throws. */
  async fill(
    content: AsyncIterable<Uint8Array>,
    bytesMax: number,
  ): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of content) {
      if (bytes + chunk.length > bytesMax) {
        throw new RecintoError(
          "file-too-large",
          `${shown(this.#path)} is larger than ${bytesMax} bytes`,
        );
      }
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) {
        try {
          const { bytesWritten } = await writeFile(this.#fd, chunk, at, chunk.length - at, null);
          at += bytesWritten;
          bytes += bytesWritten;
        } catch (error) {
          throw fromNode(error, this.#path);
        }
      }
    }
    return { bytes, sha256: hash.digest("hex") };
  }

  get inode(): bigint {
    return this.#own.ino;
  }

  /** Before `place`: the content survives a loss of power once its name does. */
  async settle(): Promise<void> {
    await sync(this.#fd);
  }

  /** Puts it in its place. Throws `file-exists` or `file-changed` when that is not as expected; then nothing changed. */
  place(expected: Expected, mode: number, mtimeMs?: number): Change {
    const own = this.#own;
    this.#root.act(() => {
      fchmodSync(this.#fd, mode);
      if (mtimeMs !== undefined) futimesSync(this.#fd, mtimeMs / 1000, mtimeMs / 1000);
    });
    const exchanged = typeof expected === "object";
    const how = exchanged ? "exchange" : expected === "nothing" ? "new" : "replace";
    this.#root.act(() => {
      this.#rename(this.#temporary, this.#name, how);
      if (exchanged) this.#checkOld(expected);
      const placed = this.#look(this.#name);
      if (placed?.ino !== own.ino || placed.dev !== own.dev) {
        throw new RecintoError("file-changed", `${shown(this.#path)} was replaced meanwhile`);
      }
    });
    return {
      keep: () => {
        if (exchanged) this.discard();
        else this.#end();
      },
      undo: () => {
        if (exchanged) this.#root.act(() => this.#rename(this.#temporary, this.#name, "exchange"));
        else this.#root.act(() => check(removeFileAt(this.#folder, this.#name), this.#path));
        this.discard();
      },
    };
  }

  /** Removes what is under the temporary name. No error: it may never have been there, or be gone. */
  discard(): void {
    if (!this.#ended) this.#root.act(() => removeFileAt(this.#folder, this.#temporary));
    this.#end();
  }

  /** What was there is under the temporary name now; another file than the one that was seen goes back. */
  #checkOld(expected: Seen): void {
    const old = this.#look(this.#temporary);
    if (old !== null && isSame(expected, seenOf(old))) return;
    this.#rename(this.#temporary, this.#name, "exchange");
    throw new RecintoError("file-changed", `${shown(this.#path)} was changed meanwhile`);
  }

  #rename(from: string, to: string, how: "replace" | "new" | "exchange"): void {
    const errno = renameAt(this.#folder, from, this.#folder, to, how);
    // A replaced folder must not be exchanged for a file, nor a file be lost under another name.
    check(errno, this.#path);
  }

  #look(name: string) {
    return lstatSync(beside(this.#folder, name), { bigint: true, throwIfNoEntry: false }) ?? null;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    void closeFile(this.#fd).catch(() => undefined);
    closeSync(this.#folder);
  }
}
