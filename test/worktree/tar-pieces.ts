/** Archives made by hand, also such as no tar would make. */
import {
  padding,
  TAR_END,
  type TarHead,
  writeHead,
} from "../../daemon/worktree/files/tar-format.ts";

type Piece = Partial<TarHead> & { readonly text?: string };

export function entry({ text = "", ...head }: Piece): Buffer {
  const whole = {
    name: "x",
    kind: "file",
    mode: 0o644,
    mtimeMs: 0,
    target: "",
    size: text.length,
  } as const;
  return Buffer.concat([writeHead({ ...whole, ...head }), Buffer.from(text), padding(text.length)]);
}

export const tar = (...parts: (Piece | Buffer)[]) =>
  Buffer.concat([
    ...parts.map((part) => (Buffer.isBuffer(part) ? part : entry(part as Piece))),
    TAR_END,
  ]);

/** A block changed by hand, with its checksum made right again. */
export function forged(head: Piece, change: (block: Buffer) => void): Buffer {
  const block = entry(head);
  change(block);
  block.write("        ", 148, "latin1");
  const sum = block.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

export function extension(records: string, flag = "x"): Buffer {
  return Buffer.concat([
    forged({ name: "pax", size: records.length }, (block) => block.write(flag, 156)),
    Buffer.from(records, "latin1"),
    padding(records.length),
  ]);
}
