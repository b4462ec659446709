/** Safety patterns: git operations that lose work, rewrite what others have, or make git run something. */
import { gitCall, refspec } from "./git-call.ts";
import type { SafetyPattern } from "./safety.ts";
import { type Argv, long, operands, short } from "./view.ts";

/** A pattern about some sub-commands of git. */
function git(
  subs: readonly string[],
  test: (argv: Argv) => boolean,
): Pick<SafetyPattern, "verbs" | "test"> {
  return {
    verbs: ["git"],
    test: (argv) => {
      const call = gitCall(argv);
      return call !== null && call.sub !== null && subs.includes(call.sub) && test(call.argv);
    },
  };
}

const first = (argv: Argv): string | null | undefined => operands(argv)[0];

/** Settings by which git runs a program, or looks elsewhere for its repository and helpers. */
const RUNNING_SETTING =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor|askpass|gitproxy|attributesfile|worktree|alternaterefscommand|bare)|alias\..*|pager\..*|(?:filter|diff|merge|mergetool|difftool|browser|man|guitool|trailer)\..*|diff\.external|interactive\.difffilter|credential\..*|sequence\.editor|gpg\..*|include\.path|includeif\..*|url\..*|protocol\..*|uploadpack\..*|receive\..*|remote\..*|submodule\..*|init\.templatedir|safe\..*|http\..*|uploadarchive\..*|sendemail\..*|extensions\..*|commit\.gpgsign|tag\.gpgsign|user\.signingkey|ssh\..*|instaweb\..*|web\.browser|help\.browser|rebase\.instructionformat|color\.pager|blame\..*|log\.showsignature)$/i;

