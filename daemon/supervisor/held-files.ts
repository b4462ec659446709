/** One YAML file a project in the daemon's state: read when it changed, and changed whole or not at all. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Document, parseDocument } from "yaml";
import type { z } from "zod";
import { RecintoError } from "../errors.ts";
import { readAdminFile } from "../settings/admin-file.ts";
import { parseAdminYaml } from "../settings/admin-yaml.ts";

export interface HeldFilesOptions<S extends z.ZodType> {
  /** Made with the first file, root's (or the daemon's user's) alone to write. */
  readonly folder: string;
  /** Must take an empty document. */
  readonly schema: S;
  /** Comment at the head of a new file. */
  readonly header: string;
}

export class HeldFiles<S extends z.ZodType> {
  readonly #options: HeldFilesOptions<S>;
  readonly #cache = new Map<string, { readonly tag: string; readonly value: z.output<S> }>();

  constructor(options: HeldFilesOptions<S>) {
    this.#options = options;
  }

  /** What a project's file says; an absent one says what an empty one does. Throws `bad-config`, `unsafe-admin-file`. */
  read(project: string): z.output<S> {
    const file = this.#file(project);
    const stat = statSync(file, { throwIfNoEntry: false });
    const tag =
      stat === undefined
        ? "absent"
        : [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.uid, stat.mode].join(":");
    const cached = this.#cache.get(project);
    if (cached?.tag === tag) return cached.value;
    const value = this.#parse(stat === undefined ? "" : readAdminFile(file), file);
    this.#cache.set(project, { tag, value });
    return value;
  }

  /** One writer at a time; the new file takes the old one's place only when it is whole, valid and on disk. */
  edit(project: string, change: (document: Document) => void): void {
    const file = this.#file(project);
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o755 });
    const unlock = lock(`${file}.lock`);
    try {
      const text = existsSync(file) ? readAdminFile(file) : "";
      this.#parse(text, file);
      const document = parseDocument(text);
      if (text.trim() === "") document.commentBefore = this.#options.header;
      change(document);
      const next = document.toString();
      this.#parse(next, file);
      replaceFile(file, next);
    } finally {
      unlock();
    }
  }

  #parse(text: string, file: string): z.output<S> {
    return parseAdminYaml(text, file, this.#options.schema, "bad-config").value;
  }

  #file(project: string): string {
    // Ids are checked when a project is added; here they must only not be able to name another folder.
    if (!/^[a-z0-9][a-z0-9-]*$/.test(project)) {
      throw new RecintoError("unknown-project", `no project ${JSON.stringify(project)}`);
    }
    return join(this.#options.folder, `${project}.yaml`);
  }
}

function replaceFile(file: string, text: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true });
  const fd = openSync(next, "wx", 0o644);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Takes the lock file or throws `busy`; one left behind by a process that is gone is taken over. */
function lock(file: string): () => void {
  for (const attempt of [1, 2]) {
    try {
      const fd = openSync(file, "wx", 0o600);
      writeFileSync(fd, String(process.pid));
      closeSync(fd);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (attempt === 1 && holderIsGone(file)) rmSync(file, { force: true });
    }
  }
  throw new RecintoError("busy", `the file is being changed: ${file}`, {
    hint: "try again in a moment; remove the lock file if nobody is changing it",
  });
}

function holderIsGone(file: string): boolean {
  const pid = Number(readFileSync(file, "utf8"));
  // Edits are synchronous: a lock with our own number is from before a restart.
  if (pid === process.pid || !Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
