/** For an ask or a deny: one sentence that says what would pass without asking (issue 3, item 10). */
import type { EvaluateInput, SegmentVerdict } from "./types.ts";

const BY_RULE: Readonly<Record<string, string>> = {
  "ceiling/push": "commit on your own branch; a person pushes to protected branches",
  "ceiling/merge": "commit on your own branch; a person merges",
  "ceiling/commit": "make a branch first (git switch -c NAME) and commit there",
  "ceiling/branch": "work on your own branch; a person moves protected ones",
  "ceiling/protected-file": "write your proposal into another file and say what should change",
  "safety/recursive-delete": "delete named files with rm -f, or leave the folder and say so",
  "safety/mass-delete": "name the files to delete one by one",
  "safety/delete-everything": "name the files to delete one by one",
  "safety/find-delete": "list with find, then delete named files with rm -f",
  "safety/find-exec-delete": "list with find, then delete named files with rm -f",
  "safety/privilege": "run it without the rights of another user",
  "safety/git-force-push": "commit on top instead; a person rewrites what is pushed",
  "safety/git-reset-hard": "put work aside with git stash push, or git restore --staged to unstage",
  "safety/git-discard": "put work aside with git stash push",
  "safety/git-clean": "list with git clean -n, then delete named files with rm -f",
  "safety/pipe-to-shell": "write the commands themselves, so that each can be judged",
  "safety/decoded-code": "write the code in clear",
  "safety/remote-code": "ask for a grant on the host, save the file, and read it before it runs",
  "safety/kill-by-name": "kill the process by its number, with kill PID",
  "safety/kill-hard": "kill it with kill PID and let it end",
  "scope/unknown-path": "write the path out, without variables or substitutions",
  "scope/unknown-cwd": "write the folder out, and join with && after cd",
  "scope/outside-read": "read inside the project, or ask for the file to be copied in",
  "scope/outside-write": "write inside your worktree",
  "scope/cwd": "work inside the project",
  "scope/leaving-link": "use the file itself rather than the link",
  "scope/follows-links": "use the form that does not follow links (grep -r, find without -L)",
  "profile/network": "ask for a grant on the host; nothing in the sandbox reaches the network",
  "profile/install": "ask for a grant on the package registry, with an end",
  "profile/engine": "there is no container engine in the sandbox; read the files that describe it",
  "profile/write": "show the change as a diff, or ask for a grant to write",
  "profile/run": "run a declared build or test verb (npm test, make, pytest)",
  "profile/build": "read the code; this profile does not build",
  "profile/git-write": "git status, diff and log pass; leave the commit to the person",
  "profile/scratch": "read and write inside your worktree",
  "catalogue/unknown":
    "use a verb of the catalogue, or have the project name this one in its profile",
  "catalogue/lift": "leave the option out, or use the plain reading form",
};

const BY_RUNG: Readonly<Partial<Record<SegmentVerdict["rung"], string>>> = {
  understand: "write it as plain commands, one after another, with names spelled out",
  "absolute-deny": "leave it; no approval can lift this",
  "stale-authority": "request the grant again",
  safety: "find a way that undoes nothing, or say why it is needed and wait for the answer",
  rule: "see the rule's own words for what is meant",
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
export function insteadOf(segment: SegmentVerdict, input: EvaluateInput): string | undefined {
  if (segment.form === "git push" && segment.rung !== "absolute-deny") {
    return "commit locally; a person pushes";
  }
  if (segment.rung === "denials") return afterRefusals(segment.rule);
  const said = BY_RULE[segment.rule] ?? BY_RUNG[segment.rung];
  if (segment.rule === "profile/run" && input.settings.standing.build !== "allow") {
    return BY_RULE["profile/build"];
  }
  return said;
}
