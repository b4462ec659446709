/** The runner's folder: what is in it can be read by a sandbox's user, under whatever umask the daemon runs. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProgram, installRunner } from "../../daemon/sandbox/runner/program.ts";
import { SHELL_STATE_FILE } from "../../daemon/sandbox/shell-state.ts";

const program = findProgram();

test.runIf(process.getuid?.() === 0 && program !== null)(
  "the program runs and the shell state file is readable for everybody under umask 077, also where it was not before",
  async () => {
    const state = mkdtempSync(join(tmpdir(), "recinto-program-"));
    const before = process.umask(0o077);
    try {
      const first = await installRunner(state, program);
      if (first.folder === null) throw new Error(first.missing);
      const { folder } = first;
      const modes = () =>
        Object.fromEntries(
          readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
        );
      const readable = { "recinto-runner": 0o755, [SHELL_STATE_FILE]: 0o644 };
      expect([statSync(folder).mode & 0o777, modes()]).toEqual([0o755, readable]);
      chmodSync(join(folder, SHELL_STATE_FILE), 0o600);
      await installRunner(state, program);
      expect(modes()).toEqual(readable);
    } finally {
      process.umask(before);
      rmSync(state, { recursive: true, force: true });
    }
  },
);
