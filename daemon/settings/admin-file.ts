/** Reading what an admin wrote, and nothing that anyone else could have written. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { RecintoError } from "../errors.ts";
import { ADMIN_FILE_BYTES_MAX } from "../limits.ts";

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * The text of an admin's file. It must be a regular file (not a link) of root or of the daemon's own user that neither
 * group nor others can write, in folders of which the same is true up to `/`; a sticky folder (`/tmp`) counts as safe
 * only as a folder further up, since nobody can replace there what another owns. Throws `unsafe-admin-file` with the
 * command that mends it, `bad-config` for anything unreadable.
 */
export function readAdminFile(path: string): string {
  const file = resolve(path);
  const handle = open(file);
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw unsafe(file, "is not a regular file", `rm ${file}`);
    checkOwnership(file, stat.uid, stat.mode);
    checkFolders(file);
    if (stat.size > ADMIN_FILE_BYTES_MAX) {
      throw new RecintoError(
        "bad-config",
        `${file}: ${stat.size} bytes are more than the ${ADMIN_FILE_BYTES_MAX} an admin file may have`,
      );
    }
    return decode(file, readAll(handle));
  } finally {
    closeSync(handle);
  }
}

function open(file: string): number {
  try {
    // O_NONBLOCK: opening a FIFO must not hang the daemon; it is refused by its type right after.
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ELOOP") throw unsafe(file, "is a link", `put the file itself at ${file}`);
    throw new RecintoError("bad-config", `${file}: cannot be read (${code})`, {
      hint: "name a file that exists and that the daemon's user may read",
      cause: error,
    });
  }
}

function checkOwnership(path: string, uid: number, mode: number): void {
  if (uid !== 0 && uid !== process.geteuid?.()) {
    throw unsafe(path, `belongs to uid ${uid}`, `chown root ${path}`);
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    const octal = (mode & 0o7777).toString(8);
    throw unsafe(path, `can be written by others (mode ${octal})`, `chmod go-w ${path}`);
  }
}

/** Whoever can write a folder can replace what is in it, so the folders count as much as the file. */
function checkFolders(file: string): void {
  const parent = realpathSync(dirname(file));
  for (let folder = parent; ; folder = dirname(folder)) {
    const { uid, mode } = lstatSync(folder);
    const sticky = folder !== parent && (mode & STICKY) !== 0;
    checkOwnership(folder, uid, sticky ? mode & ~WRITABLE_BY_OTHERS : mode);
    if (folder === "/") return;
  }
}

/** Reads to the limit whatever the size said a moment ago. */
function readAll(handle: number): Buffer {
  const buffer = Buffer.alloc(ADMIN_FILE_BYTES_MAX + 1);
  let length = 0;
  for (;;) {
    const read = readSync(handle, buffer, length, buffer.length - length, null);
    if (read === 0) return buffer.subarray(0, length);
    length += read;
  }
}

function decode(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RecintoError("bad-config", `${file}: is not UTF-8 text`, { cause });
  }
}

function unsafe(path: string, why: string, command: string): RecintoError {
  return new RecintoError("unsafe-admin-file", `${path} ${why}`, {
    hint: command,
    details: { path },
  });
}
