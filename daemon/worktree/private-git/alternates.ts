/** The object folders that a repository of the host builds on, so that the sandbox gets to see them too. */
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  GIT_ALTERNATES_DEPTH_MAX,
  GIT_ALTERNATES_MAX,
  GIT_CONFIG_BYTES_MAX,
} from "../../limits.ts";
import { openFile, openRoot } from "../safe-open.ts";
import { asOwner, type HostRepository } from "./host-git.ts";

/**
 * Absolute paths, nearest first, as `objects/info/alternates` and those of the folders it names say. Only what the
 * repository's owner could read anyway: the file is theirs to write, and what it names is mounted.
 */
export async function objectAlternates(repository: HostRepository): Promise<readonly string[]> {
  const found = new Set<string>();
  let level = [join(repository.commonDir, "objects")];
  for (let depth = 0; depth < GIT_ALTERNATES_DEPTH_MAX && level.length > 0; depth++) {
    const next: string[] = [];
    for (const objects of level) {
      for (const path of alternatesIn(objects)) {
        if (found.has(path) || found.size >= GIT_ALTERNATES_MAX) continue;
        if (!(await ownerReads(repository, path))) continue;
        found.add(path);
        next.push(path);
      }
    }
    level = next;
  }
  return [...found];
}

function alternatesIn(objects: string): readonly string[] {
  const root = openRoot(objects);
  if (root.fd === undefined) return [];
  const file = openFile(root.fd, "info/alternates");
  closeSync(root.fd);
  if (file.fd === undefined) return [];
  try {
    const stat = fstatSync(file.fd);
    if (!stat.isFile() || stat.size > GIT_CONFIG_BYTES_MAX) return [];
    return readFileSync(file.fd, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith('"'))
      .map((line) => resolve(objects, line));
  } finally {
    closeSync(file.fd);
  }
}

/** It is a folder of objects, no link leads to it, and the repository's owner may read and enter it. */
async function ownerReads(repository: HostRepository, path: string): Promise<boolean> {
  const root = openRoot(path);
  if (root.fd === undefined) return false;
  const pack = openFile(root.fd, "pack");
  closeSync(root.fd);
  if (pack.fd === undefined) return false;
  closeSync(pack.fd);
  const test = await asOwner(repository, ["test", "-r", path, "-a", "-x", path]);
  return test.exitCode === 0;
}
