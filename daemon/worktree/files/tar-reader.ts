/** Reads a tar archive as it comes, one entry after another, in memory that no archive can make grow. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { RecintoError } from "../../errors.ts";
import {
  ARCHIVE_EXTENSION_BYTES_MAX,
  ARCHIVE_RATIO_MAX,
  ARCHIVE_RATIO_SLACK_BYTES,
} from "../../limits.ts";
import { BLOCK_BYTES, readBlock, readRecords, type TarHead } from "./tar-format.ts";

export interface TarEntry extends TarHead {
  /** The content of a file; what is not read is skipped. */
  readonly content: AsyncGenerator<Uint8Array, void>;
}

/** Throws `archive-refused` for what is no archive, breaks off, or holds an entry of a kind that is not taken. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void> {
  const bytes = new Bytes(source);
  try {
    if ((await bytes.peek(2)).equals(GZIP)) bytes.through(unzipped);
    for (;;) {
      const head = await nextHead(bytes);
      if (head === null) return;
      let left = head.size;
      async function* content() {
        while (left > 0) {
          const piece = await bytes.some(left);
          left -= piece.length;
          yield piece;
        }
      }
      yield { ...head, content: content() };
      while (left > 0) left -= (await bytes.some(left)).length;
      await bytes.exactly(-head.size & (BLOCK_BYTES - 1));
    }
  } finally {
    await bytes.end();
  }
}

const GZIP = Buffer.from([0x1f, 0x8b]);

/** The next entry with the extensions before it; null: the end of the archive. */
async function nextHead(bytes: Bytes): Promise<TarHead | null> {
  let more: { name?: string; target?: string; size?: number; mtimeMs?: number } = {};
  for (;;) {
    const block = readBlock(await bytes.exactly(BLOCK_BYTES));
    switch (block.type) {
      case "end":
        return null;
      case "faulty":
        throw refused(`the archive ${block.why}`);
      case "entry": {
        const { type: _, ...head } = block;
        const whole = { ...head, ...more };
        if (whole.kind !== "file" && whole.size !== 0) {
          throw refused(`${JSON.stringify(whole.name)} has content and is no file`);
        }
        return whole;
      }
      case "extension": {
        const { flag, size } = block;
        if (size > ARCHIVE_EXTENSION_BYTES_MAX) {
          throw refused(`the archive has an extension of ${size} bytes`);
        }
        const body = await bytes.exactly(size);
        await bytes.exactly(-size & (BLOCK_BYTES - 1));
        if (flag === "L") more = { ...more, name: upToNul(body) };
        else if (flag === "K") more = { ...more, target: upToNul(body) };
        else if (flag === "x") more = { ...more, ...extended(body) };
        else if (Object.keys(extended(body)).length > 0) {
          throw refused("the archive gives all of its entries one name or size");
        }
      }
    }
  }
}

function extended(body: Buffer) {
  const records = readRecords(body);
  if (records === null) throw refused("the archive has an extension that is not well-formed");
  for (const key of records.keys()) {
    if (key.startsWith("GNU.sparse")) throw refused("the archive has a sparse file");
  }
  const name = records.get("path");
  const target = records.get("linkpath");
  const size = records.get("size");
  if (size !== undefined && !(/^\d{1,16}$/.test(size) && Number.isSafeInteger(Number(size)))) {
    throw refused("the archive has a size that is no number");
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

function upToNul(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

/** What gzip yields, until it yields far too much for what went in. */
async function* unzipped(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let taken = 0;
  let given = 0;
  async function* counted() {
    for await (const chunk of source) {
      taken += chunk.length;
      yield chunk;
    }
  }
  const gunzip = createGunzip();
  // What fails in it fails the reading below.
  const fed = pipeline(Readable.from(counted()), gunzip).catch(() => undefined);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      given += chunk.length;
      if (given > ARCHIVE_RATIO_SLACK_BYTES && given > taken * ARCHIVE_RATIO_MAX) {
        throw refused(`the archive grows more than ${ARCHIVE_RATIO_MAX} times when unpacked`);
      }
      yield chunk;
    }
  } catch (error) {
    const { code } = error as { code?: unknown };
    const zlib = typeof code === "string" && code.startsWith("Z_");
    throw zlib ? refused(`the archive is no valid gzip (${code})`) : error;
  } finally {
    gunzip.destroy();
    await fed;
  }
}

/** A stream of bytes that is asked for so many of them. */
class Bytes {
  #source: AsyncIterator<Uint8Array>;
  #begun: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At least one byte and at most `max`. */
  async some(max: number): Promise<Buffer> {
    if (this.#begun.length === 0) await this.#more();
    const piece = this.#begun.subarray(0, max);
    this.#begun = this.#begun.subarray(piece.length);
    return piece;
  }

  /** For small counts: they are held in memory. */
  async exactly(count: number): Promise<Buffer> {
    while (this.#begun.length < count) await this.#more();
    const piece = this.#begun.subarray(0, count);
    this.#begun = this.#begun.subarray(count);
    return piece;
  }

  async peek(count: number): Promise<Buffer> {
    while (this.#begun.length < count) await this.#more();
    return this.#begun.subarray(0, count);
  }

  /** Everything from here on goes through `change`, whose result is read instead. */
  through(change: (rest: AsyncGenerator<Uint8Array>) => AsyncGenerator<Uint8Array>): void {
    const begun = this.#begun;
    const source = this.#source;
    async function* rest(): AsyncGenerator<Uint8Array> {
      try {
        yield begun;
        for (let next = await source.next(); !next.done; next = await source.next()) {
          yield next.value;
        }
      } finally {
        await source.return?.();
      }
    }
    this.#begun = Buffer.alloc(0);
    this.#source = change(rest());
  }

  async end(): Promise<void> {
    await this.#source.return?.();
  }

  async #more(): Promise<void> {
    const next = await this.#source.next();
    if (next.done) throw refused("the archive breaks off");
    this.#begun = Buffer.concat([this.#begun, next.value]);
  }
}

export function refused(message: string): RecintoError {
  return new RecintoError("archive-refused", message);
}
