/** A folder below which the daemon works for an agent: every name is reached from its descriptor, no link followed. */
import { closeSync, constants, fstatSync, type Stats } from "node:fs";
import { toBytePath } from "../byte-path.ts";
import { type Opened, openBeneath, openFolder, openRoot } from "../safe-open.ts";
import { fileError } from "./file-error.ts";
import { asOwner, type Owner } from "./owner-rights.ts";

/** What a descriptor's name in /proc leads to is the folder itself, wherever it was moved: one component from there. */
export function beside(folder: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${folder}/${name}`, "latin1");
}

/**
 * Paths are relative, normalised and one character a byte; "" is the root. Nothing here follows a link: callers resolve
 * links first and pass where they lead, so that what was judged is what is opened, or the call fails.
 */
export class FileRoot {
  readonly path: string;
  readonly owner: Owner;
  readonly #fd: number;

  private constructor(path: string, owner: Owner, fd: number) {
    this.path = path;
    this.owner = owner;
    this.#fd = fd;
  }

  /** `owner` absent: the folder's own. Throws `file-…`. */
  static open(path: string, owner?: Owner): FileRoot {
    const { fd } = opened(openRoot(path), toBytePath(path));
    const { uid, gid } = owner ?? fstatSync(fd);
    return new FileRoot(path, { uid, gid }, fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** With the owner's rights; `act` must not wait. */
  act<T>(act: () => T): T {
    return asOwner(this.owner, act);
  }

  /** A folder as a place to look from. The caller closes it. */
  folder(path: string): number {
    return this.act(() => opened(openFolder(this.#fd, path), path).fd);
  }

  /** With the folder that holds `path`, and its name there. The root itself has none: `file-kind`. */
  within<T>(path: string, use: (folder: number, name: string) => T): T {
    const [parent, name] = split(path);
    if (name === "") throw fileError("EBUSY", this.path);
    const folder = this.folder(parent);
    try {
      return this.act(() => use(folder, name));
    } finally {
      closeSync(folder);
    }
  }

  /** A regular file's content. The caller closes it. Throws `file-kind` for what is none. */
  content(path: string): { readonly fd: number; readonly stat: Stats } {
    return this.act(() => openContent(this.#fd, path, path));
  }
}

/** A regular file below an open folder, for reading. */
export function openContent(
  folder: number,
  path: string,
  called: string,
): { fd: number; stat: Stats } {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const { fd } = opened(openBeneath(folder, path === "" ? "." : path, flags), called);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  throw fileError(stat.isDirectory() ? "EISDIR" : "ENXIO", called);
}

/** Throws what the kernel said. */
export function opened(result: Opened, path: string): { readonly fd: number } {
  if (result.fd === undefined) throw fileError(result.errno, path);
  return result;
}

/** Folder and last name. */
export function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf("/");
  return at < 0 ? ["", path] : [path.slice(0, at), path.slice(at + 1)];
}
