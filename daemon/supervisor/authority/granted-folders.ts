/** Folders that a right to write names and that are not there yet: the kernel can hold a command only to what there is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { folderOf } from "../../authority/resources.ts";
import { RecintoError } from "../../errors.ts";
import { toBytePath } from "../../worktree/byte-path.ts";
import { makeFolder } from "../../worktree/files/changing.ts";
import { FileRoot } from "../../worktree/files/file-root.ts";
import type { Rests } from "./binding.ts";

/**
 * Makes them, with the owner's rights and through no link, right before a command that may write there. Where something
 * else is in the way nothing is made, and the kernel refuses the command what it refused before.
 */
export function makeGrantedFolders(
  worktree: string,
  rests: Pick<Rests, "contract" | "grants"> | null,
): void {
  const rights = [...(rests?.contract?.envelope ?? []), ...(rests?.grants ?? [])];
  const folders = rights
    .filter(({ effect }) => effect === "write")
    .flatMap(({ paths }) => paths.flatMap((path) => folderOf(path) ?? []))
    .filter((folder) => folder !== "" && !existsSync(join(worktree, folder)));
  if (folders.length === 0) return;
  const root = FileRoot.open(worktree);
  try {
    for (const folder of folders) makeFolder(root, toBytePath(folder), true);
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
  } finally {
    root.close();
  }
}
