/** The blocks of a tar archive: ustar with pax records, as every tar reads and writes. Pure; texts are bytes in latin1. */

export const BLOCK_BYTES = 512;

export type TarKind = "file" | "folder" | "link" | "second-name";

export interface TarHead {
  readonly name: string;
  readonly kind: TarKind;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  /** Of links: their text; of second names: the entry that has the content. */
  readonly target: string;
}

/** What one header block says, before the extensions that came with it. */
export type Block =
  | { readonly type: "end" }
  | { readonly type: "faulty"; readonly why: string }
  | { readonly type: "extension"; readonly flag: "x" | "g" | "L" | "K"; readonly size: number }
  | ({ readonly type: "entry" } & TarHead);

const KINDS: Readonly<Record<string, TarKind>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "second-name",
  "2": "link",
  "5": "folder",
};

const UNWANTED: Readonly<Record<string, string>> = {
  "3": "is a device",
  "4": "is a device",
  "6": "is a FIFO",
  S: "is a sparse file in a format that is not read",
};

export function readBlock(block: Buffer): Block {
  if (block.every((byte) => byte === 0)) return { type: "end" };
  const magic = latin1(block, 257, 6);
  if (magic !== "ustar\0" && magic !== "ustar ") return faulty("has no ustar header");
  if (numberAt(block, 148, 8) !== checksum(block)) return faulty("has a wrong checksum");
  const flag = String.fromCharCode(block[156] as number);
  const size = numberAt(block, 124, 12);
  if (size === null) return faulty("has a size that is no number");
  if (flag === "x" || flag === "g" || flag === "L" || flag === "K") {
    return { type: "extension", flag, size };
  }
  const plain = textAt(block, 0, 100);
  const prefix = magic === "ustar\0" ? textAt(block, 345, 155) : "";
  const name = prefix === "" ? plain : `${prefix}/${plain}`;
  const kind = KINDS[flag];
  if (kind === undefined) {
    return faulty(`${JSON.stringify(name)} ${UNWANTED[flag] ?? `has the unknown type ${flag}`}`);
  }
  return {
    type: "entry",
    name,
    kind: kind === "file" && name.endsWith("/") ? "folder" : kind,
    size,
    mode: numberAt(block, 100, 8) ?? 0,
    mtimeMs: (numberAt(block, 136, 12) ?? 0) * 1000,
    target: textAt(block, 157, 100),
  };
}

function faulty(why: string): Block {
  return { type: "faulty", why };
}

/** The records of a pax extension; null when they are not well-formed. */
export function readRecords(bytes: Buffer): ReadonlyMap<string, string> | null {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const digits = latin1(bytes, at, blank - at);
    const length = Number(digits);
    if (blank < 0 || !/^[1-9]\d{0,6}$/.test(digits) || at + length > bytes.length) return null;
    const record = latin1(bytes, blank + 1, at + length - blank - 1);
    const equals = record.indexOf("=");
    if (equals < 1 || !record.endsWith("\n")) return null;
    records.set(record.slice(0, equals), record.slice(equals + 1, -1));
    at += length;
  }
  return records;
}

/** Header blocks of an entry, with a pax extension in front where ustar has no room. */
export function writeHead(head: TarHead): Buffer {
  const records: string[] = [];
  const long = (key: string, text: string): void => {
    if (text.length > 100 || /[^\x20-\x7e]/.test(text)) records.push(recordOf(key, text));
  };
  long("path", head.name);
  long("linkpath", head.target);
  if (head.size >= 8 ** 11) records.push(recordOf("size", String(head.size)));
  const own = headBlock(head, flagOf(head.kind));
  if (records.length === 0) return own;
  const body = Buffer.from(records.join(""), "latin1");
  const extension = { ...head, name: "pax", target: "", size: body.length, mode: 0o644 };
  return Buffer.concat([headBlock(extension, "x"), body, padding(body.length), own]);
}

/** Zeros up to the next block. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** What ends an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

function flagOf(kind: TarKind): string {
  return { file: "0", "second-name": "1", link: "2", folder: "5" }[kind];
}

function headBlock({ name, size, mode, mtimeMs, target }: TarHead, flag: string): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const put = (text: string, at: number, length: number) =>
    block.write(text.slice(0, length), at, "latin1");
  const octal = (value: number, at: number, length: number) =>
    put(
      `${Math.floor(value)
        .toString(8)
        .padStart(length - 1, "0")}`.slice(-(length - 1)),
      at,
      length,
    );
  put(name, 0, 100);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.max(0, mtimeMs / 1000), 136, 12);
  put("        ", 148, 8);
  put(flag, 156, 1);
  put(target, 157, 100);
  put("ustar\u000000", 257, 8);
  octal(checksum(block), 148, 7);
  block[154] = 0;
  return block;
}

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length += 1;
  return `${length}${rest}`;
}

/** The sum of all bytes, the field itself counted as blanks. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}

/** An octal number, or a large one in GNU's binary form; null for anything else. An empty field is 0. */
function numberAt(block: Buffer, at: number, length: number): number | null {
  if (block[at] === 0x80) {
    const value = block.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, 0);
    return Number.isSafeInteger(value) ? value : null;
  }
  const text = latin1(block, at, length)
    .replace(/[\0 ]+$/, "")
    .trimStart();
  if (text === "") return 0;
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : null;
}

function textAt(block: Buffer, at: number, length: number): string {
  const text = latin1(block, at, length);
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

function latin1(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length);
}
