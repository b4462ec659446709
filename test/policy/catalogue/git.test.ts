/** git: what reads passes, what changes is a git-write, what runs programs or throws work away lifts (B4, B5). */

import { describe, expect, it } from "vitest";
import { catalogue } from "../../../daemon/policy/catalogue/registry.ts";
import { told } from "./told.ts";

const READ = ["read cwd tree"];
const WRITE = ["git-write cwd tree"];

describe("git", () => {
  it.each(catalogue.get("git")?.examples ?? [])("%s only reads", (line) => {
    const [first, ...rest] = told(line).filter((each) => !each.startsWith("read"));
    expect([first, rest]).toEqual([undefined, []]);
  });

  it.each<[string, string[]]>([
    ["git log --oneline -20", READ],
    ["git log -S foo --since='2 weeks ago' -- src", READ],
    ["git diff HEAD~1 -- src/index.ts", ["read HEAD~1", "read src/index.ts", ...READ]],
    ["git diff --no-index a /etc", ["read a tree", "read /etc tree", ...READ]],
    ["git diff -O/etc/passwd", ["read /etc/passwd", ...READ]],
    ["git diff --stat=80", READ],
    ["git -C /p2 log", ["read /p2 tree", "read /p2 tree"]],
    ["git -C src diff a.ts", ["read src tree", "read src/a.ts", "read src tree"]],
    ["git grep -n -e foo -- src", ["read src tree", ...READ]],
    ["git grep --no-index foo /etc", ["read /etc tree", ...READ]],
    ["git grep -f /etc/passwd", ["read /etc/passwd", ...READ]],
    [
      "git blame --ignore-revs-file=/etc/passwd README.md",
      ["read /etc/passwd", "read README.md", ...READ],
    ],
    ["git ls-files -X /etc/passwd", ["read /etc/passwd", ...READ]],
    ["git branch --contains abc", READ],
    ["git branch -vv", READ],
    ["git branch --list 'x*'", READ],
    ["git branch newname", [...READ, ...WRITE]],
    ["git branch -v newname", [...READ, ...WRITE]],
    ["git branch -m old new", [...READ, ...WRITE]],
    ["git branch -d old", [...READ, ...WRITE]],
    ["git tag v1", [...READ, ...WRITE]],
    ["git tag -d v1", [...READ, ...WRITE]],
    ["git tag -n3", READ],
    ["git remote show", READ],
    ["git remote show origin", [...READ, "network"]],
    ["git remote get-url origin", READ],
    ["git config user.name", READ],
    ["git config get user.name", READ],
    ["git config -f /etc/x -l", ["read /etc/x", ...READ]],
    ["git stash show -p", READ],
    ["git reflog show main", READ],
    ["git archive HEAD", READ],
    ["git archive -o x.tar HEAD", ["write x.tar", ...READ]],
    ["git apply --stat x.patch", ["read x.patch", ...READ]],
    ["git submodule status", READ],
    ["git symbolic-ref --short HEAD", READ],
    ["git --version", ["read"]],
  ])("%s reads what it names", (line, lines) => {
    expect(told(line)).toEqual(lines);
  });

  it.each<[string, string[]]>([
    ["git add -A", WRITE],
    ["git add src docs", ["read src tree", "read docs tree", ...WRITE]],
    ["git commit -m 'x'", WRITE],
    ["git commit -am 'x'", WRITE],
    ["git commit -F /etc/passwd", ["read /etc/passwd", ...WRITE]],
    ["git stash", WRITE],
    ["git stash -u -m wip", WRITE],
    ["git stash push -m wip -- src", ["read src", ...WRITE]],
    ["git stash pop", WRITE],
    ["git checkout -b feature/x", WRITE],
    ["git checkout -b feature/x origin/main", WRITE],
    ["git checkout feature/main-1768153014929-p5mu", WRITE],
    ["git checkout task#011", WRITE],
    ["git checkout -", WRITE],
    ["git switch -c x", WRITE],
    ["git restore --staged src/a.ts", ["read src/a.ts", ...WRITE]],
    ["git reset --soft HEAD~1", WRITE],
    ["git mv a b", ["write a", "write b", ...WRITE]],
    ["git rm --cached -r a", ["write a", ...WRITE]],
    ["git merge --abort", WRITE],
    ["git merge -s ours x", WRITE],
    ["git cherry-pick --continue -m 'Move'", WRITE],
    ["git rebase main", WRITE],
    ["git apply x.patch", ["read x.patch", "write cwd tree"]],
  ])("%s is a local change", (line, lines) => {
    expect(told(line)).toEqual(lines);
  });

  it.each<[string, string]>([
    ["git push origin main", "network"],
    ["git fetch", "network"],
    ["git pull --rebase", "network"],
    ["git clone https://x.invalid/r.git", "network"],
    ["git ls-remote --heads origin", "network"],
    ["git remote update", "network"],
    ["git submodule update --init", "network"],
  ])("%s reaches another repository", (line, use) => {
    expect(told(line)).toContain(`${use} cwd tree`);
  });

  it.each([
    "git -c core.fsmonitor=./x status",
    "git -ccore.fsmonitor=./x status",
    "git --config-env=core.pager=X log",
    "git --exec-path=./x status",
    "git -p log",
    "git --paginate log",
    "git --git-dir=/p2/.git log",
    "git --git-dir /p2/.git log",
    "git --work-tree=/ status",
    "git --bare log",
    "git show --textconv HEAD:x",
    "git show --ext-diff",
    "git show --ext-di",
    "git log --textc",
    "git grep -O./x foo",
    "git grep -nO./x foo",
    "git grep foo -O",
    "git grep --open-files-in-pager=./x foo",
    "git grep --open-f foo",
    "git grep --textconv foo",
    "git cat-file --textconv HEAD:x",
    "git cat-file --filters HEAD:x",
    "git log --show-signature",
    "git log --format=%G?",
    "git log --pretty=format:%h%GS",
    "git log --format=<?>",
    "git for-each-ref --format='%(signature)'",
    "git ls-remote --upload-pack=./x .",
    "git fetch --upload-pack ./x .",
    "git push --receive-pack=./x .",
    "git clone -u ./x .",
    "git clone -c core.fsmonitor=x .",
    "git archive --remote=. --exec=./x HEAD",
    "git archive --format=tar.gz HEAD",
    "git branch -D feature",
    "git branch -f x",
    "git branch --force x",
    "git branch -M a b",
    "git branch --edit-description",
    "git tag -v v1",
    "git tag -s v1",
    "git stash clear",
    "git stash drop",
    "git stash -p",
    "git config core.hooksPath ./hooks",
    "git config set a.b c",
    "git config --unset user.name",
    "git config --add a.b c",
    "git config -e",
    "git config edit",
    "git st",
    "git remote add evil https://x.invalid/r.git",
    "git remote set-url origin x",
    "git reset --hard HEAD~1",
    "git reset --har",
    "git checkout -- .",
    "git checkout .",
    "git checkout -- feature-x",
    "git checkout -f main",
    "git checkout main -- a",
    "git checkout README.md",
    "git checkout src",
    "git checkout src/index.ts",
    "git checkout -B main",
    "git checkout -p",
    "git switch -C main",
    "git switch --discard-changes x",
    "git restore .",
    "git restore --staged --worktree .",
    "git restore -SW .",
    "git clean -fd",
    "git clean -xdf src",
    "git rm -r src",
    "git rm -f a",
    "git mv -f a b",
    "git worktree add /tmp/w",
    "git worktree remove --force ../a2",
    "git bisect run ./x",
    "git difftool -x ./x",
    "git rebase -x ./x main",
    "git rebase -i main",
    "git rebase --exec=./x main",
    "git merge -s evil x",
    "git merge --strategy=./evil x",
    "git commit -S -m x",
    "git commit -p",
    "git filter-branch --tree-filter x",
    "git submodule foreach ./x",
    "git update-ref refs/heads/main HEAD",
    "git symbolic-ref HEAD refs/heads/x",
    "git gc --prune=now",
    "git apply --unsafe-paths x",
    "git notes add -m x",
    "git daemon",
    "git instaweb",
    "git log <?>",
    "git <?>",
  ])("%s lifts", (line) => {
    expect(told(line).filter((each) => each.startsWith("lift")).length).toBeGreaterThan(0);
  });

  it("an option that writes is a write", () => {
    expect(told("git log --output=x")).toContain("write x");
    expect(told("git diff --outp /tmp/x")).toContain("write /tmp/x");
  });
});
