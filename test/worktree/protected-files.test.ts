/** The daemon's copies of protected files: whatever was put in their place, they come back, and nothing is followed out. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROTECTED_FILE_BYTES_MAX } from "../../daemon/limits.ts";
import type { BytePath } from "../../daemon/worktree/byte-path.ts";
import { ProtectedFiles } from "../../daemon/worktree/protected/protected-files.ts";

let base: string;
let worktree: string;
let files: ProtectedFiles;

const at = (...names: string[]) => join(worktree, ...names);
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const open = () =>
  new ProtectedFiles({ worktree, home: join(base, "home"), extra: ["secrets/*.yaml"], owner });
const asides = () => readdirSync(join(base, "home/aside"));
const seen = (...paths: string[]) => {
  for (const path of paths) files.note(path as BytePath);
};

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "recinto-protected-"));
  worktree = join(base, "w");
  mkdirSync(at("sub"), { recursive: true });
  writeFileSync(at("AGENTS.md"), "be kind\n");
  chmodSync(at("AGENTS.md"), 0o640);
  symlinkSync("AGENTS.md", at("CLAUDE.md"));
  writeFileSync(at("sub/.envrc"), "export A=1\n");
  mkdirSync(at(".vscode"));
  writeFileSync(at(".vscode/tasks.json"), "{}");
  files = open();
  seen("AGENTS.md", "CLAUDE.md", "sub/.envrc", ".vscode");
  files.accept(files.differences());
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Everything as in the beginning. */
function expectWhole(): void {
  expect(readFileSync(at("AGENTS.md"), "utf8")).toBe("be kind\n");
  expect(lstatSync(at("AGENTS.md")).mode & 0o777).toBe(0o640);
  expect(readlinkSync(at("CLAUDE.md"))).toBe("AGENTS.md");
  expect(readFileSync(at("sub/.envrc"), "utf8")).toBe("export A=1\n");
  expect(readFileSync(at(".vscode/tasks.json"), "utf8")).toBe("{}");
  expect(files.differences()).toEqual([]);
}

test("names are known at any depth and in any spelling, others cost nothing", () => {
  const concerns = (path: string) =>
    files.concerns(path as BytePath, path.split("/").at(-1) as BytePath);
  expect(["a/b/agents.MD", "x/.git", ".Vscode", "secrets/a.yaml"].map(concerns)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["a/readme.md", "git", "secrets/a.txt"].map(concerns)).toEqual([false, false, false]);
});

test("touching is no change", () => {
  utimesSync(at("AGENTS.md"), 1, 1);
  writeFileSync(at("AGENTS.md"), "be kind\n");
  expectWhole();
});

describe("a change without approval is put aside and the file put back:", () => {
  const outside = () => join(base, "outside");
  test.each<[string, () => void]>([
    ["another content", () => writeFileSync(at("AGENTS.md"), "be evil\n")],
    ["another mode", () => chmodSync(at("AGENTS.md"), 0o777)],
    ["removed", () => rmSync(at("AGENTS.md"))],
    [
      "a folder in its place, full",
      () => {
        rmSync(at("AGENTS.md"));
        mkdirSync(at("AGENTS.md/deep/er"), { recursive: true });
        writeFileSync(at("AGENTS.md/deep/er/x"), "x");
      },
    ],
    [
      "a link out in its place",
      () => {
        writeFileSync(outside(), "secret\n");
        rmSync(at("AGENTS.md"));
        symlinkSync(outside(), at("AGENTS.md"));
      },
    ],
    [
      "a link that leads elsewhere",
      () => {
        rmSync(at("CLAUDE.md"));
        symlinkSync("evil.md", at("CLAUDE.md"));
      },
    ],
    [
      "a huge file",
      () => writeFileSync(at("AGENTS.md"), Buffer.alloc(PROTECTED_FILE_BYTES_MAX * 3)),
    ],
    ["its folder removed", () => rmSync(at("sub"), { recursive: true })],
    ["its folder renamed", () => renameSync(at("sub"), at("bus"))],
    [
      "its folder a link out",
      () => {
        mkdirSync(outside());
        rmSync(at("sub"), { recursive: true });
        symlinkSync(outside(), at("sub"));
      },
    ],
    [
      "its folder a file",
      () => {
        rmSync(at("sub"), { recursive: true });
        writeFileSync(at("sub"), "x");
      },
    ],
    ["all of it at once", () => rmSync(worktree, { recursive: true })],
  ])("%s", (name, change) => {
    change();
    if (!existsSync(worktree)) mkdirSync(worktree);
    const differences = files.differences();
    expect(differences.length).toBeGreaterThan(0);
    const restored = files.restore(differences);
    expect(restored.every((each) => each.restored)).toBe(true);
    expectWhole();
    // Nothing was written through a link.
    if (name.includes("link out") && lstatSync(outside()).isFile()) {
      expect(readFileSync(outside(), "utf8")).toBe("secret\n");
    } else if (name.includes("link out")) expect(readdirSync(outside())).toEqual([]);
  });

  test("and the change is kept", () => {
    writeFileSync(at("AGENTS.md"), "be evil\n");
    const [restored] = files.restore(files.differences());
    expect(restored).toEqual({
      path: "AGENTS.md",
      change: "changed",
      aside: asides()[0],
      restored: true,
    });
    expect(readFileSync(join(base, "home/aside", asides()[0] ?? ""), "utf8")).toBe("be evil\n");
  });
});

