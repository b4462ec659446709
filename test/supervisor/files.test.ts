/** File operations as use cases: judged, asked about, done with the owner's rights, and on record. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FileCall, FileCalls } from "../../daemon/supervisor/files/file-calls.ts";
import type { Answer } from "../../daemon/supervisor/types.ts";
import { bytes, sha, thrown } from "./file-content.ts";
import { admin, agent, codeOf, OWNER, World } from "./world.ts";

let world: World;
let files: FileCalls;
let session: string;
let at: string;

beforeEach(async () => {
  world = new World();
  world.profile =
    "extends: dev\napprovalWait: 5s\npolicy: {rules: [{id: no-env, tool: read, pattern: '**/.env', action: deny, justification: secrets}]}\n";
  files = (await world.start()).files;
  session = await world.open();
  at = world.worktree();
});
afterEach(() => world.end());

function call(more: Partial<FileCall> = {}): FileCall {
  return { caller: agent(), session, signal: new AbortController().signal, ...more };
}

/** Answers the questions of a call. */
function answered(answer: Answer): FileCall {
  const told = new Set<string>();
  return call({
    onPending: (id) => {
      if (told.has(id)) return;
      told.add(id);
      void world.supervisor.answer(admin(), id, answer);
    },
  });
}

const APPROVE: Answer = { answer: "approve", mode: "once" };

