/** Links swapped in while files are read and changed: nothing outside is read or touched, and without the guard it is. */
import { execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import {
  appendTo,
  makeFolder,
  moveEntry,
  removeEntry,
} from "../../daemon/worktree/files/changing.ts";
import { FileRoot } from "../../daemon/worktree/files/file-root.ts";
import { NewFile } from "../../daemon/worktree/files/new-file.ts";
import { pack } from "../../daemon/worktree/files/pack.ts";
import { listFolder, readContent } from "../../daemon/worktree/files/reading.ts";
import { TAR_END, writeHead } from "../../daemon/worktree/files/tar-format.ts";
import { unpack } from "../../daemon/worktree/files/unpack.ts";
import { scratchFolder } from "./scratch-folder.ts";

const OWNER = 61_003;
const OPERATIONS = 1_000;
const TIMEOUT_MS = 180_000;

let top: string;
let root: FileRoot;
let outside: string;

/** `wt/inner` is a folder and, half of the time, a link to `outside`, which holds the same names. */
beforeEach(() => {
  top = scratchFolder();
  const worktree = join(top, "wt");
  outside = join(top, "outside");
  for (const folder of [join(worktree, "inner"), outside]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "f"), folder === outside ? "secret" : "inside");
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "sub/g"), folder === outside ? "secret" : "inside");
  }
  symlinkSync("../outside", join(worktree, "link"));
  if (process.getuid?.() === 0) {
    // Outside belongs to the owner too: what holds is that no link is followed, not who may write there.
    for (const path of [worktree, ...names(worktree), outside, ...names(outside)])
      chownSync(path, OWNER, OWNER);
  }
  root = FileRoot.open(worktree);
  onTestFinished(() => root.close());
});

function names(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name !== "link")
    .map((name) => join(folder, name));
}

/** Folder and link are each in their own place again, also after a kill in the middle or a folder made in a gap. */
const REPAIR = `
  const { existsSync, lstatSync, renameSync, rmSync, symlinkSync } = require("node:fs");
  const [inner, held, link] = ["/inner", "/held", "/link"].map((name) => process.argv[1] + name);
  function repair() {
    const found = lstatSync(inner, { throwIfNoEntry: false });
    if (existsSync(held)) {
      if (found?.isSymbolicLink()) renameSync(inner, link);
      else if (found !== undefined) rmSync(inner, { recursive: true });
      renameSync(held, inner);
    }
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync("../outside", link);
  }
  repair();`;

const SWAP = `${REPAIR}
  for (;;) {
    try {
      renameSync(inner, held);
      renameSync(link, inner);
      renameSync(inner, link);
      renameSync(held, inner);
    } catch {
      try { repair(); } catch {}
    }
  }`;

/** Another process changes folder and link for each other as fast as it can, while `act` is done again and again. */
async function whileSwapping(
  act: (round: number) => unknown,
  { rounds = OPERATIONS, until = () => false }: { rounds?: number; until?: () => boolean } = {},
): Promise<{ done: number; refused: Record<string, number> }> {
  const swapping = spawn(process.execPath, ["-e", SWAP, root.path], { stdio: "ignore" });
  const refused: Record<string, number> = {};
  let done = 0;
  try {
    for (let round = 0; round < rounds && !until(); round++) {
      try {
        await act(round);
        done += 1;
      } catch (error) {
        const code =
          error instanceof RecintoError ? error.code : (error as NodeJS.ErrnoException).code;
        if (code === undefined) throw error;
        refused[code] = (refused[code] ?? 0) + 1;
      }
      if (round % 16 === 0) await setImmediate();
    }
  } finally {
    const gone = new Promise((resolve) => swapping.once("exit", resolve));
    swapping.kill("SIGKILL");
    await gone;
    execFileSync(process.execPath, ["-e", REPAIR, root.path]);
  }
  return { done, refused };
}

/** What is outside, to the letter. */
function state(folder: string): Record<string, string> {
  return Object.fromEntries(
    names(folder).map((path) => [path, statSync(path).isFile() ? readFileSync(path, "utf8") : "/"]),
  );
}

async function* one(text: string) {
  yield Buffer.from(text);
}

async function write(path: string, text: string): Promise<void> {
  const file = NewFile.begin(root, path);
  try {
    await file.fill(one(text), 100);
    file.place("anything", 0o644).keep();
  } finally {
    file.discard();
  }
}

function archive(entries: readonly (readonly [string, string])[]): Buffer {
  const blocks = entries.flatMap(([name, text]) => [
    writeHead({ name, kind: "file", size: text.length, mode: 0o644, mtimeMs: 0, target: "" }),
    Buffer.concat([Buffer.from(text), Buffer.alloc(512 - text.length)]),
  ]);
  return Buffer.concat([...blocks, TAR_END]);
}

