/** The life of a sandbox: one for each worktree, reused, idle, made anew, found again. */
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type SandboxEvent, Sandboxes } from "../../daemon/sandbox/sandboxes.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import type { Profile } from "../../daemon/settings/types.ts";
import { FakeEngine, IMAGE_ID } from "./fake-engine.ts";

const asRoot = process.getuid?.() === 0;
const base = realpathSync(mkdtempSync(join(tmpdir(), "recinto-sandboxes-")));
afterAll(() => rmSync(base, { recursive: true }));
const profile: Profile = { ...loadProfile("dev", [SHIPPED_PROFILES_DIR]), image: IMAGE_ID };
const project = { id: "shop", root: base, worktrees: "*" };

let engine: FakeEngine;
let timers: { ms: number; run: () => void }[];
let events: string[];

/** A daemon's process: what it remembers ends with it. */
function daemon(): Sandboxes {
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  };
  const onEvent = (event: SandboxEvent, { id }: { id: string }) => events.push(`${event} ${id}`);
  return new Sandboxes({ engine, owner: "test", imagesDir: "/none", clock: { after }, onEvent });
}

function worktree(name: string): string {
  const path = join(base, name);
  mkdirSync(path, { recursive: true });
  if (asRoot) chownSync(path, 1234, 1234);
  return path;
}

beforeEach(() => {
  engine = new FakeEngine();
  timers = [];
  events = [];
});

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const command = { command: "true", cwd: "/", stdin: false };

describe("one sandbox for each worktree", () => {
  test("is made on first use and reused", async () => {
    const sandboxes = daemon();
    const first = await sandboxes.ensure(project, profile, worktree("a"));
    expect(engine.changes()).toEqual(["create", "start s1"]);
    const second = await sandboxes.ensure(project, profile, worktree("a"));
    expect([engine.changes(), second.id]).toEqual([[], first.id]);
    expect(events).toEqual(["created s1", "started s1"]);
  });

  test("callers at the same moment get the same one", async () => {
    const sandboxes = daemon();
    const calls = Array.from({ length: 20 }, () =>
      sandboxes.ensure(project, profile, worktree("a")),
    );
    const ids = (await Promise.all(calls)).map(({ id }) => id);
    expect([new Set(ids).size, engine.changes()]).toEqual([1, ["create", "start s1"]]);
  });

  test("another worktree, and the same one in another project, get their own (D2)", async () => {
    const sandboxes = daemon();
    const handles = await Promise.all([
      sandboxes.ensure(project, profile, worktree("a")),
      sandboxes.ensure(project, profile, worktree("b")),
      sandboxes.ensure({ ...project, id: "other" }, profile, worktree("a")),
    ]);
    expect(new Set(handles.map(({ id }) => id)).size).toBe(3);
  });

  test("is started again when it was stopped, and made again when it is gone", async () => {
    const sandboxes = daemon();
    await sandboxes.ensure(project, profile, worktree("a"));
    await sandboxes.stop({ project: "shop", worktree: worktree("a") });
    await sandboxes.ensure(project, profile, worktree("a"));
    engine.sandboxes.clear();
    await sandboxes.ensure(project, profile, worktree("a"));
    expect(engine.changes()).toEqual([
      "create",
      "start s1",
      "stop s1",
      "start s1",
      "create",
      "start s2",
    ]);
  });

  test("one failure does not block the next call", async () => {
    const sandboxes = daemon();
    engine.away = true;
    await expect(sandboxes.ensure(project, profile, worktree("a"))).rejects.toMatchObject({
      code: "engine-unreachable",
    });
    engine.away = false;
    await sandboxes.ensure(project, profile, worktree("a"));
    expect(engine.changes()).toEqual(["create", "start s1"]);
  });
});

describe("a changed profile", () => {
  const tighter = { ...profile, limits: { ...profile.limits, pids: 17 } };

  test("makes it anew", async () => {
    const sandboxes = daemon();
    await sandboxes.ensure(project, profile, worktree("a"));
    const handle = await sandboxes.ensure(project, tighter, worktree("a"));
    expect(engine.changes()).toEqual(["create", "start s1", "remove s1", "create", "start s2"]);
    expect(handle.spec.limits.pids).toBe(17);
  });

  test("never runs a new command in the old one, nor ends the commands in it", async () => {
    const sandboxes = daemon();
    const handle = await sandboxes.ensure(project, profile, worktree("a"));
    await handle.exec(command);
    await expect(sandboxes.ensure(project, tighter, worktree("a"))).rejects.toMatchObject({
      code: "busy",
    });
    engine.execs[0]?.end({ exitCode: 0, oomKilled: false });
    await settled();
    expect((await sandboxes.ensure(project, tighter, worktree("a"))).id).toBe("s2");
  });
});