test("new ones are put aside, a repository made in a folder among them", () => {
  mkdirSync(at("lib/.git/hooks"), { recursive: true });
  writeFileSync(at("lib/.git/config"), "[core]\n\tfsmonitor = evil\n");
  writeFileSync(at("lib/.git/hooks/post-checkout"), "evil");
  writeFileSync(at("lib/.git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(at("lib/AGENTS.md"), "be evil\n");
  seen("lib/.git", "lib/AGENTS.md");
  const restored = files.restore(files.differences());
  expect(restored.map(({ path, change }) => `${change} ${path}`).sort()).toEqual([
    "new lib/.git/config",
    "new lib/.git/hooks/post-checkout",
    "new lib/AGENTS.md",
  ]);
  expect(existsSync(at("lib/.git/config"))).toBe(false);
  expectWhole();
});

test("the owner's own repository at the top is left alone; one that appears there is not", () => {
  mkdirSync(at(".git"));
  writeFileSync(at(".git/config"), "[core]\n\tfsmonitor = evil\n");
  seen(".git");
  expect(files.differences().map(({ path }) => path)).toEqual([".git/config"]);

  const own = new ProtectedFiles({ worktree, home: join(base, "other"), extra: [], owner });
  own.note(".git" as BytePath);
  own.accept(own.differences());
  writeFileSync(at(".git/config"), "[user]\n");
  expect(own.differences()).toEqual([]);
});

test("what was accepted holds, also for the next daemon", () => {
  writeFileSync(at("AGENTS.md"), "be kinder\n");
  files.accept(files.differences());
  files = open();
  expect([files.known, files.differences()]).toEqual([true, []]);
  rmSync(at("AGENTS.md"));
  files.restore(files.differences());
  expect(readFileSync(at("AGENTS.md"), "utf8")).toBe("be kinder\n");
});

test("while another program swaps it all the time, nothing outside is written, and in the end it is whole", async () => {
  const outside = join(base, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "AGENTS.md"), "theirs\n");
  writeFileSync(join(outside, ".envrc"), "theirs\n");
  const script = `
    cd ${worktree}
    while :; do
      rm -rf AGENTS.md; ln -s ${outside}/AGENTS.md AGENTS.md
      rm -rf sub; ln -s ${outside} sub
      rm -rf AGENTS.md; mkdir -p AGENTS.md/x
      rm -rf sub; mkdir -p sub; ln -sf ${outside}/.envrc sub/.envrc
      rm -rf AGENTS.md; echo evil > AGENTS.md
      for f in .recinto-*; do [ -e "$f" ] && { rm -f "$f"; ln -s ${outside}/AGENTS.md "$f"; }; done
    done 2>/dev/null`;
  const swapper = spawn("bash", ["-c", script], { stdio: "ignore", detached: true });
  const until = Date.now() + 2_000;
  let rounds = 0;
  while (Date.now() < until) {
    files.restore(files.differences());
    rounds += 1;
    await new Promise((resume) => setImmediate(resume));
  }
  // What it started goes with it.
  process.kill(-(swapper.pid ?? 0), "SIGKILL");
  await once(swapper, "close");
  await new Promise((resume) => setTimeout(resume, 100));
  expect(rounds).toBeGreaterThan(5);
  expect(readdirSync(outside).sort()).toEqual([".envrc", "AGENTS.md"]);
  expect(readFileSync(join(outside, "AGENTS.md"), "utf8")).toBe("theirs\n");
  expect(readFileSync(join(outside, ".envrc"), "utf8")).toBe("theirs\n");
  files.restore(files.differences());
  expectWhole();
});

test("a file too long to keep is told as changed and as not put back", () => {
  writeFileSync(at("AGENTS.md"), Buffer.alloc(PROTECTED_FILE_BYTES_MAX + 1));
  files.accept(files.differences());
  writeFileSync(at("AGENTS.md"), "short");
  expect(files.restore(files.differences())).toMatchObject([{ restored: false }]);
});
