/** Where a command's shell was when it ended: what the kernel says, where that can be taken for the shell's. */
import { expect, test } from "vitest";
import { folderAfter } from "../../daemon/supervisor/folder-after.ts";

const one = (text: string, ...cwds: string[]) => ({ text, cwds });

test.each([
  [
    "the shell itself ended",
    { path: "/w/sub", itself: true },
    "cd sub",
    [one("cd sub", "/w")],
    "/w/sub",
  ],
  [
    "a program took its place and stayed",
    { path: "/w", itself: false },
    "ls",
    [one("ls", "/w")],
    "/w",
  ],
  ["it moved", { path: "/w/sub", itself: false }, "make -C sub", [one("make -C sub", "/w")], "/w"],
  [
    "it was started in one of two and stayed",
    { path: "/w/sub", itself: false },
    "cd sub; make",
    [one("cd sub", "/w"), one("make", "/w", "/w/sub")],
    "/w/sub",
  ],
  [
    "it was started in one of two and moved",
    { path: "/", itself: false },
    "cd sub; make -C /",
    [one("cd sub", "/w"), one("make -C /", "/w", "/w/sub")],
    undefined,
  ],
  [
    "it is what another one runs",
    { path: "/w/sub", itself: false },
    "env -C sub make",
    [one("make", "/w/sub")],
    undefined,
  ],
  ["nothing is known of it", { path: "/w/sub", itself: false }, "$X", [one("", "/w")], undefined],
  ["the executor cannot tell", undefined, "ls", [one("ls", "/w")], undefined],
] as const)("%s", (_, folder, command, segments, cwd) => {
  expect(folderAfter(folder, command, segments)).toBe(cwd);
});
