/** The folder that a command's shell was in when it ended, from what the kernel tells and what was judged. Pure. */
import type { SegmentVerdict } from "../policy/types.ts";
import type { EndFolder } from "../sandbox/engine.ts";

/**
 * `undefined`: not known. A shell gives its place to the last program of its text where it can, and such a program may go
 * elsewhere, as `make -C sub` does: then the shell was where that program was started.
 */
export function folderAfter(
  folder: EndFolder | undefined,
  command: string,
  segments: readonly Pick<SegmentVerdict, "text" | "cwds">[],
): string | undefined {
  if (folder === undefined || folder.itself) return folder?.path;
  const line = command.trimEnd();
  const last = segments.find(({ text }) => {
    const own = text.trimEnd();
    // What stands inside of another (`env -C sub make`) is not what the shell itself started.
    return own !== "" && line.endsWith(own) && /(?:^|[;&|\n])\s*$/.test(line.slice(0, -own.length));
  });
  if (last === undefined) return undefined;
  if (last.cwds.includes(folder.path)) return folder.path;
  return last.cwds.length === 1 ? last.cwds[0] : undefined;
}