describe("an idle sandbox", () => {
  test("is stopped after the profile's time, and not while a command runs", async () => {
    const sandboxes = daemon();
    const handle = await sandboxes.ensure(project, profile, worktree("a"));
    expect(timers.map(({ ms }) => ms)).toEqual([profile.limits.idleStopMs]);
    await handle.exec(command);
    expect(timers).toEqual([]);
    engine.execs[0]?.end({ exitCode: 0, oomKilled: false });
    await settled();
    expect(timers).toHaveLength(1);
    timers[0]?.run();
    await settled();
    expect(engine.changes()).toEqual(["create", "start s1", "exec s1", "stop s1"]);
  });

  test("that is used in the moment its time is over goes on", async () => {
    const sandboxes = daemon();
    const handle = await sandboxes.ensure(project, profile, worktree("a"));
    const [timer] = timers;
    await handle.exec(command);
    timer?.run();
    await settled();
    expect(engine.changes()).not.toContain("stop s1");
  });
});

describe("after a restart of the daemon", () => {
  test("the sandbox is found by its labels, and what ran in it is ended", async () => {
    await daemon().ensure(project, profile, worktree("a"));
    engine.changes();
    const next = daemon();
    expect((await next.adopt()).map(({ id, worktree: path }) => [id, path])).toEqual([
      ["s1", worktree("a")],
    ]);
    expect((await next.ensure(project, profile, worktree("a"))).id).toBe("s1");
    expect(engine.changes()).toEqual(["stop s1", "start s1"]);
  });

  test("what ran in it is ended on first use too, where nobody called adopt", async () => {
    await daemon().ensure(project, profile, worktree("a"));
    engine.changes();
    await daemon().ensure(project, profile, worktree("a"));
    expect(engine.changes()).toEqual(["stop s1", "start s1"]);
  });

  test("another installation's sandboxes are left alone", async () => {
    await daemon().ensure(project, profile, worktree("a"));
    const clock = { after: () => () => {} };
    const foreign = new Sandboxes({ engine, owner: "else", imagesDir: "/none", clock });
    await foreign.adopt();
    await foreign.stopAll();
    await foreign.removeProject("shop");
    expect(engine.changes()).toEqual(["create", "start s1"]);
  });
});

describe("what is refused", () => {
  test.runIf(asRoot)("a worktree of root", async () => {
    const path = worktree("root");
    chownSync(path, 0, 0);
    await expect(daemon().ensure(project, profile, path)).rejects.toMatchObject({
      code: "worktree-refused",
      message: expect.stringContaining("owned by root"),
    });
    expect(engine.changes()).toEqual([]);
  });

  test("a worktree that was swapped for a link", async () => {
    const path = worktree("swapped");
    await daemon().ensure(project, profile, path);
    renameSync(path, `${path}-old`);
    symlinkSync("/etc", path);
    await expect(daemon().ensure(project, profile, path)).rejects.toThrow("is a symbolic link");
    rmSync(path);
  });

  test("a worktree that is exchanged between look and mount: no command runs in it", async () => {
    engine.identify = async (_, paths) => paths.map(() => "0:0");
    await expect(daemon().ensure(project, profile, worktree("a"))).rejects.toThrow("was exchanged");
    expect(engine.changes()).toEqual(["create", "start s1", "remove s1"]);
  });

  test.each(["debian", "debian:latest", "registry.example/team/app:latest"])(
    "image %s: it moves",
    async (image) => {
      await expect(
        daemon().ensure(project, { ...profile, image }, worktree("a")),
      ).rejects.toMatchObject({
        code: "bad-profile",
        message: `image ${image} means latest, which moves`,
      });
    },
  );

  test("an image that is not there, with the command that makes it", async () => {
    const images = new URL("../../images", import.meta.url).pathname;
    const sandboxes = new Sandboxes({
      engine,
      owner: "t",
      imagesDir: images,
      clock: { after: () => () => {} },
    });
    const built = { ...profile, image: "recinto/base" };
    await expect(sandboxes.ensure(project, built, worktree("a"))).rejects.toMatchObject({
      code: "image-missing",
      hint: "build it with: recinto image build base",
    });
  });

  test("a variable that changes what runs, before anything starts", async () => {
    const handle = await daemon().ensure(project, profile, worktree("a"));
    await expect(handle.exec({ ...command, env: { BASH_ENV: "/tmp/x" } })).rejects.toMatchObject({
      code: "bad-request",
    });
    expect(engine.changes()).toEqual(["create", "start s1"]);
  });
});

test("a command runs as the worktree's owner, in bash, with the sandbox's environment", async () => {
  const handle = await daemon().ensure(project, profile, worktree("a"));
  await handle.exec({ command: "make test", cwd: "/srv", env: { CI: "1" }, stdin: true });
  expect(engine.execs[0]?.spec).toEqual({
    argv: ["/bin/bash", "--norc", "--noprofile", "-c", "make test"],
    cwd: "/srv",
    env: { ...handle.spec.env, CI: "1" },
    user: handle.spec.user,
    stdin: true,
    confinement: null,
    tty: null,
    background: null,
  });
});
