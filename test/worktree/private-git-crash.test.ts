/** An import of commits that is cut off at every step: the host's repository is whole, and nothing is lost on either side. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bringOut, finishImport } from "../../daemon/worktree/private-git/branches.ts";
import { handIn } from "../../daemon/worktree/private-git/hand-in.ts";
import type { ImportStep } from "../../daemon/worktree/private-git/objects.ts";
import { GitPair, USER } from "./git-pair.ts";

const CHILD = fileURLToPath(new URL("./import-crash-child.ts", import.meta.url));
const BEFORE: readonly ImportStep[] = ["quarantined", "indexed", "adopted", "intended"];
const AFTER: readonly ImportStep[] = ["moved", "switched", "followed"];

describe.skipIf(process.getuid?.() !== 0)("a daemon that ends in the middle of an import", () => {
  let pair: GitPair;
  beforeEach(async () => {
    pair = await GitPair.linked();
  });
  afterEach(() => pair.remove());

  it.each([...BEFORE, ...AFTER])("at %s", async (step) => {
    const { repository, inner, state } = pair;
    pair.agent("switch", "-q", "-c", "topic");
    pair.edit("b", "new\n");
    pair.agent("add", "b");
    pair.agent("commit", "-qm", "two");
    const commit = pair.agent("rev-parse", "HEAD");
    const intentFile = join(pair.base, "intent");
    const input = { repository, inner, user: USER, state: pair.storedState(), step, intentFile };
    const words = ["--import", import.meta.resolve("tsx"), CHILD, JSON.stringify(input)];
    const child = spawnSync(process.execPath, words, { encoding: "utf8" });
    expect({ signal: child.signal, stderr: child.stderr }).toEqual({
      signal: "SIGKILL",
      stderr: "",
    });
    pair.host("fsck", "--strict", "--no-dangling");

    const intent = existsSync(intentFile) ? JSON.parse(readFileSync(intentFile, "utf8")) : null;
    expect(intent !== null).toBe([...AFTER, "intended"].includes(step));
    const came = await finishImport(
      repository,
      intent ?? { ref: "refs/heads/topic", old: null, commit, from: { ref: null, commit: null } },
    );
    expect(came).toBe(AFTER.includes(step));
    expect(readdirSync(join(repository.commonDir, "objects"))).not.toContainEqual(
      expect.stringContaining("incoming"),
    );

    const handed = await handIn(repository, pair.git, { ...state, own: ["refs/heads/topic"] });
    await bringOut(repository, pair.git, handed.state, pair.hooks);
    expect(pair.host("branch", "--show-current")).toBe("topic");
    expect(pair.host("rev-parse", "topic")).toBe(commit);
    expect(pair.host("status", "--porcelain")).toBe("");
    expect(pair.host("fsck", "--strict", "--no-dangling")).toBe("");
    expect(pair.agent("status", "--porcelain=v1", "-b")).toBe("## topic");
    rmSync(intentFile, { force: true });
  });
});
