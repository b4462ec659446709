/** The watcher on a real disk, in both modes: what it finds, what it forgets, and that it is never silently blind. */
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchWithChokidar } from "../../daemon/worktree/chokidar-watcher.ts";
import type { Hazard, WorktreeWatcher } from "../../daemon/worktree/types.ts";
import { createEventBurst } from "../../daemon/worktree/watch-quota.ts";
import { type ChangeSource, watchWorktree } from "../../daemon/worktree/watcher.ts";
import { scratchFolder, until } from "./scratch-folder.ts";

interface Watching {
  readonly worktree: string;
  readonly watcher: WorktreeWatcher;
  readonly log: string[];
  /** `kind path → resolved` of each hazard, sorted, the paths below the worktree. */
  readonly state: () => string[];
  /** Waits until exactly these hazards stand. */
  readonly expectState: (...expected: string[]) => Promise<void>;
}

const MODES = { watch: watchWorktree, chokidar: watchWithChokidar } as const;

async function watching(
  prepare: (worktree: string) => void = () => undefined,
  start: typeof watchWorktree | typeof watchWithChokidar = watchWorktree,
  makeSource?: Parameters<typeof watchWorktree>[1],
): Promise<Watching> {
  const root = scratchFolder();
  const worktree = join(root, "trees/wt");
  mkdirSync(worktree, { recursive: true });
  prepare(worktree);
  const log: string[] = [];
  const says = (hazard: Hazard) => {
    const path = hazard.path.slice(worktree.length + 1);
    const resolved = hazard.resolved?.replace(root, "ROOT");
    return `${hazard.kind} ${path}${resolved === undefined ? "" : ` → ${resolved}`}`;
  };
  const options = {
    worktree,
    roots: [root],
    now: () => 1_000,
    onFound: (hazard: Hazard) => log.push(`+ ${says(hazard)}`),
    onGone: (hazard: Hazard) => log.push(`- ${says(hazard)}`),
    onDegraded: (reason: string | null) => log.push(reason === null ? "whole again" : reason),
  };
  const watcher = makeSource === undefined ? start(options) : watchWorktree(options, makeSource);
  onTestFinished(() => watcher.close());
  await watcher.ready;
  const state = () => watcher.hazards().map(says).sort();
  return {
    worktree,
    watcher,
    log,
    state,
    async expectState(...expected) {
      await until(() => JSON.stringify(state()) === JSON.stringify(expected.sort()), state);
    },
  };
}