describe("what the profile allows", () => {
  test("is written whole, belongs to the worktree's owner, and is on record before and after", async () => {
    const written = await files.write(
      call(),
      { path: "src/new/a.bin", parents: true },
      bytes("ab", Buffer.from([0, 255])),
    );
    const path = join(at, "src/new/a.bin");
    const content = Buffer.from([97, 98, 0, 255]);
    expect(written).toEqual({ path, bytes: 4, size: 4, sha256: sha(content) });
    expect(readFileSync(path)).toEqual(content);
    for (const each of [path, join(at, "src"), join(at, "src/new")]) {
      const { uid, gid } = lstatSync(each);
      expect([uid, gid]).toEqual([OWNER, OWNER]);
    }
    expect(lstatSync(path).mode & 0o7777).toBe(0o644);
    expect(readdirSync(join(at, "src/new"))).toEqual(["a.bin"]);
    const recorded = world.recorded("proposed_action.created", "file.done", "file.failed");
    expect(recorded).toMatchObject([
      [
        "proposed_action.created",
        {
          command: "files write src/new/a.bin",
          verdict: "allow",
          effects: ["read", "write"],
          roots: [at],
          file: { verb: "write" },
        },
      ],
      ["file.done", { bytes: 4, size: 4, sha256: sha(content) }],
    ]);
    expect(recorded[0]?.[1].action).toBe(recorded[1]?.[1].action);
  });

  test("a write holds only against the content that it is for", async () => {
    const write = (text: string, ifHash?: string) =>
      files.write(call(), { path: "a", ...(ifHash === undefined ? {} : { ifHash }) }, bytes(text));
    await write("one", "absent");
    expect((await thrown(() => write("two", "absent"))).code).toBe("file-exists");
    const wrong = await thrown(() => write("two", sha("other")));
    expect([wrong.code, wrong.details]).toEqual(["file-changed", { sha256: sha("one") }]);
    await write("two", sha("one"));
    expect(readFileSync(join(at, "a"), "utf8")).toBe("two");
    expect(
      (await thrown(() => files.write(call(), { path: "none", ifHash: sha("one") }, bytes("x"))))
        .code,
    ).toBe("file-changed");
    expect(readdirSync(at).filter((name) => name.startsWith(".recinto"))).toEqual([]);
  });

  test("the mode stays, executable is set and taken, more is added to the end", async () => {
    world.write(join(at, "run.sh"), "#!/bin/sh\n");
    chmodSync(join(at, "run.sh"), 0o750);
    const mode = () => (lstatSync(join(at, "run.sh")).mode & 0o7777).toString(8);
    await files.write(call(), { path: "run.sh" }, bytes("x\n"));
    expect(mode()).toBe("750");
    await files.write(call(), { path: "run.sh", executable: false }, bytes("x\n"));
    expect(mode()).toBe("640");
    expect(await files.write(call(), { path: "run.sh", append: true }, bytes("y\n"))).toMatchObject(
      { bytes: 2, size: 4 },
    );
    expect(readFileSync(join(at, "run.sh"), "utf8")).toBe("x\ny\n");
    expect(
      await codeOf(() => files.write(call(), { path: "none", append: true }, bytes("y"))),
    ).toBe("file-not-found");
  });

  test("a range is read exactly, whatever happens to the name meanwhile", async () => {
    const content = Buffer.alloc(300_000, "0123456789");
    world.write(join(at, "big"), content.toString());
    const stream = await files.read(call(), { path: "big", offset: 5, length: 200_000 });
    await files.remove(call(), { path: "big" });
    expect(await buffer(stream.bytes)).toEqual(content.subarray(5, 200_005));
    await stream.close();
    expect(stream).toMatchObject({ size: 300_000, offset: 5, length: 200_000, mode: "644" });
    expect(world.recorded("file.done").map(([, { bytes: sent }]) => sent)).toEqual([
      undefined,
      200_000,
    ]);
    const past = await files.read(call(), { path: "file.txt", offset: 99 });
    expect((await buffer(past.bytes)).length).toBe(0);
    const left = await files.read(call(), { path: "file.txt" });
    await left.close();
    expect(world.recorded("file.failed")).toMatchObject([["file.failed", { code: "busy" }]]);
  });

  test("a folder is listed page by page, sorted; links are shown and not followed", async () => {
    for (const name of ["b", "a", "ü", "c"]) world.write(join(at, "d", name), name);
    symlinkSync("../../../secret", join(at, "d", "link"));
    const first = await files.list(call(), { path: "d", limit: 3 });
    expect([first.entries.map(({ name }) => name), first.total, first.next]).toEqual([
      ["a", "b", "c"],
      5,
      "c",
    ]);
    const rest = await files.list(call(), { path: "d", after: first.next ?? "" });
    expect(rest.entries.map(({ name, kind, target }) => [name, kind, target])).toEqual([
      ["link", "link", "../../../secret"],
      ["ü", "file", undefined],
    ]);
    expect(rest.next).toBeNull();
    expect(await files.stat(call(), { path: "d/a", hash: true })).toMatchObject({
      kind: "file",
      size: 1,
      uid: OWNER,
      sha256: sha("a"),
    });
    expect(await files.stat(call(), { path: "." })).toMatchObject({ name: "one", kind: "folder" });
  });

  test("folders are made, entries moved and removed", async () => {
    expect(await files.mkdir(call(), { path: "x/y/z", parents: true })).toEqual({ made: 3 });
    expect(await codeOf(() => files.mkdir(call(), { path: "x" }))).toBe("file-exists");
    expect(await codeOf(() => files.remove(call(), { path: "x" }))).toBe("file-exists");
    await files.move(call(), { from: "file.txt", to: "x/y/z/f" });
    world.write(join(at, "other"), "other");
    expect(await codeOf(() => files.move(call(), { from: "other", to: "x/y/z/f" }))).toBe(
      "file-exists",
    );
    await files.move(call(), { from: "other", to: "x/y/z/f", replace: true });
    expect(readFileSync(join(at, "x/y/z/f"), "utf8")).toBe("other");
    await files.remove(call(), { path: "x/y/z/f" });
    expect(await files.remove(call(), { path: "x/y/z" })).toEqual({ removed: 1 });
  });
});

