/** Archives in and out: what every tar makes of ours and we of theirs, and hostile ones made by hand. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack as packWithTarFs } from "tar-fs";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { FileRoot } from "../../daemon/worktree/files/file-root.ts";
import { pack } from "../../daemon/worktree/files/pack.ts";
import { readBlock, readRecords, writeHead } from "../../daemon/worktree/files/tar-format.ts";
import { unpack } from "../../daemon/worktree/files/unpack.ts";
import { scratchFolder } from "./scratch-folder.ts";
import { entry, extension, forged, tar } from "./tar-pieces.ts";

const OWNER = 61_003;
const isRoot = process.getuid?.() === 0;

let top: string;
let root: FileRoot;

beforeEach(() => {
  top = scratchFolder();
  mkdirSync(join(top, "wt/in"), { recursive: true });
  writeFileSync(join(top, "secret"), "secret");
  if (isRoot) for (const path of ["wt", "wt/in"]) chownSync(join(top, path), OWNER, OWNER);
  root = FileRoot.open(join(top, "wt"));
  onTestFinished(() => root.close());
});

const at = (path: string) => join(top, "wt", path);

async function* pieces(bytes: Buffer, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

const unpackAll = (
  archive: Buffer,
  refuse: (path: string) => string | null = () => null,
  size = 700,
) => unpack({ root, into: "in", archive: pieces(archive, size), refuse, scope: [root.path] });

/** The error that ends it, with its details. */
async function refusal(archive: Buffer, refuse?: (path: string) => string | null) {
  try {
    await unpackAll(archive, refuse);
  } catch (error) {
    if (error instanceof RecintoError) return error;
    throw error;
  }
  throw new TypeError("it was unpacked");
}

/** A small tree with everything that an archive may hold. */
function makeTree(folder: string): void {
  mkdirSync(join(folder, "a/deep er"), { recursive: true });
  writeFileSync(join(folder, "a/x.bin"), Buffer.from([0, 255, 10, 13]));
  writeFileSync(join(folder, "a/run"), "#!/bin/sh\n");
  chmodSync(join(folder, "a/run"), 0o755);
  writeFileSync(join(folder, "a/deep er/ü.txt"), "ü");
  writeFileSync(join(folder, `a/${"n".repeat(180)}`), "long");
  writeFileSync(join(folder, "empty"), "");
  symlinkSync("../empty", join(folder, "a/up"));
}

function tree(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const what = stat.isSymbolicLink()
        ? `-> ${readlinkSync(path)}`
        : stat.isDirectory()
          ? "/"
          : !stat.isFile()
            ? "other"
            : `${(stat.mode & 0o777).toString(8)} ${readFileSync(path, "latin1")}`;
      return [name, what];
    }),
  );
}

describe("what others made", () => {
  test.each(["--format=ustar", "--format=pax", "--format=gnu"])(
    "tar %s, in pieces of any size, and by gzip",
    async (format) => {
      const source = join(top, "source");
      makeTree(source);
      // ustar has no room for a name of 180 characters.
      if (format === "--format=ustar")
        execFileSync("rm", ["-f", join(source, `a/${"n".repeat(180)}`)]);
      const made = execFileSync("tar", [format, "-C", source, "-cf", "-", "."]);
      await unpackAll(made, undefined, 513);
      expect(tree(at("in"))).toEqual(tree(source));
      await unpackAll(gzipSync(made), undefined, 7);
      expect(tree(at("in"))).toEqual(tree(source));
      if (isRoot) expect(lstatSync(at("in/a/run"))).toMatchObject({ uid: OWNER, gid: OWNER });
    },
  );

  test("tar-fs", async () => {
    const source = join(top, "source");
    makeTree(source);
    await unpackAll(await buffer(packWithTarFs(source)));
    expect(tree(at("in"))).toEqual(tree(source));
  });

  test("hard links to files of the same archive become second names", async () => {
    const source = join(top, "source");
    mkdirSync(source);
    writeFileSync(join(source, "a"), "content");
    linkSync(join(source, "a"), join(source, "b"));
    expect(await unpackAll(execFileSync("tar", ["-C", source, "-cf", "-", "."]))).toEqual({
      entries: 2,
      bytes: 7,
    });
    expect(lstatSync(at("in/a")).ino).toBe(lstatSync(at("in/b")).ino);
    expect(readdirSync(at("in")).sort()).toEqual(["a", "b"]);
  });
});

