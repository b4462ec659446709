/** Folders that a grant names are made before a command that may write there, and through no link. */
import { existsSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Grant } from "../../daemon/authority/ledger-types.ts";
import { makeGrantedFolders } from "../../daemon/supervisor/authority/granted-folders.ts";
import { scratchFolder } from "../worktree/scratch-folder.ts";
import { AuthorityWorld } from "./authority-world.ts";
import { codeOf, run } from "./world.ts";

const onPaths = (...paths: string[]) => ({
  contract: null,
  grants: [{ effect: "write", paths }] as unknown as Grant[],
});

test("a folder that is not there is made, with those above it, and a single file is not", () => {
  const worktree = scratchFolder();
  makeGrantedFolders(worktree, onPaths("src/made/**", "docs/one.md"));
  expect(statSync(join(worktree, "src/made")).isDirectory()).toBe(true);
  expect(existsSync(join(worktree, "docs"))).toBe(false);
});

test("nothing is made through a link that leads out, nor in the place of a file", () => {
  const worktree = scratchFolder();
  const outside = scratchFolder();
  symlinkSync(outside, join(worktree, "out"));
  writeFileSync(join(worktree, "file"), "");
  makeGrantedFolders(worktree, onPaths("out/made/**"));
  makeGrantedFolders(worktree, onPaths("file/made/**"));
  expect(existsSync(join(outside, "made"))).toBe(false);
  expect(statSync(join(worktree, "file")).isFile()).toBe(true);
});

test("a right that is not to write, or on everything, makes nothing", () => {
  const worktree = scratchFolder();
  mkdirSync(join(worktree, "src"));
  makeGrantedFolders(worktree, onPaths("**", "src/**"));
  const reads = { contract: null, grants: [{ effect: "read", paths: ["docs/**"] }] };
  makeGrantedFolders(worktree, reads as unknown as Parameters<typeof makeGrantedFolders>[1]);
  expect(existsSync(join(worktree, "docs"))).toBe(false);
});

test("where the worktree goes away in that moment, the command that was begun on record ends there too", async () => {
  const world = await AuthorityWorld.make();
  await world.set('task: make\nenvelope:\n  - {effect: write, paths: ["made/**"]}\n');
  const { journal } = world;
  if (journal === null) throw new TypeError("no journal");
  const synced = journal.synced.bind(journal);
  journal.synced = async () => {
    await synced();
    renameSync(world.worktree(), `${world.worktree()}.away`);
  };
  const failed = await codeOf(() => run(world, world.session, "touch made/a"));
  journal.synced = synced;
  expect(failed).toBe("file-not-found");
  expect(world.ran).toEqual([]);
  expect(world.recorded("exec.started", "exec.exited")).toMatchObject([
    ["exec.started", {}],
    ["exec.exited", { exitCode: null, failed: expect.any(String) }],
  ]);
  await world.end();
});