describe("what a person has to be asked", () => {
  test("an instruction file is shown with its content, written when approved, and not when denied (A4)", async () => {
    const asking = call({ waitMs: 0 });
    const refused = await thrown(() =>
      files.write(asking, { path: "AGENTS.md" }, bytes("be kind\n")),
    );
    expect([refused.code, refused.details]).toMatchObject([
      "refused",
      { by: "not-waiting", rule: "ceiling/protected-file" },
    ]);
    const denied = answered({ answer: "deny", reason: "not now" });
    expect(
      await thrown(() => files.write(denied, { path: "AGENTS.md" }, bytes("be kind\n"))),
    ).toMatchObject({ code: "refused", message: "not now", details: { by: "person" } });
    expect(existsSync(join(at, "AGENTS.md"))).toBe(false);
    await files.write(answered(APPROVE), { path: "AGENTS.md" }, bytes("be kind\n"));
    expect(readFileSync(join(at, "AGENTS.md"), "utf8")).toBe("be kind\n");
    const question = world.supervisor.approvals(admin()).at(-1);
    expect(question).toMatchObject({
      command: `files write AGENTS.md (8 bytes, sha256 ${sha("be kind\n")})`,
      stdin: "be kind\n",
      facts: { content: { [join(at, "AGENTS.md")]: null } },
      cannotTakeEffect: [],
    });
  });

  test("what was approved is that content over that content: when either changes it asks again", async () => {
    world.write(join(at, "CLAUDE.md"), "old");
    let questions = 0;
    const told = new Set<string>();
    const writing = files.write(
      call({
        onPending: (id) => {
          if (told.has(id)) return;
          told.add(id);
          questions += 1;
          if (questions === 1) writeFileSync(join(at, "CLAUDE.md"), "swapped");
          void world.supervisor.answer(admin(), id, APPROVE);
        },
      }),
      { path: "CLAUDE.md" },
      bytes("new"),
    );
    await writing;
    const [, again] = world.supervisor.approvals(admin());
    expect(again?.changed).toEqual([`the content of ${join(at, "CLAUDE.md")} changed`]);
    expect(readFileSync(join(at, "CLAUDE.md"), "utf8")).toBe("new");

    const wait = call({ waitMs: 1 });
    await codeOf(() => files.write(wait, { path: "CLAUDE.md" }, bytes("approved")));
    const open = world.supervisor.approvals(admin(), { state: "pending" })[0];
    await world.supervisor.answer(admin(), open?.id ?? "", APPROVE);
    expect(
      await codeOf(() => files.write(call({ waitMs: 0 }), { path: "CLAUDE.md" }, bytes("another"))),
    ).toBe("refused");
    await files.write(wait, { path: "CLAUDE.md" }, bytes("approved"));
    expect(readFileSync(join(at, "CLAUDE.md"), "utf8")).toBe("approved");
  });

  test("removing a folder with all it holds (B3)", async () => {
    world.write(join(at, "tree/a/b"), "b");
    symlinkSync("/etc", join(at, "tree/a/etc"));
    expect(
      await codeOf(() => files.remove(call({ waitMs: 0 }), { path: "tree", recursive: true })),
    ).toBe("refused");
    expect(await files.remove(answered(APPROVE), { path: "tree", recursive: true })).toEqual({
      removed: 4,
    });
    expect([existsSync(join(at, "tree")), existsSync("/etc/passwd")]).toEqual([false, true]);
  });

  test("a large content waits in the daemon's state under no name", async () => {
    const large = Buffer.alloc(3_000_000, "x");
    await files.write(
      answered(APPROVE),
      { path: ".envrc" },
      bytes(large.subarray(0, 2_000_000), large.subarray(2_000_000)),
    );
    expect(sha(readFileSync(join(at, ".envrc")))).toBe(sha(large));
    expect(readdirSync(join(world.folder, "state/staged"))).toEqual([]);
  });
});

describe("many files at once", () => {
  test("a patch is judged by every file in it, and applied whole once a person approved", async () => {
    world.write(join(at, "CLAUDE.md"), "old\n");
    const patch =
      "--- a/file.txt\n+++ b/file.txt\n@@ -1 +1 @@\n-text\n+new\n--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1 +1 @@\n-old\n+new\n";
    const refused = await thrown(() => files.patch(call({ waitMs: 0 }), { patch }));
    expect(refused.details).toMatchObject({ rule: "ceiling/protected-file" });
    expect(readFileSync(join(at, "file.txt"), "utf8")).toBe("text\n");
    const done = await files.patch(answered(APPROVE), { patch });
    expect(done.files).toEqual([
      { path: join(at, "file.txt"), change: "changed", sha256: sha("new\n") },
      { path: join(at, "CLAUDE.md"), change: "changed", sha256: sha("new\n") },
    ]);
    expect(world.supervisor.approvals(admin()).at(-1)?.stdin).toBe(patch);
    expect(
      await codeOf(() =>
        files.patch(call(), { patch: "--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n" }),
      ),
    ).toBe("not-served");
  });

  test("an archive cannot bring what would ask by itself, and none leaves that may not be read", async () => {
    world.write(join(at, "src/.env"), "SECRET");
    world.write(join(at, "src/AGENTS.md"), "be kind");
    world.write(join(at, "src/a"), "a");
    const stream = await files.pack(call(), { path: "src" });
    const archive = await buffer(stream.archive);
    await stream.close();
    expect([archive.includes("SECRET"), stream.packed]).toEqual([
      false,
      { entries: 2, bytes: 8, leftOut: 1 },
    ]);
    await files.mkdir(call(), { path: "copy" });
    const error = await thrown(() => files.unpack(call(), { path: "copy" }, bytes(archive)));
    expect([error.code, error.details]).toEqual([
      "archive-refused",
      { written: [], entries: 0, bytes: 0 },
    ]);
    expect(error.message).toContain("copy/AGENTS.md");
    expect(readdirSync(join(at, "copy"))).toEqual([]);
    expect(world.recorded("file.failed").at(-1)?.[1]).toMatchObject({ code: "archive-refused" });
  });
});