describe.each(["watch", "chokidar"] as const)("mode %s", (mode) => {
  const start = MODES[mode];

  test("links that were there before are found before it is ready", async () => {
    const { state, watcher } = await watching((worktree) => {
      mkdirSync(join(worktree, "a/b"), { recursive: true });
      symlinkSync("/etc", join(worktree, "abs"));
      symlinkSync("../../../../../..", join(worktree, "a/b/up"));
      symlinkSync("../../other", join(worktree, "sibling"));
      symlinkSync("a/b", join(worktree, "inside"));
      symlinkSync("loop", join(worktree, "loop"));
    }, start);
    expect(state()).toEqual(["escaping-link a/b/up → /", "escaping-link abs → /etc"]);
    expect(watcher.status()).toMatchObject({ mode, ready: true, folders: 3, degraded: null });
  });

  test("a new link is found, a removed one is gone", async () => {
    const { worktree, expectState, log } = await watching(undefined, start);
    symlinkSync("/etc/passwd", join(worktree, "out"));
    await expectState("escaping-link out → /etc/passwd");
    unlinkSync(join(worktree, "out"));
    await expectState();
    expect(log).toEqual(["+ escaping-link out → /etc/passwd", "- escaping-link out → /etc/passwd"]);
  });

  test("a link in a folder made a moment ago is found", async () => {
    const { worktree, expectState } = await watching(undefined, start);
    mkdirSync(join(worktree, "x/y/z"), { recursive: true });
    symlinkSync("/", join(worktree, "x/y/z/root"));
    await expectState("escaping-link x/y/z/root → /");
  });

  test("a chain leads out from the moment its last link does, and no longer", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      symlinkSync("middle", join(worktree, "first"));
      symlinkSync("last", join(worktree, "middle"));
    }, start);
    await expectState();
    symlinkSync("/etc", join(worktree, "last"));
    await expectState(
      "escaping-link first → /etc",
      "escaping-link last → /etc",
      "escaping-link middle → /etc",
    );
    unlinkSync(join(worktree, "last"));
    await expectState();
  });

  test("a folder swapped for a link changes where the links through it lead", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      mkdirSync(join(worktree, "lib"));
      symlinkSync("lib/x", join(worktree, "through"));
    }, start);
    renameSync(join(worktree, "lib"), join(worktree, "lib-old"));
    symlinkSync("/usr/lib", join(worktree, "lib"));
    await expectState("escaping-link lib → /usr/lib", "escaping-link through → /usr/lib/x");
  });

  test("a link swapped by rename is gone and found again with its new end", async () => {
    const { worktree, expectState, log } = await watching((worktree) => {
      symlinkSync("/etc", join(worktree, "l"));
    }, start);
    symlinkSync("/usr", join(worktree, "draft"));
    renameSync(join(worktree, "draft"), join(worktree, "l"));
    await expectState("escaping-link l → /usr");
    expect(log).toContain("- escaping-link l → /etc");
    expect(log).toContain("+ escaping-link l → /usr");
  });

  test("a folder that moves takes its hazards along", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      mkdirSync(join(worktree, "a/deep"), { recursive: true });
      symlinkSync("/etc", join(worktree, "a/deep/out"));
    }, start);
    renameSync(join(worktree, "a"), join(worktree, "b"));
    await expectState("escaping-link b/deep/out → /etc");
    symlinkSync("/usr", join(worktree, "b/deep/out2"));
    await expectState("escaping-link b/deep/out → /etc", "escaping-link b/deep/out2 → /usr");
    rmSync(join(worktree, "b"), { recursive: true });
    await expectState();
  });

  test("a folder deleted and made again under its name is watched again", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      mkdirSync(join(worktree, "d"));
    }, start);
    for (let round = 0; round < 20; round++) {
      rmSync(join(worktree, "d"), { recursive: true });
      mkdirSync(join(worktree, "d"));
      symlinkSync("/etc", join(worktree, "d/out"));
    }
    await expectState("escaping-link d/out → /etc");
    symlinkSync("/usr", join(worktree, "d/late"));
    await expectState("escaping-link d/late → /usr", "escaping-link d/out → /etc");
  });

  test("FIFOs, sockets, setuid files and odd names are found", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      writeFileSync(join(worktree, "old"), "");
      chmodSync(join(worktree, "old"), 0o4755);
    }, start);
    await expectState("setuid old");
    execFileSync("mkfifo", [join(worktree, "pipe")]);
    writeFileSync(join(worktree, "new"), "");
    chmodSync(join(worktree, "new"), 0o4755);
    writeFileSync(join(worktree, "bell\x07"), "");
    await expectState("fifo pipe", "odd-name bell\x07", "setuid new", "setuid old");
    chmodSync(join(worktree, "new"), 0o755);
    await expectState("fifo pipe", "odd-name bell\x07", "setuid old");
  });

  test("a link whose name is not UTF-8 does not hide", async () => {
    const { worktree, expectState } = await watching(undefined, start);
    symlinkSync("/etc", Buffer.from(`${worktree}/\xff`, "latin1"));
    mkdirSync(Buffer.from(`${worktree}/\xfe`, "latin1"));
    symlinkSync("/etc", Buffer.from(`${worktree}/\xfe/in`, "latin1"));
    await expectState(
      "escaping-link \\xfe/in → /etc",
      "escaping-link \\xff → /etc",
      "odd-name \\xfe",
      "odd-name \\xff",
    );
  });

  test("a nested repository is a hazard when its config or hooks would run something", async () => {
    const { worktree, expectState } = await watching(undefined, start);
    const git = (...words: string[]) =>
      execFileSync("git", words, { cwd: worktree, stdio: "pipe" });
    git("init", "-q", "nested");
    git("init", "-q", "--bare", "bare-by-any-name");
    await expectState();
    git("-C", "nested", "config", "core.fsmonitor", "/tmp/evil");
    git("-C", "bare-by-any-name", "config", "core.hooksPath", "/tmp/evil");
    await expectState("nested-git bare-by-any-name", "nested-git nested/.git");
    git("-C", "nested", "config", "--unset", "core.fsmonitor");
    await expectState("nested-git bare-by-any-name");
    writeFileSync(join(worktree, "nested/.git/hooks/post-checkout"), "#!/bin/sh\n", {
      mode: 0o755,
    });
    await expectState("nested-git bare-by-any-name", "nested-git nested/.git");
  });

  test("the worktree's own .git, replaced by a pointer to what the agent made, is a hazard", async () => {
    const { worktree, expectState } = await watching((worktree) => {
      const top = join(worktree, "../..");
      const git = (...words: string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...words], {
          cwd: top,
          stdio: "pipe",
        });
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "x");
      git("worktree", "add", "-q", "-b", "topic", worktree);
    }, start);
    await expectState();
    writeFileSync(join(worktree, ".git"), `gitdir: ${worktree}/evil\n`);
    await expectState("nested-git .git");
  });
});

