/** Content that must be there whole before a person is asked about it: small in memory, else in a file without a name. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { RecintoError } from "../../errors.ts";
import {
  APPROVAL_STDIN_BYTES_SHOWN,
  FILE_CHUNK_BYTES,
  FILE_STAGE_BYTES_MAX,
  FILE_STAGE_MEMORY_BYTES_MAX,
  FILE_STAGES_BYTES_MAX,
} from "../../limits.ts";

export class Stages {
  readonly #folder: string;
  readonly #newId: () => string;
  #bytes = 0;

  /** `folder` is the daemon's own. */
  constructor(folder: string, newId: () => string) {
    this.#folder = folder;
    this.#newId = newId;
  }

  /** Reads the content to its end. Throws `file-too-large`, `busy`. */
  async take(content: AsyncIterable<Uint8Array>): Promise<StagedContent> {
    const staged = new StagedContent(
      () => this.#file(),
      (bytes) => {
        if (this.#bytes + bytes > FILE_STAGES_BYTES_MAX) {
          throw new RecintoError("busy", "too much content waits for answers of people");
        }
        this.#bytes += bytes;
      },
    );
    try {
      for await (const chunk of content) await staged.add(chunk);
      return staged;
    } catch (error) {
      await staged.close();
      throw error;
    }
  }

  async #file(): Promise<FileHandle> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, this.#newId());
    const file = await open(path, "wx+", 0o600);
    await rm(path);
    return file;
  }
}

export class StagedContent {
  readonly #openFile: () => Promise<FileHandle>;
  readonly #count: (bytes: number) => void;
  readonly #hash = createHash("sha256");
  #sha256: string | null = null;
  #memory: Buffer[] = [];
  #file: FileHandle | null = null;
  #beginning = Buffer.alloc(0);
  #bytes = 0;

  constructor(openFile: () => Promise<FileHandle>, count: (bytes: number) => void) {
    this.#openFile = openFile;
    this.#count = count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get sha256(): string {
    this.#sha256 ??= this.#hash.digest("hex");
    return this.#sha256;
  }

  /** What an approver is shown of it. */
  get shown(): string {
    const text = new TextDecoder().decode(this.#beginning);
    const more = this.#bytes - this.#beginning.length;
    return more > 0 ? `${text}\n(and ${more} more bytes)` : text;
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (this.#bytes + chunk.length > FILE_STAGE_BYTES_MAX) {
      throw new RecintoError(
        "file-too-large",
        `more than ${FILE_STAGE_BYTES_MAX} bytes, which a person would have to be asked about`,
      );
    }
    this.#count(chunk.length);
    this.#hash.update(chunk);
    if (this.#beginning.length < APPROVAL_STDIN_BYTES_SHOWN) {
      const room = APPROVAL_STDIN_BYTES_SHOWN - this.#beginning.length;
      this.#beginning = Buffer.concat([this.#beginning, chunk.subarray(0, room)]);
    }
    this.#bytes += chunk.length;
    if (this.#file === null && this.#bytes <= FILE_STAGE_MEMORY_BYTES_MAX) {
      this.#memory.push(Buffer.from(chunk));
      return;
    }
    this.#file ??= await this.#openFile();
    for (const piece of [...this.#memory, chunk]) await this.#file.appendFile(piece);
    this.#memory = [];
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    yield* this.#memory;
    for (let at = 0; this.#file !== null && at < this.#bytes; ) {
      const chunk = Buffer.allocUnsafe(FILE_CHUNK_BYTES);
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    this.#count(-this.#bytes);
    this.#bytes = 0;
    this.#memory = [];
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}