describe("what is refused", () => {
  test("a deny of the admin, before a byte of the content is read, and it counts (B2)", async () => {
    world.write(join(at, ".env"), "SECRET=1");
    for (const _ of [1, 2, 3]) {
      expect(await thrown(() => files.read(call(), { path: ".env" }))).toMatchObject({
        code: "refused",
        details: { by: "policy", rule: "test/no-env" },
      });
    }
    expect(world.supervisor.session(agent(), session).denials.total).toBe(3);
    expect(world.recorded("action.refused").length).toBe(3);
  });

  test("what the file API cannot reach, without bothering anybody", async () => {
    symlinkSync("/etc", join(at, "etc"));
    symlinkSync("/etc/passwd", join(at, "passwd"));
    const outside = ["/etc/passwd", "etc/passwd", "passwd", "/tmp/x", "../two/file.txt", "/"];
    for (const path of outside) {
      const error = await thrown(() => files.read(answered(APPROVE), { path }));
      expect([path, error.code]).toEqual([path, "not-served"]);
      expect(
        await codeOf(() => files.write(answered(APPROVE), { path: `${path}/x` }, bytes("x"))),
      ).toBe("not-served");
    }
    expect(world.recorded("approval.requested")).toEqual([]);
    expect(existsSync("/etc/x")).toBe(false);
  });

  test("git's own folder: the sandbox has another one there", async () => {
    world.write(join(at, ".git/config"), "url = https://user:secret@host/");
    expect(await codeOf(() => files.read(call(), { path: ".git/config" }))).toBe("not-served");
    expect(await codeOf(() => files.list(call(), { path: ".git" }))).toBe("not-served");
    const packed = await files.pack(call(), { path: "." });
    expect((await buffer(packed.archive)).includes("secret")).toBe(false);
    await packed.close();
  });

  test("what only root could read", async () => {
    mkdirSync(join(at, "d"));
    writeFileSync(join(at, "rooted"), "root's");
    chmodSync(join(at, "rooted"), 0o600);
    expect(await codeOf(() => files.read(call(), { path: "rooted" }))).toBe("file-denied");
    // The folder is root's, so its owner, which the agent's is not, alone may add to it.
    expect(await codeOf(() => files.write(call(), { path: "d/x" }, bytes("x")))).toBe(
      "file-denied",
    );
  });

  test("paths that are none, and the worktree itself", async () => {
    expect(await codeOf(() => files.read(call(), { path: "a\0b" }))).toBe("bad-utf8");
    expect(await codeOf(() => files.read(call(), { path: "\ud800" }))).toBe("bad-utf8");
    expect(await codeOf(() => files.read(call(), { path: "" }))).toBe("bad-request");
    expect(await codeOf(() => files.read(call(), { path: "x/".repeat(3_000) }))).toBe(
      "bad-request",
    );
    expect(await codeOf(async () => files.remove(call(), { path: ".", recursive: true }))).toBe(
      "bad-request",
    );
    expect(await codeOf(() => files.read(call(), { path: "d".repeat(300) }))).toBe("bad-request");
  });

  test("another user's session, and what is left of a client that went away", async () => {
    expect(
      await codeOf(() => files.read(call({ caller: agent("web", 61_002) }), { path: "a" })),
    ).toBe("unknown-session");
    const gone = new AbortController();
    async function* half() {
      yield Buffer.from("half");
      gone.abort();
      yield Buffer.from("rest");
    }
    expect(
      await codeOf(() => files.write(call({ signal: gone.signal }), { path: "file.txt" }, half())),
    ).toBe("busy");
    expect(readFileSync(join(at, "file.txt"), "utf8")).toBe("text\n");
    expect(readdirSync(at)).toEqual(["file.txt"]);
    expect(world.supervisor.listSessions(agent())).toHaveLength(1);
  });
});
