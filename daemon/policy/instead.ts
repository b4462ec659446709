/** For an ask or a deny: one sentence that says what would pass without asking (issue 3, item 10). */
import { BUILTIN_INSTEAD } from "./builtin-rules.ts";
import type { EvaluateInput, SegmentVerdict, Standing } from "./types.ts";

/** Commands in backticks pass without asking under the profile that is asked about; a test holds them to it. */
type Saying = string | ((standing: Standing) => string);

const DELETE: Saying = ({ write }) =>
  write === "allow" ? "name the files: `rm -f NAME` passes" : "say which files should go, and why";
const PUT_ASIDE: Saying = (standing) =>
  standing["git-write"] === "allow"
    ? "`git stash push` puts the work aside and loses nothing"
    : "`git diff` shows what would be lost; say what should be undone";
const OWN_BRANCH: Saying = (standing) =>
  standing["git-write"] === "allow"
    ? "`git switch -c NAME` makes a branch of your own; commit there, a person brings it over"
    : "`git diff` shows the change; a person commits and merges it";
const RUN: Saying = ({ run, build }) =>
  run === "allow" || build === "allow"
    ? "declared builds and tests pass (`npm test`, `pytest`); to look at data use `jq`, `grep` or `sed -n 1,40p FILE`"
    : "read the code instead: this profile neither builds nor runs";
const EXAMPLE_VALUES =
  "do without the secret: work with made-up values, and say which setting you need";
const REMOTE =
  "nothing in the sandbox reaches the network: ask for a grant on the host, with an end";
const PROCESS = "let it end by itself: `timeout 60 npm test` passes";
const DATA = "look with a query that only reads, in a test of the project; a person changes data";
const HOST = "the sandbox has no such thing to change: say what the machine should have";

const BY_RULE: Readonly<Record<string, Saying>> = {
  "ceiling/push": "commit locally; a person pushes",
  "ceiling/merge": OWN_BRANCH,
  "ceiling/commit": OWN_BRANCH,
  "ceiling/branch": OWN_BRANCH,
  "ceiling/protected-file":
    "put your proposal into your answer: a person changes files that instruct agents or run on the host",

  "safety/recursive-delete": DELETE,
  "safety/mass-delete": DELETE,
  "safety/delete-everything": DELETE,
  "safety/find-delete": DELETE,
  "safety/find-exec-delete": DELETE,
  "safety/sync-delete": DELETE,
  "safety/archive-remove": DELETE,
  "safety/empty-file": DELETE,
  "safety/discard-by-move": DELETE,
  "safety/shred": DELETE,
  "safety/git-clean": "`git clean -n` lists what would go",
  "safety/git-rm-recursive": DELETE,
  "safety/git-reset-hard": PUT_ASIDE,
  "safety/git-discard": PUT_ASIDE,
  "safety/git-drop-stash": "leave it: what is put aside harms nobody (`git stash list`)",
  "safety/git-delete-branch": "leave the branch: `git branch --merged` tells a person which may go",
  "safety/git-force-branch": OWN_BRANCH,
  "safety/git-rewrite-history": OWN_BRANCH,
  "safety/git-force-push": "commit on top instead; a person rewrites what is pushed",
  "safety/git-config-runs": "`git config --get KEY` reads it; a person sets what git runs",
  "safety/privilege":
    "run it without the rights of another user; what the image lacks, an admin adds to it",
  "safety/world-writable": "`ls -l` shows the rights; name the one that is missing and for whom",
  "safety/pipe-to-shell": "write the commands themselves, so that each can be judged",
  "safety/decoded-code": "write the code in clear",
  "safety/remote-code": "ask for a grant on the host, save the file, and read it before it runs",
  "safety/kill-by-name": PROCESS,
  "safety/kill-hard": PROCESS,
  "safety/kill-init": PROCESS,
  "safety/ssh-keys": EXAMPLE_VALUES,
  "safety/gpg-keys": EXAMPLE_VALUES,
  "safety/cloud-credentials": EXAMPLE_VALUES,
  "safety/kube-credentials": EXAMPLE_VALUES,
  "safety/tool-credentials": EXAMPLE_VALUES,
  "safety/process-secrets": EXAMPLE_VALUES,
  "safety/system-passwords": EXAMPLE_VALUES,
  "safety/shell-history": EXAMPLE_VALUES,
  "safety/metadata-service": EXAMPLE_VALUES,
  "safety/sql-drop": DATA,
  "safety/sql-truncate": DATA,
  "safety/sql-delete-all": DATA,
  "safety/sql-update-all": DATA,
  "safety/drop-database": DATA,
  "safety/framework-reset": DATA,
  "safety/write-etc": HOST,
  "safety/write-boot": HOST,
  "safety/write-kernel": HOST,
  "safety/write-system": HOST,
  "safety/write-device": HOST,
  "safety/format-device": HOST,
  "safety/services": HOST,
  "safety/power": HOST,
  "safety/firewall": HOST,
  "safety/mount": HOST,
  "safety/kernel-modules": HOST,
  "safety/kernel-settings": HOST,
  "safety/accounts": HOST,
  "safety/upload": REMOTE,
  "safety/listener": "let a test start and call the server itself",
  "safety/raw-socket": REMOTE,

  "scope/unknown-path": "write the path out, without variables or substitutions",
  "scope/unknown-cwd": "write the folder out, and join with && after cd",
  "scope/split-names": "name the files one by one, or with a wildcard",
  "scope/outside-read": "read inside the project, or ask for the file to be copied in",
  "scope/outside-write": "write inside your worktree",
  "scope/cwd": "work inside the project",
  "scope/leaving-link": "use the file itself rather than the link",
  "scope/write-through-link": "name the file itself rather than the link",
  "scope/follows-links":
    "use the form that does not follow links (`grep -r WORD .`, find without -L)",

  "profile/network": REMOTE,
  "profile/install":
    "use what is installed (`ls node_modules`), or ask for a grant on the package registry, with an end",
  "profile/engine":
    "there is no engine, cluster or cloud in the sandbox: read the files that describe it",
  "profile/write": "put the change into your answer as a diff, or ask for a grant to write",
  "profile/run": RUN,
  "profile/build": "read the code; this profile does not build",
  "profile/git-write":
    "`git status`, `git diff` and `git log` pass; leave the commit to the person",
  "profile/scratch": "do it in one pipe, without a file in between",
  "profile/loopback": "let a test start and call the server itself",
  "profile/process": PROCESS,
  "profile/privilege": "run it without changing rights or users",
  "catalogue/unknown":
    "use a verb of the catalogue, or have the project name this one in its profile (verbs:)",
  "catalogue/lift": "leave the option out, or use the plain reading form",
};

