/** Whether a person who approved a command approved the change of this protected file with it. */
import { posix } from "node:path";
import { protectedName } from "../policy/protected-names.ts";
import type { SegmentVerdict } from "../policy/types.ts";
import type { EscortedCommand } from "./escort.ts";
import { isBelowAny } from "./facts.ts";

/** `path` is absolute. Only what the question was about: a simple command that asked because of a protected file. */
export function approvedChange(
  {
    approved,
    verdict,
    profile,
    session,
  }: Pick<EscortedCommand, "approved" | "verdict" | "profile" | "session">,
  path: string,
): boolean {
  if (!approved) return false;
  const { protectedFiles } = profile.policy;
  return verdict.segments
    .filter(({ matches }) => matches.some(({ rule }) => rule === "ceiling/protected-file"))
    .some((segment) => {
      const written = segment.paths
        .filter(({ access }) => access === "write")
        .map(({ path, real }) => real ?? path);
      const shown = written.filter(
        (each) => protectedName(each, true, protectedFiles, session.worktree) !== null,
      );
      return isBelowAny(path, shown) || (isBelowAny(path, written) && names(segment, path));
    });
}

/** `cp -r rules/AGENTS.md .` names the file, though what it writes is the folder. */
function names({ argv = [] }: SegmentVerdict, path: string): boolean {
  return argv.some((word) => posix.basename(word) === posix.basename(path));
}
