/** Reading a short file that an agent may have put there: never through a link, never waiting, never much. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The file's text, or null when it is no regular file, is longer than `bytesMax`, or cannot be read. */
export function readSmallFile(path: string, bytesMax: number): string | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(bytesMax + 1);
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    return length > bytesMax ? null : buffer.toString("utf8", 0, length);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