/** Forms whose option or sub-command has a plain counterpart worth naming. */
const BY_FORM: Readonly<Record<string, Saying>> = {
  "catalogue/lift tail": "`tail -n 100 FILE` ends by itself",
  "catalogue/lift git config": "`git config --get KEY` reads it",
  "catalogue/lift npx": "`npx tsc` passes: build and test programs that are installed here",
  "catalogue/lift git rebase": OWN_BRANCH,
  "catalogue/lift sed": "`sed -n 1,40p FILE` prints, without writing or running",
  "catalogue/lift sort": "`sort FILE` prints; a redirect says where it goes",
};

const BY_RUNG: Readonly<Partial<Record<SegmentVerdict["rung"], string>>> = {
  understand: "write it as plain commands, one after another, with names spelled out",
  "absolute-deny": "leave it; no approval can lift this",
  "stale-authority": "request the grant again",
  safety: "find a way that undoes nothing, or say why it is needed and wait for the answer",
  rule: "a rule of this project asks here: do without it, or wait for the answer",
};

/** Rewording is in vain, and that is worth saying: the counter knows what is done, not how it is written. */
function afterRefusals(rule: string): string {
  if (rule === "denials/escalated") {
    return "each command waits for a person now; an admin can reset the count (recinto denials reset)";
  }
  if (rule === "denials/frozen") {
    return "remove the link that leaves the project (recinto hazards shows it to an admin)";
  }
  return "every other kind of action goes on as before; do not reword this one, an admin can reset it (recinto denials reset)";
}

/** Undefined when nothing better can be said. */
export function insteadOf(
  { form, rung, rule, verdict }: SegmentVerdict,
  { settings }: EvaluateInput,
): string | undefined {
  if (rung === "denials") return afterRefusals(rule);
  if (form === "git push" && rung !== "absolute-deny") return BY_RULE["ceiling/push"] as string;
  if (rung === "rule") {
    if (verdict === "deny") return "leave it: a rule of this project denies it";
    return BUILTIN_INSTEAD[rule.replace(/\/\d+$/, "")] ?? BY_RUNG.rule;
  }
  const said = BY_FORM[`${rule} ${form}`] ?? BY_RULE[rule] ?? BY_RUNG[rung];
  return typeof said === "function" ? said(settings.standing) : said;
}
