/**
 * Paths as bytes. A file name on Linux need not be UTF-8, and a name that node cannot spell would be a place to hide a
 * link: so the watcher and the resolver carry paths as strings of one character a byte (latin1).
 */

/** A path or name with one character for each byte. */
export type BytePath = string & { readonly __bytes: true };

const ASCII = /^[\0-\x7f]*$/;

export function toBytePath(text: string): BytePath {
  return (ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1")) as BytePath;
}

/** For people and for the policy: UTF-8 where it is, else each odd byte as `\xNN`. */
export function fromBytePath(path: BytePath): string {
  if (ASCII.test(path)) return path;
  const bytes = Buffer.from(path, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return path.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  }
}

export function isUtf8(path: BytePath): boolean {
  return ASCII.test(path) || fromBytePath(path) === Buffer.from(path, "latin1").toString("utf8");
}

/** What a system call of node takes. */
export function sysPath(path: BytePath): string | Buffer {
  return ASCII.test(path) ? path : Buffer.from(path, "latin1");
}

export function joinBytes(folder: BytePath, name: BytePath): BytePath {
  return (folder === "/" ? `/${name}` : `${folder}/${name}`) as BytePath;
}