/** Each is done thousands of times; `naive` is the same by path, as a program would write it without thinking. */
describe("a folder on the way is swapped for a link to outside", { timeout: TIMEOUT_MS }, () => {
  test("reading", async () => {
    const seen = new Set<string>();
    const reading = async () => {
      const file = readContent(root, "inner/f");
      try {
        seen.add((await buffer(file.bytes)).toString());
      } finally {
        await file.close();
      }
    };
    const { done, refused } = await whileSwapping(reading, { rounds: 3 * OPERATIONS });
    expect([...seen]).toEqual(["inside"]);
    expect([done > 0, Object.keys(refused).length > 0]).toEqual([true, true]);
    const naive = new Set<string>();
    await whileSwapping(() => naive.add(readFileSync(join(root.path, "inner/f"), "utf8")), {
      rounds: 200_000,
      until: () => naive.has("secret"),
    });
    expect(naive).toContain("secret");
  });

  test("writing, appending, making folders", async () => {
    const before = state(outside);
    const writing = await whileSwapping((round) => write(`inner/new${round % 7}`, "mine"));
    const appending = await whileSwapping(() => appendTo(root, "inner/f", one("x"), 100));
    const making = await whileSwapping((round) => makeFolder(root, `inner/made/${round}`, true));
    expect(state(outside)).toEqual(before);
    for (const { done } of [writing, appending, making]) expect(done).toBeGreaterThan(0);
    expect(
      readdirSync(join(root.path, "inner")).filter((name) => name.startsWith(".recinto")),
    ).toEqual([]);
    await whileSwapping(() => writeFileSync(join(root.path, "inner/naive"), "mine"), {
      rounds: 200_000,
      until: () => existsSync(join(outside, "naive")),
    });
    expect(existsSync(join(outside, "naive"))).toBe(true);
  });

  test("removing, moving away and onto", async () => {
    const before = state(outside);
    await whileSwapping(async (round) => {
      await write(`inner/r${round}`, "x");
      await removeEntry(root, `inner/r${round}`, false);
    });
    await whileSwapping(() => removeEntry(root, "inner/f", false));
    await whileSwapping(async (round) => {
      makeFolder(root, `inner/t${round}/deep`, true);
      await removeEntry(root, `inner/t${round}`, true);
    });
    await whileSwapping(() => removeEntry(root, "inner/sub", true), { rounds: 300 });
    await write("mine", "x");
    await whileSwapping((round) => {
      const [from, to] = round % 2 === 0 ? ["mine", "inner/moved"] : ["inner/moved", "mine"];
      moveEntry(root, from as string, to as string, false);
    });
    expect(state(outside)).toEqual(before);
    expect(existsSync(join(outside, "sub/g"))).toBe(true);
    await whileSwapping(() => rmSync(join(root.path, "inner/sub"), { recursive: true }), {
      rounds: 200_000,
      until: () => !existsSync(join(outside, "sub")),
    });
    expect(existsSync(join(outside, "sub"))).toBe(false);
  });

  test("listing and packing", async () => {
    writeFileSync(join(outside, "only-outside"), "secret");
    const listed = new Set<string>();
    await whileSwapping(() => {
      for (const { name } of listFolder(root, "inner", undefined, 100).entries) listed.add(name);
    });
    expect([...listed].sort()).toEqual(["f", "sub"]);
    const packed = await whileSwapping(
      async () => {
        const all = await buffer(
          pack({ root, path: "", gzip: false, leaveOut: () => false }).archive,
        );
        expect(all.includes("secret")).toBe(false);
      },
      { rounds: 400 },
    );
    expect(packed.done).toBeGreaterThan(0);
  });

  test("unpacking", async () => {
    const before = state(outside);
    const tar = archive([
      ["inner/f", "mine"],
      ["inner/sub/g", "mine"],
      ["inner/sub/new/h", "mine"],
    ]);
    const { done } = await whileSwapping(
      () =>
        unpack({
          root,
          into: "",
          archive: one(tar.toString("latin1")),
          refuse: () => null,
          scope: [root.path],
        }),
      { rounds: 1_000 },
    );
    expect(state(outside)).toEqual(before);
    expect(done).toBeGreaterThan(0);
  });
});

test("what an agent's user cannot read, write or make, the daemon cannot either", async () => {
  if (process.getuid?.() !== 0) return;
  const closed = join(root.path, "closed");
  mkdirSync(closed, { mode: 0o700 });
  writeFileSync(join(closed, "f"), "root's");
  writeFileSync(join(root.path, "rooted"), "root's", { mode: 0o600 });
  const codes: string[] = [];
  for (const act of [
    () => readContent(root, "closed/f"),
    () => readContent(root, "rooted"),
    () => listFolder(root, "closed", undefined, 10),
    () => makeFolder(root, "closed/d", false),
    () => write("closed/x", "x"),
    () => removeEntry(root, "closed/f", false),
    () => appendTo(root, "rooted", one("x"), 10),
  ]) {
    await (async () => act())().catch((error: RecintoError) => codes.push(error.code));
  }
  expect(codes).toEqual(Array(7).fill("file-denied"));
  // Its rights are back afterwards.
  expect([process.geteuid?.(), process.getgroups?.().includes(0)]).toEqual([0, true]);
  expect(readFileSync(join(closed, "f"), "utf8")).toBe("root's");
});
