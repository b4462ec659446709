/** Reads the few files by which a nested repository could run something on the host; bounded, no link followed. */
import { closeSync, fstatSync, lstatSync, readdirSync, readSync } from "node:fs";
import { GIT_CONFIG_BYTES_MAX } from "../limits.ts";
import { type BytePath, sysPath } from "./byte-path.ts";
import { type GitFolderFacts, isHook } from "./hazard-rules.ts";
import { openFile, openFolder } from "./safe-open.ts";

/** Names in a git folder after whose change it must be looked at again. */
export const GIT_FILES: ReadonlySet<string> = new Set([
  "HEAD",
  "commondir",
  "config",
  "config.worktree",
  "hooks",
  "objects",
  "refs",
]);

/** Whether git would take this folder for a repository when it is started inside: a bare one, by any name. */
export function looksLikeGitFolder(names: ReadonlySet<string>): boolean {
  return (
    names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")))
  );
}

/** `path` is relative to the folder of `rootFd`. */
export function readGitFolder(rootFd: number, path: BytePath): GitFolderFacts {
  const configs: (string | { unreadable: string })[] = [];
  for (const name of ["config", "config.worktree"]) {
    const text = readText(rootFd, `${path}/${name}`, GIT_CONFIG_BYTES_MAX);
    if (text === "unreadable")
      configs.push({ unreadable: `${name}, which is no short plain file` });
    else if (text !== null) configs.push(text.text);
  }
  // Through `commondir` git takes the config of some other folder.
  if (readText(rootFd, `${path}/commondir`, GIT_CONFIG_BYTES_MAX) !== null) {
    configs.push({ unreadable: "commondir, which leads to another config" });
  }
  return { configs, hooks: hooksIn(rootFd, `${path}/hooks` as BytePath) };
}

/** Where a `.git` file points, as written; null when it is no pointer. */
export function readGitPointer(rootFd: number, path: BytePath): BytePath | null {
  const read = readText(rootFd, path, GIT_CONFIG_BYTES_MAX);
  if (read === null || read === "unreadable") return null;
  const pointer = /^gitdir: ?([^\n]+)\n?/.exec(read.text)?.[1];
  return pointer === undefined ? null : (pointer as BytePath);
}

function hooksIn(rootFd: number, path: BytePath): readonly string[] {
  const folder = openFolder(rootFd, path);
  if (folder.fd === undefined) return folder.errno === "ELOOP" ? ["(a link)"] : [];
  try {
    const at = `/proc/self/fd/${folder.fd}`;
    const hooks = (readdirSync(at, { encoding: "latin1" }) as BytePath[]).filter(isHook);
    return hooks.filter((name) => {
      const stat = lstatSync(sysPath(`${at}/${name}` as BytePath), { throwIfNoEntry: false });
      return stat !== undefined && (stat.isSymbolicLink() || (stat.mode & 0o111) !== 0);
    });
  } finally {
    closeSync(folder.fd);
  }
}

function readText(
  rootFd: number,
  path: string,
  bytesMax: number,
): { readonly text: string } | "unreadable" | null {
  const file = openFile(rootFd, path);
  if (file.fd === undefined) {
    return file.errno === "ENOENT" || file.errno === "ENOTDIR" ? null : "unreadable";
  }
  try {
    const stat = fstatSync(file.fd);
    if (!stat.isFile() || stat.size > bytesMax) return "unreadable";
    const buffer = Buffer.alloc(bytesMax);
    return { text: buffer.toString("latin1", 0, readSync(file.fd, buffer, 0, bytesMax, 0)) };
  } finally {
    closeSync(file.fd);
  }
}