export const GIT_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "git-force-push",
    reason: "overwrites what others may have on the remote",
    ...git(
      ["push", "send-pack", "http-push"],
      (argv) =>
        short(argv, "f") ||
        long(argv, "--force", "--force-with-lease", "--force-if-includes", "--mirror") ||
        operands(argv)
          .slice(1)
          .some((word) => word !== null && refspec(word).force),
    ),
    match: [
      "git push --force origin main",
      "git push -f",
      "git push origin +main",
      "git push origin +HEAD:x",
      "git push --force-with-lease",
      "git push --mirror",
      "git -c x.y=z push -uf origin x",
    ],
    not_match: ["git push origin main", "git push -u origin x", "git log --grep=push"],
  },
  {
    id: "git-delete-remote",
    reason: "deletes branches or tags on the remote",
    ...git(
      ["push"],
      (argv) =>
        short(argv, "d") ||
        long(argv, "--delete", "--prune") ||
        operands(argv)
          .slice(1)
          .some((word) => word !== null && refspec(word).source === ""),
    ),
    match: [
      "git push origin --delete x",
      "git push origin :x",
      "git push -d origin x",
      "git push origin +:x",
    ],
    not_match: ["git push origin x", "git push origin HEAD:x"],
  },
  {
    id: "git-reset-hard",
    reason: "discards uncommitted work",
    ...git(["reset"], (argv) => long(argv, "--hard", "--merge", "--keep")),
    match: [
      "git reset --hard HEAD~1",
      "git reset --har",
      "git-reset --hard",
      "git -C . reset -q --hard",
      "git reset --keep x",
    ],
    not_match: ["git reset HEAD a.txt", "git reset --soft HEAD~1"],
  },
  {
    id: "git-clean",
    reason: "deletes files that git does not know",
    ...git(
      ["clean"],
      (argv) => !((short(argv, "n") || long(argv, "--dry-run")) && !short(argv, "f")),
    ),
    match: ["git clean -fd", "git clean -xdf", "git clean --force", "git clean -f -n", "git clean"],
    not_match: ["git clean -n", "git clean -nd"],
  },
  {
    id: "git-delete-branch",
    reason: "deletes a branch, and with it commits that nothing else holds",
    ...git(["branch"], (argv) => short(argv, "D") || long(argv, "--delete") || short(argv, "d")),
    match: [
      "git branch -D feature",
      "git branch --delete --force x",
      "git branch -d x",
      "git branch -Dr origin/x",
    ],
    not_match: ["git branch", "git branch -a", "git branch --list 'D*'"],
  },
  {
    id: "git-force-branch",
    reason: "moves a branch, and loses commits that only it held",
    verbs: ["git"],
    test: (argv) => {
      const call = gitCall(argv);
      if (call === null) return false;
      if (call.sub === "branch") {
        return short(call.argv, "fMC") || long(call.argv, "--force");
      }
      if (call.sub === "checkout") return short(call.argv, "B");
      return call.sub === "switch" && (short(call.argv, "C") || long(call.argv, "--force-create"));
    },
    match: ["git branch -f main x", "git branch -M a b", "git checkout -B main", "git switch -C x"],
    not_match: ["git branch -m a b", "git checkout -b x", "git switch -c x"],
  },
  {
    id: "git-drop-stash",
    reason: "drops work that was put aside",
    ...git(["stash"], (argv) => ["drop", "clear"].includes(first(argv) ?? "")),
    match: ["git stash drop", "git stash clear", "git stash drop stash@{1}"],
    not_match: ["git stash list", "git stash push", "git stash pop"],
  },
  {
    id: "git-discard",
    reason: "overwrites files of the worktree with what git holds",
    verbs: ["git"],
    test: (argv) => {
      const call = gitCall(argv);
      if (call === null) return false;
      const words = call.argv;
      if (call.sub === "restore") {
        const staged = short(words, "S") || long(words, "--staged");
        return !staged || short(words, "W") || long(words, "--worktree");
      }
      if (call.sub === "checkout") {
        return (
          words.includes("--") ||
          short(words, "f") ||
          long(
            words,
            "--force",
            "--ours",
            "--theirs",
            "--pathspec-from-file",
            "--overwrite-ignore",
          ) ||
          operands(words).some(
            (word) => word !== null && /^(?:\.|\.\/.*|\.\.(?:\/.*)?|:\/.*|.*\*.*)$/.test(word),
          ) ||
          (operands(words).length > 1 && !short(words, "bB") && !long(words, "--orphan", "--track"))
        );
      }
      if (call.sub === "switch")
        return short(words, "f") || long(words, "--force", "--discard-changes");
      return call.sub === "checkout-index" && (short(words, "f") || long(words, "--force"));
    },
    match: [
      "git checkout -- .",
      "git checkout .",
      "git checkout HEAD~1 src/a.ts",
      "git restore .",
      "git restore --staged --worktree a",
      "git checkout -f main",
      "git switch --discard-changes x",
    ],
    not_match: [
      "git restore --staged a.txt",
      "git checkout -b x",
      "git checkout x",
      "git switch x",
      "git checkout -b x origin/y",
    ],
  },
  {
    id: "git-rewrite-history",
    reason: "rewrites history, or destroys what would undo it",
    verbs: ["git", "git-filter-repo", "bfg"],
    test: (argv) => {
      const call = gitCall(argv);
      if (call === null) return argv[0] === "bfg";
      const words = call.argv;
      switch (call.sub) {
        case "filter-branch":
        case "filter-repo":
        case "replace":
        case "fast-import":
        case "prune":
        case "prune-packed":
          return true;
        case "reflog":
          return ["expire", "delete", "drop"].includes(first(words) ?? "");
        case "gc":
          return long(words, "--prune", "--aggressive") || words.includes("--prune=now");
        case "update-ref":
        case "symbolic-ref":
          return short(words, "d") || long(words, "--delete", "--stdin");
        default:
          return false;
      }
    },
    match: [
      "git filter-branch --all",
      "git reflog expire --expire=now --all",
      "git gc --prune=now",
      "git update-ref -d refs/heads/x",
      "git filter-repo --path x",
    ],
    not_match: ["git reflog", "git gc --auto", "git log"],
  },
  {
    id: "git-remove-worktree",
    reason: "removes or moves a worktree, which may be another agent's",
    ...git(["worktree"], (argv) =>
      ["remove", "prune", "move", "repair", "lock", "unlock"].includes(first(argv) ?? ""),
    ),
    match: ["git worktree remove --force ../a2", "git worktree prune", "git worktree move a b"],
    not_match: ["git worktree list"],
  },
  {
    id: "git-rm-recursive",
    reason: "deletes whole folders from the worktree",
    ...git(
      ["rm"],
      (argv) =>
        (short(argv, "r") && !long(argv, "--cached")) ||
        operands(argv).some((w) => w === "." || w === "*"),
    ),
    match: ["git rm -r src", "git rm -rf .", "git rm ."],
    not_match: ["git rm a.txt", "git rm -r --cached node_modules"],
  },
  {
    id: "git-config-runs",
    reason: "changes a git setting that makes git run programs or look elsewhere",
    verbs: ["git"],
    test: (argv) => {
      const call = gitCall(argv);
      if (call === null) return false;
      if (
        call.settings.some(
          (word) => word === null || RUNNING_SETTING.test(word.split("=", 1)[0] ?? ""),
        )
      ) {
        return true;
      }
      if (call.sub !== "config") return false;
      const words = call.argv;
      if (
        long(words, "--get", "--get-all", "--get-regexp", "--list", "--get-urlmatch") ||
        short(words, "l")
      )
        return false;
      if (["get", "list"].includes(first(words) ?? "")) return false;
      return (
        long(words, "--edit", "--remove-section", "--rename-section") ||
        short(words, "e") ||
        (operands(words).length > 1 &&
          operands(words).some((word) => word !== null && RUNNING_SETTING.test(word)))
      );
    },
    match: [
      "git config core.hooksPath ./hooks",
      "git config --global alias.st '!sh'",
      "git -c core.fsmonitor=./x status",
      "git config set core.pager ./x",
      "git -c alias.x='!id' x",
    ],
    not_match: [
      "git config --get core.hooksPath",
      "git config user.name x",
      "git config --list",
      "git -c color.ui=false log",
    ],
  },
  {
    id: "git-redirect-remote",
    reason: "changes where pushes and fetches go",
    ...git(["remote"], (argv) =>
      ["set-url", "rename", "remove", "rm", "set-head", "set-branches", "add", "prune"].includes(
        first(argv) ?? "",
      ),
    ),
    match: [
      "git remote set-url origin https://x.invalid",
      "git remote remove origin",
      "git remote add evil https://x.invalid/r.git",
    ],
    not_match: ["git remote -v", "git remote show origin", "git remote get-url origin"],
  },
];