describe("what others read", () => {
  test.each([false, true])("tar reads what was packed (gzip: %s)", async (gzip) => {
    makeTree(at("in"));
    execFileSync("mkfifo", [at("in/pipe")]);
    symlinkSync("/etc", at("in/out"));
    const { archive, packed } = pack({
      root,
      path: "in",
      gzip,
      leaveOut: (path) => path.endsWith("/empty"),
    });
    const bytes = await buffer(Readable.from(archive));
    mkdirSync(join(top, "read"));
    execFileSync("tar", [gzip ? "-xzf" : "-xf", "-", "-C", join(top, "read")], { input: bytes });
    const { empty: _, pipe: __, ...rest } = tree(at("in"));
    expect(tree(join(top, "read"))).toEqual(rest);
    expect(packed).toMatchObject({ entries: 8, leftOut: 2 });
    expect(bytes.includes("root:")).toBe(false);
  });

  test("what we pack we unpack", async () => {
    makeTree(at("in"));
    const bytes = await buffer(
      Readable.from(pack({ root, path: "in", gzip: true, leaveOut: () => false }).archive),
    );
    const before = tree(at("in"));
    execFileSync("rm", ["-rf", at("in/a"), at("in/empty")]);
    await unpackAll(bytes);
    expect(tree(at("in"))).toEqual(before);
  });
});

/** Name, archive, and a part of the message. */
const HOSTILE: readonly (readonly [string, () => Buffer, RegExp])[] = [
  ["an absolute name", () => tar({ name: "/etc/cron.d/x" }), /absolute/],
  ["a name that climbs", () => tar({ name: "../../secret" }), /leads out/],
  ["a name that climbs in the middle", () => tar({ name: "a/../../x" }), /leads out/],
  ["the same in a pax record", () => tar({ name: `${"a/".repeat(60)}../x` }), /leads out/],
  [
    "a name with a NUL in a pax record",
    () => tar(Buffer.concat([extension("16 path=a\0b/../\n"), entry({})])),
    /cannot be/,
  ],
  ["a name that is no UTF-8", () => tar({ name: "a\xff" }), /not UTF-8/],
  ["a name that is too long", () => tar({ name: "a".repeat(5_000) }), /too long/],
  ["a name that is too deep", () => tar({ name: "a/".repeat(80) }), /too deep/],
  [
    "a link with an absolute target",
    () => tar({ name: "l", kind: "link", target: "/etc" }),
    /only relative/,
  ],
  [
    "a link out",
    () => tar({ name: "l", kind: "link", target: "../../secret" }),
    /out of the worktree/,
  ],
  [
    "a link that climbs later",
    () => tar({ name: "l", kind: "link", target: "d/../../.." }),
    /climb first/,
  ],
  [
    "a link that climbs through a later link",
    () =>
      tar({ name: "d", kind: "link", target: "." }, { name: "l", kind: "link", target: "d/.." }),
    /climb first/,
  ],
  [
    "a link through a link that leads out",
    () => tar({ name: "l", kind: "link", target: "bad/x" }),
    /leads out of the project/,
  ],
  [
    "a file through a link of the archive",
    () => tar({ name: "l", kind: "link", target: "." }, { name: "l/x", text: "x" }),
    /is not a folder|link that was not there/,
  ],
  [
    "a file through a link that was there",
    () => tar({ name: "bad/x", text: "x" }),
    /is not a folder|link that was not there/,
  ],
  [
    "a hard link to what is not in the archive",
    () => tar({ name: "h", kind: "second-name", target: "kept" }),
    /no file of this archive/,
  ],
  [
    "a hard link out",
    () => tar({ name: "h", kind: "second-name", target: "../../secret" }),
    /leads out/,
  ],
  [
    "a hard link to a link",
    () =>
      tar(
        { name: "l", kind: "link", target: "x" },
        { name: "h", kind: "second-name", target: "l" },
      ),
    /no file of this archive/,
  ],
  ["a character device", () => tar(forged({}, (b) => b.write("3", 156))), /device/],
  ["a block device", () => tar(forged({}, (b) => b.write("4", 156))), /device/],
  ["a FIFO", () => tar(forged({}, (b) => b.write("6", 156))), /FIFO/],
  ["a kind nobody knows", () => tar(forged({}, (b) => b.write("Z", 156))), /unknown type/],
  ["a sparse file", () => tar(forged({}, (b) => b.write("S", 156))), /sparse/],
  ["a setuid file", () => tar({ mode: 0o4755, text: "x" }), /setuid/],
  ["a setgid file", () => tar({ mode: 0o2755, text: "x" }), /setuid or setgid/],
  [
    "a folder with content",
    () => tar(forged({ name: "d", kind: "folder" }, (b) => b.write("00000000777\0", 124))),
    /has content/,
  ],
  ["a size that is no number", () => tar(forged({}, (b) => b.write("9", 124))), /no number/],
  [
    "a size beyond all files",
    () => tar(forged({}, (b) => b.fill(0xff, 124, 136).fill(0x80, 124, 125))),
    /no number/,
  ],
  [
    "more data than an archive may hold",
    () => tar(forged({}, (b) => b.write("77777777777", 124))),
    /more than 4294967296 bytes/,
  ],
  [
    "an extension of a gigabyte",
    () => tar(forged({}, (b) => b.write("x", 156) && b.write("07777777777", 124))),
    /extension of/,
  ],
  [
    "a faulty extension",
    () => tar(Buffer.concat([extension("99 path=x\n"), entry({})])),
    /well-formed/,
  ],
  [
    "one name for all",
    () => tar(Buffer.concat([extension("10 path=x\n", "g"), entry({})])),
    /one name/,
  ],
  ["a wrong checksum", () => tar(Buffer.concat([entry({}).fill(0x41, 0, 4)])), /checksum/],
  ["no archive at all", () => Buffer.alloc(2_000, "x"), /no ustar/],
  [
    "an archive that breaks off",
    () => tar({ text: "x".repeat(2_000) }).subarray(0, 1_200),
    /breaks off/,
  ],
  ["an archive without an end", () => entry({ text: "x" }), /breaks off/],
  [
    "a gzip that breaks off",
    () => gzipSync(tar({ text: "xyz" })).subarray(0, 60),
    /gzip|breaks off/,
  ],
  [
    "a bomb",
    () => gzipSync(tar({ text: "\0".repeat(64 * 1024 * 1024) })),
    /grows more than 200 times/,
  ],
];