test("a thousand links in folders made just before are all found", async () => {
  const { worktree, watcher } = await watching();
  for (let n = 0; n < 1_000; n++) {
    const folder = join(worktree, `f${n}/g`);
    mkdirSync(folder, { recursive: true });
    symlinkSync("/etc", join(folder, "out"));
  }
  await until(
    () => watcher.hazards().length === 1_000,
    () => watcher.hazards().length,
  );
  expect(watcher.status()).toMatchObject({ folders: 2_001, watches: 2_001, degraded: null });
});

test("ten thousand links at once in one folder are all found", async () => {
  const { worktree, watcher } = await watching();
  for (let n = 0; n < 10_000; n++) symlinkSync("/etc", join(worktree, `l${n}`));
  await until(
    () => watcher.hazards().length === 10_000,
    () => watcher.hazards().length,
  );
});

test("it never follows a link: a tree behind one is not walked", async () => {
  const outside = scratchFolder();
  symlinkSync("/etc", join(outside, "trap"));
  const { watcher, state } = await watching((worktree) =>
    symlinkSync(outside, join(worktree, "l")),
  );
  expect(state()).toEqual([`escaping-link l → ${outside}`]);
  expect(watcher.status().folders).toBe(1);
});

test("a folder that becomes a link while it is entered is not walked through it", async () => {
  const outside = scratchFolder();
  for (let n = 0; n < 50; n++) symlinkSync("/etc", join(outside, `trap${n}`));
  const { worktree, log } = await watching();
  // Another process swaps as fast as it can, so that some swap falls between any two steps of ours.
  const swapping = `
    const { mkdirSync, rmdirSync, symlinkSync, unlinkSync } = require("node:fs");
    const [name, target] = process.argv.slice(1);
    for (const end = Date.now() + 1500; Date.now() < end; ) {
      mkdirSync(name);
      rmdirSync(name);
      symlinkSync(target, name);
      unlinkSync(name);
    }
    // Each of them may be gone before it is looked at; this one stays.
    symlinkSync(target, name);`;
  await promisify(execFile)(process.execPath, ["-e", swapping, join(worktree, "swap"), outside]);
  await until(() => log.some((line) => line.includes("swap")));
  await sleep(100);
  expect(log.filter((line) => line.includes("trap"))).toEqual([]);
});

test("a worktree moved away is said to be gone, and watched again when it is back", async () => {
  const { worktree, log, expectState } = await watching();
  renameSync(worktree, `${worktree}-away`);
  await until(() => log.length === 1);
  expect(log).toEqual(["the worktree is gone or replaced: nothing is watched until it is back"]);
  mkdirSync(worktree);
  symlinkSync("/etc", join(worktree, "out"));
  await expectState("escaping-link out → /etc");
  expect(log.slice(1)).toEqual(["+ escaping-link out → /etc", "whole again"]);
});

test("without watches it says so, scans, and still finds", async () => {
  const deaf = (): ChangeSource => ({
    mode: "watch",
    ready: Promise.resolve(),
    close: async () => undefined,
    attach: (node) => (node.name === "far" ? null : () => undefined),
  });
  const { worktree, watcher, log, expectState } = await watching(
    (worktree) => mkdirSync(join(worktree, "far")),
    undefined,
    deaf,
  );
  expect(watcher.status()).toMatchObject({ mode: "scan", folders: 2, watches: 1 });
  expect(log[0]).toMatch(/^1 of 2 folders are scanned every 2 s, not watched: .*max_user_watches/);
  symlinkSync("/etc", join(worktree, "far/out"));
  await expectState("escaping-link far/out → /etc");
});

test("a burst that may have overrun the kernel's queue is told to everyone, once", async () => {
  const burst = createEventBurst(100);
  let told = 0;
  burst.subscribe(() => told++);
  for (let n = 0; n < 49; n++) burst.note();
  expect(told).toBe(0);
  for (let n = 0; n < 100; n++) burst.note();
  expect(told).toBe(1);
  await new Promise((resume) => setImmediate(resume));
  for (let n = 0; n < 49; n++) burst.note();
  expect(told).toBe(1);
});

test("a worktree behind a link is refused", () => {
  const root = scratchFolder();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "link"));
  const none = () => undefined;
  expect(() =>
    watchWorktree({
      worktree: join(root, "link"),
      roots: [root],
      now: () => 0,
      onFound: none,
      onGone: none,
    }),
  ).toThrow(`${root}/link cannot be opened (ELOOP)`);
});
