/** Options that many git commands share: of diffs, of walking the history, of listing refs. */

import type { Draft } from "./draft.ts";
import { type Form, type ParsedForm, textOf } from "./spec.ts";

export const RUNS = "runs a program";
export const SIGNS = "runs a signing program";
export const ASKS_BACK = "waits for answers";
export const DISCARDS = "throws work away";

/** What a diff looks like. `-O` orders by a file, `--output` writes one, `--ext-diff` and `--textconv` run filters. */
export const diff: Form = {
  flags:
    "-p -u --patch -s --no-patch -U= --unified= --raw --patch-with-raw --indent-heuristic --no-indent-heuristic " +
    "--minimal --patience --histogram --anchored= --diff-algorithm= --stat=? --stat-width= --stat-count= " +
    "--stat-name-width= --stat-graph-width= --compact-summary --numstat --shortstat -X=? --dirstat=? --cumulative " +
    "--dirstat-by-file=? --summary --patch-with-stat -z --name-only --name-status --submodule=? --color=? --no-color " +
    "--color-moved=? --no-color-moved --color-moved-ws= --no-color-moved-ws --word-diff=? --word-diff-regex= " +
    "--color-words=? --no-renames --rename-empty --no-rename-empty --check --ws-error-highlight= --full-index --binary " +
    "--abbrev=? --no-abbrev -B=? --break-rewrites=? -M=? --find-renames=? -C=? --find-copies=? --find-copies-harder -D " +
    "--irreversible-delete -l= --diff-filter= -S= -G= --find-object= --pickaxe-all --pickaxe-regex --skip-to= " +
    "--rotate-to= -R --relative=? --no-relative -a --text --ignore-cr-at-eol --ignore-space-at-eol -b " +
    "--ignore-space-change -w --ignore-all-space --ignore-blank-lines -I= --ignore-matching-lines= " +
    "--inter-hunk-context= -W --function-context --exit-code --quiet --no-ext-diff --no-textconv " +
    "--ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix --default-prefix --line-prefix= " +
    "--ita-invisible-in-index --ita-visible-in-index",
  reads: "-O=",
  writes: "--output=",
  lifts: { [RUNS]: "--ext-diff --textconv" },
};

/** Which commits are walked and how they are printed. `--show-signature` runs gpg. */
export const log: Form = {
  flags:
    `${diff.flags} ` +
    "--follow --no-decorate --decorate=? --decorate-refs= --decorate-refs-exclude= --clear-decorations --source " +
    "--mailmap --no-mailmap --use-mailmap --log-size -L= -n= --max-count= --skip= --since= --after= --until= --before= " +
    "--since-as-filter= --author= --committer= --grep-reflog= --grep= --all-match --invert-grep -i " +
    "--regexp-ignore-case --basic-regexp -E --extended-regexp -F --fixed-strings -P --perl-regexp --remove-empty " +
    "--merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents --first-parent " +
    "--exclude-first-parent-only --not --all --branches=? --tags=? --remotes=? --glob= --exclude= --exclude-hidden= " +
    "--reflog --alternate-refs --single-worktree --ignore-missing --stdin --cherry-mark --cherry-pick --left-only " +
    "--right-only --cherry -g --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history " +
    "--dense --sparse --simplify-merges --ancestry-path=? --date-order --author-date-order --topo-order --reverse " +
    "--no-walk=? --do-walk --pretty=? --format= --abbrev-commit --no-abbrev-commit --oneline --encoding= " +
    "--expand-tabs=? --no-expand-tabs --notes=? --no-notes --show-notes=? --standard-notes --no-standard-notes " +
    "--relative-date --date= --parents --children --left-right --graph --no-graph --show-linear-break=? -c --cc " +
    "--diff-merges= --no-diff-merges --combined-all-paths -m -r -t --root --count --timestamp --header --full-diff " +
    "--remerge-diff --dd",
  reads: diff.reads ?? "",
  writes: diff.writes ?? "",
  lifts: { [RUNS]: "--ext-diff --textconv --show-signature" },
  digits: true,
  operands: "data",
  inCwd: "read",
  refine: formats,
};

/** Which refs are listed and how. */
export const LIST_REFS =
  "--contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --color=? --no-color --column=? " +
  "--no-column -i --ignore-case --omit-empty";

/** Formats with which git runs gpg: `%G?` of commits, `%(signature)` of refs. */
export function formats(parsed: ParsedForm, draft: Draft): void {
  for (const { name, value } of parsed.options) {
    if (value === null || (name !== "--format" && name !== "--pretty")) continue;
    const text = textOf(value);
    if (text === null || /%[-+ ]?G|%\([*]?signature/.test(text.replaceAll("%%", ""))) {
      draft.lifts.push(`${name} of ${draft.form} ${text === null ? "is not known" : SIGNS}`);
    }
  }
}

/** A command that is known, and always asks; `why` is a clause. */
export function refused(why: string, actionClass: Form["class"] = "git-write"): Form {
  return {
    class: actionClass ?? "git-write",
    custom: (_words, draft) => {
      draft.lifts.push(`${draft.form} ${why}`);
      draft.uses.push({
        effect: actionClass === "network" ? "network" : "git-write",
        class: actionClass ?? "git-write",
        cwd: true,
        tree: true,
        via: draft.form,
      });
    },
  };
}