describe("hostile archives", () => {
  test.each(HOSTILE)("%s", { timeout: 60_000 }, async (_, archive, message) => {
    symlinkSync("../../..", at("in/bad"));
    writeFileSync(at("in/kept"), "kept");
    if (isRoot) chownSync(at("in/kept"), OWNER, OWNER);
    const before = Buffer.concat([entry({ name: "first", text: "1" })]);
    const whole = archive();
    // After an entry that is fine: it stays, and is told.
    const gzip = whole[0] === 0x1f || whole.subarray(0, 3).toString() === "xxx";
    const error = await refusal(gzip ? whole : Buffer.concat([before, whole]));
    expect(error.message).toMatch(message);
    expect(["archive-refused", "file-kind", "file-changed"]).toContain(error.code);
    if (!gzip) {
      expect((error.details.written as string[])[0]).toBe("in/first");
      expect(readFileSync(at("in/first"), "utf8")).toBe("1");
    }
    expect(readFileSync(join(top, "secret"), "utf8")).toBe("secret");
    expect(readFileSync(at("in/kept"), "utf8")).toBe("kept");
    expect(readdirSync(top).sort()).toEqual(["secret", "wt"]);
    expect(readdirSync(at("in")).filter((name) => name.startsWith(".recinto"))).toEqual([]);
    expect(existsSync(at("x"))).toBe(false);
  });

  test("an entry that the policy refuses ends it; what came before stays, what comes after is not made", async () => {
    const archive = tar(
      { name: "a", text: "a" },
      { name: "AGENTS.md", text: "b" },
      { name: "c", text: "c" },
    );
    const error = await refusal(archive, (path) => (path.endsWith("AGENTS.md") ? "asks" : null));
    expect(error.toJSON().error).toMatchObject({
      code: "archive-refused",
      message: '"in/AGENTS.md": asks',
      details: { written: ["in/a"], entries: 1, bytes: 1 },
    });
    expect(readdirSync(at("in"))).toEqual(["a"]);
  });
});

test("heads are read as they were written, whatever the name and size", () => {
  for (const head of [
    { name: "a", kind: "file", size: 5, mode: 0o755, mtimeMs: 1_000, target: "" },
    { name: "l", kind: "link", size: 0, mode: 0o777, mtimeMs: 0, target: "t".repeat(99) },
  ] as const) {
    expect(readBlock(writeHead(head))).toEqual({ type: "entry", ...head });
  }
  const long = writeHead({
    name: "n".repeat(300),
    kind: "file",
    size: 9 * 1024 ** 3,
    mode: 0,
    mtimeMs: 0,
    target: "",
  });
  expect(readBlock(long.subarray(0, 512))).toMatchObject({ type: "extension", flag: "x" });
  const records = readRecords(
    long.subarray(512, 512 + (readBlock(long.subarray(0, 512)) as { size: number }).size),
  );
  expect([records?.get("path")?.length, records?.get("size")]).toEqual([
    300,
    String(9 * 1024 ** 3),
  ]);
});
