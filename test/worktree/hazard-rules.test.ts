/** What counts as a hazard, decided from facts alone. */
import { expect, test } from "vitest";
import { executingKeys } from "../../daemon/worktree/git-config.ts";
import {
  entryFindings,
  gitPointerFinding,
  linkFinding,
  nestedGitFinding,
} from "../../daemon/worktree/hazard-rules.ts";
import type { Resolution } from "../../daemon/worktree/resolve-path.ts";

const ROOTS = ["/p/shop"];

function leads(path: string, more: Partial<Resolution> = {}): Resolution {
  return { path, found: "yes", links: 1, left: false, ...more };
}

test.each([
  ["into the project", leads("/p/shop/x"), null],
  ["to another root's folder above", leads("/p"), "/p"],
  ["out", leads("/etc", { left: true, found: "unknown" }), "/etc"],
  ["to a folder whose name only begins alike", leads("/p/shop-old", { left: true }), "/p/shop-old"],
  ["nowhere yet, inside", leads("/p/shop/later", { found: "no" }), null],
  ["round in a loop", leads("/p/shop/x", { found: "loop" }), null],
])("a link that leads %s", (_, resolution, resolved) => {
  const finding = linkFinding("text", resolution, ROOTS);
  if (resolved === null) expect(finding).toBeNull();
  else expect(finding).toMatchObject({ kind: "escaping-link", target: "text", resolved });
});

const name = (text: string, utf8 = true) => ({ text, utf8 });

test.each([
  [name("a"), "file", 0o644, []],
  [name("a"), "file", 0o4755, ["setuid"]],
  [name("a"), "file", 0o2755, ["setuid"]],
  // Without the group's x bit the setgid bit means locking, and on a folder it only hands the group down.
  [name("a"), "file", 0o2644, []],
  [name("a"), "folder", 0o2755, []],
  [name("a"), "fifo", 0, ["fifo"]],
  [name("a"), "socket", 0, ["socket"]],
  [name("a"), "device", 0, ["device"]],
  [name("a\nb"), "file", 0o644, ["odd-name"]],
  [name("\x1b[2J"), "fifo", 0, ["odd-name", "fifo"]],
  [name("exe\u202Egpj"), "file", 0o644, ["odd-name"]],
  [name("naïve 名前"), "file", 0o644, []],
  [name("\\xff", false), "file", 0o644, ["odd-name"]],
] as const)("%j as a %s of mode %o", (entry, type, mode, kinds) => {
  expect(entryFindings(entry, type, mode).map(({ kind }) => kind)).toEqual(kinds);
});

test.each([
  ["[core]\n\tfsmonitor = /tmp/x", ["core.fsmonitor"]],
  ["[core]\n\tfsmonitor = true\n\tbare = false", []],
  ["[CORE] hooksPath=evil", ["core.hookspath"]],
  ['[filter "lfs"]\n clean = git-lfs clean -- %f\n required = true', ["filter.lfs.clean"]],
  ["[include]\n path = ../evil", ["include.path"]],
  ['[includeIf "gitdir:/"]\npath = x', ["includeif.gitdir:/.path"]],
  ["[alias]\n st = status\n x = !sh -c evil", ["alias.x"]],
  ['[alias]\n x = "!sh"', ["alias.x"]],
  ["[core]\n ssh\\\nCommand = evil", ["core.sshcommand"]],
  ["[core] # x\n; fsmonitor = no\n\tpager = less", ["core.pager"]],
  ['[submodule "a"]\n update = !evil\n url = x', ["submodule.a.update"]],
  ['[submodule "a"]\n update = rebase', []],
  ["[diff.x]\n textconv = evil", ["diff.x.textconv"]],
  ['[remote "o"]\n url = https://example.org/x\n fetch = +refs/heads/*:refs/remotes/o/*', []],
  ["\uFEFF[core]\r\n\tfsmonitor = x\r\n", ["core.fsmonitor"]],
])("of the config %j, what runs is %j", (text, keys) => {
  expect(executingKeys(text)).toEqual(keys);
});

test("a nested repository is a hazard by config, hooks or a config that cannot be read", () => {
  expect(nestedGitFinding({ configs: ["[core]\nbare = false"], hooks: [] })).toBeNull();
  expect(nestedGitFinding({ configs: ["[core]\nfsmonitor = x"], hooks: ["pre-commit"] })).toEqual({
    kind: "nested-git",
    reason: "git on the host would run what this repository says: core.fsmonitor, hooks pre-commit",
  });
  expect(nestedGitFinding({ configs: [{ unreadable: "config" }], hooks: [] })).not.toBeNull();
});

test("a nested .git file that points out of the project is a hazard", () => {
  expect(gitPointerFinding("../.git/modules/x", leads("/p/shop/.git/modules/x"), ROOTS)).toBeNull();
  expect(gitPointerFinding("/tmp/x", leads("/tmp/x", { left: true }), ROOTS)?.kind).toBe(
    "nested-git",
  );
});
