/** git: its own options, and every command of it that the catalogue knows. */

import { RUNS } from "./git-options.ts";
import { reads } from "./git-reading.ts";
import { refs } from "./git-refs.ts";
import { changes } from "./git-writing.ts";
import type { VerbSpec } from "./spec.ts";

export const git: readonly VerbSpec[] = [
  {
    names: ["git"],
    note: "aliases and commands that are not listed ask",
    flags:
      "--no-pager -P --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs " +
      "--icase-pathspecs --no-advice --no-lazy-fetch",
    chdirs: "-C=",
    lifts: {
      "sets its own configuration": "-c= --config-env= --attr-source=",
      "names another repository": "--git-dir= --work-tree= --namespace= --bare --super-prefix=",
      [RUNS]: "--exec-path=? -p --paginate",
    },
    help: "--help --version -v -h --html-path --man-path --info-path --exec-path",
    sub: { ...reads, ...refs, ...changes },
    examples: [
      "git status",
      "git status --short --branch",
      "git diff",
      "git diff HEAD -- src/a.ts",
      "git diff --cached --name-only",
      "git log --oneline -5",
      "git log -p -1 -- src",
      "git --no-pager log -3 --format=%h",
      "git show HEAD --stat",
      "git show HEAD:README.md",
      "git rev-parse --abbrev-ref HEAD",
      "git rev-list --count HEAD",
      "git ls-files",
      "git ls-tree -r HEAD --name-only",
      "git cat-file -p HEAD",
      "git blame -L 1,1 README.md",
      "git grep -n a",
      "git shortlog -sn HEAD",
      "git describe --always",
      "git merge-base HEAD HEAD",
      "git for-each-ref --format='%(refname)'",
      "git show-ref",
      "git reflog",
      "git reflog -3",
      "git branch",
      "git branch -a -v",
      "git branch --show-current",
      "git branch --contains HEAD",
      "git tag",
      "git tag -l 'v*'",
      "git remote -v",
      "git stash list",
      "git worktree list",
      "git config --list",
      "git config --get user.name",
      "git count-objects -v",
      "git check-ignore -v README.md",
      "git var GIT_AUTHOR_IDENT",
      "git -C src status",
    ],
  },
];
