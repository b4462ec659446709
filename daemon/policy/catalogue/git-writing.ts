/** The commands of git that change the repository or the worktree, and those that talk to another one. */

import type { Word } from "../shell/segment.ts";
import { type Draft, use } from "./draft.ts";
import { ASKS_BACK, DISCARDS, diff, log, RUNS, refused, SIGNS } from "./git-options.ts";
import { type Form, given, lastValue, type ParsedForm, textOf } from "./spec.ts";

const writing: Form = { class: "git-write", inCwd: "write", operands: "data" };

/** Merge strategies that are git's own: `-s NAME` otherwise runs a program `git-merge-NAME`. */
const STRATEGIES = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

function strategies(parsed: ParsedForm, draft: Draft): void {
  const strategy = lastValue(parsed, "-s --strategy");
  if (strategy !== null && !STRATEGIES.includes(textOf(strategy) ?? ""))
    draft.lifts.push(`--strategy of ${draft.form} ${RUNS}`);
}

const MERGING =
  "--abort --continue --quit --skip --ff --no-ff --ff-only --no-edit --stat -n --no-stat --no-verify --verify " +
  "--autostash --no-autostash -q --quiet -v --verbose --progress --no-progress --strategy= -X= --strategy-option= " +
  "--rerere-autoupdate --no-rerere-autoupdate --no-gpg-sign --signoff --no-signoff";

/** First folders by which a path is told from a branch name in `git checkout NAME`. */
const FOLDERS = new Set(
  (
    "src lib libs test tests spec docs doc app apps packages pkg cmd internal web server client public scripts examples " +
    "config build dist bin include tools components node_modules assets static data"
  ).split(" "),
);

/** Whether `git checkout WORD` could mean files, which would throw their changes away. */
function mayBeFile(word: Word): boolean {
  const text = textOf(word);
  if (text === null || /^[./:]|[*?[\\]|\/$/.test(text)) return true;
  return FOLDERS.has(text.split("/")[0] ?? "") || /\.[A-Za-z]\w{0,5}$/.test(text);
}

function checkout(parsed: ParsedForm, draft: Draft, words: readonly Word[]): void {
  const creates = given(parsed, "-b --orphan");
  const dashes = words.some((word) => textOf(word) === "--");
  const [first, ...more] = parsed.operands;
  if (creates && !dashes && more.length === 0) return;
  if (
    dashes ||
    more.length > 0 ||
    (first !== undefined && mayBeFile(first) && textOf(first) !== "-")
  )
    draft.lifts.push(`${draft.form} of files ${DISCARDS}`);
}

const STASHING =
  "-k --keep-index --no-keep-index -u --include-untracked -a --all -q --quiet -m= --message= -S --staged";

const push: Form = {
  ...writing,
  flags: STASHING,
  reads: "--pathspec-from-file=",
  lifts: { [ASKS_BACK]: "-p --patch" },
  operands: "read",
};

/** Options of what reaches another repository: it asks by its class, these by themselves too. */
const REMOTE_PROGRAMS = "--upload-pack= --receive-pack= --exec=";
const remote: Form = {
  class: "network",
  operands: "data",
  inCwd: "read",
  lifts: { [RUNS]: REMOTE_PROGRAMS },
};

export const changes: Readonly<Record<string, Form>> = {
  "add stage": {
    ...writing,
    flags:
      "-n --dry-run -v --verbose -f --force -u --update -A --all --no-all --ignore-removal -N --intent-to-add --refresh " +
      "--ignore-errors --ignore-missing --sparse --renormalize --chmod= --no-warn-embedded-repo --pathspec-file-nul",
    reads: "--pathspec-from-file=",
    lifts: { [ASKS_BACK]: "-i --interactive -p --patch -e --edit" },
    operands: "tree",
  },
  commit: {
    ...writing,
    flags:
      "-a --all -m= --message= -C= --reuse-message= -c= --reedit-message= --fixup= --squash= --reset-author --short " +
      "--branch --porcelain --long -z --null --author= --date= --allow-empty --allow-empty-message --cleanup= --no-edit " +
      "--amend -n --no-verify --verify -i --include -o --only -u=? --untracked-files=? -v --verbose -q --quiet " +
      "--dry-run --status --no-status --no-post-rewrite -s --signoff --no-signoff --trailer= --no-gpg-sign " +
      "--pathspec-file-nul",
    reads: "-F= --file= -t= --template= --pathspec-from-file=",
    lifts: { [SIGNS]: "-S=? --gpg-sign=?", [ASKS_BACK]: "-p --patch --interactive -e --edit" },
    operands: "read",
  },
  checkout: {
    ...writing,
    flags:
      "-q --quiet --progress --no-progress -b= -l -d --detach --orphan= -t=? --track=? --no-track --guess --no-guess " +
      "--ignore-other-worktrees --recurse-submodules=? --no-recurse-submodules --overwrite-ignore --conflict= -m --merge",
    lifts: {
      [DISCARDS]:
        "-f --force -B= --ours --theirs -2 -3 --pathspec-from-file= --no-overwrite-ignore",
      [ASKS_BACK]: "-p --patch",
    },
    refine: (parsed, draft, context) => checkout(parsed, draft, context.segment.words),
  },
  switch: {
    ...writing,
    flags:
      "-q --quiet --progress --no-progress -c= --create= -d --detach --orphan= -t=? --track=? --no-track --guess " +
      "--no-guess --ignore-other-worktrees --recurse-submodules=? --no-recurse-submodules --conflict= -m --merge",
    lifts: { [DISCARDS]: "-f --force --discard-changes -C= --force-create=" },
  },
  /** Only the index: the files keep what they hold. */
  restore: {
    ...writing,
    flags:
      "-s= --source= -S --staged -W --worktree -q --quiet --progress --no-progress --ignore-unmerged --overlay " +
      "--no-overlay --ignore-skip-worktree-bits --recurse-submodules=? --no-recurse-submodules --pathspec-file-nul",
    reads: "--pathspec-from-file=",
    lifts: {
      [DISCARDS]: "--ours --theirs -2 -3 -m --merge --conflict=",
      [ASKS_BACK]: "-p --patch",
    },
    operands: "read",
    refine: (parsed, draft) => {
      if (!given(parsed, "-S --staged") || given(parsed, "-W --worktree"))
        draft.lifts.push(`${draft.form} of files ${DISCARDS}`);
    },
  },
  reset: {
    ...writing,
    flags:
      "--soft --mixed -N --intent-to-add -q --quiet --no-quiet --refresh --no-refresh --keep --recurse-submodules=? " +
      "--no-recurse-submodules --pathspec-file-nul",
    reads: "--pathspec-from-file=",
    lifts: { [DISCARDS]: "--hard --merge", [ASKS_BACK]: "-p --patch" },
  },
  mv: {
    ...writing,
    flags: "-k -n --dry-run -v --verbose --sparse",
    lifts: { "overwrites files": "-f --force" },
    operands: "write",
  },
  rm: {
    ...writing,
    flags:
      "-n --dry-run -q --quiet --cached --ignore-unmatch --sparse -r -f --force --pathspec-file-nul",
    reads: "--pathspec-from-file=",
    operands: "write",
    refine: (parsed, draft) => {
      if (!given(parsed, "--cached") && given(parsed, "-r -f --force"))
        draft.lifts.push(`-r and -f of ${draft.form} throw files away`);
    },
  },
  merge: {
    ...writing,
    flags:
      `${MERGING} -s= --commit --no-commit --squash --no-squash --log=? --no-log --allow-unrelated-histories -m= --message= ` +
      "--cleanup= --into-name= --overwrite-ignore --compact-summary --summary --no-summary",
    reads: "-F= --file=",
    lifts: {
      [SIGNS]: "-S=? --gpg-sign=? --verify-signatures",
      [ASKS_BACK]: "-e --edit",
      [DISCARDS]: "--no-overwrite-ignore",
    },
    refine: strategies,
  },
  "cherry-pick revert": {
    ...writing,
    flags:
      `${MERGING} -s -x -m= --mainline= --no-commit --allow-empty --allow-empty-message --keep-redundant-commits --empty= ` +
      "--cleanup= --reference",
    lifts: { [SIGNS]: "-S=? --gpg-sign=?", [ASKS_BACK]: "-e --edit" },
    refine: strategies,
  },
  rebase: {
    ...writing,
    flags:
      `${MERGING} -s= --onto= --autosquash --no-autosquash -f --force-rebase --root --fork-point --no-fork-point --keep-base ` +
      "--apply -m --merge -r=? --rebase-merges=? --no-rebase-merges --committer-date-is-author-date --reset-author-date " +
      "--ignore-date --ignore-whitespace --whitespace= -C= --update-refs --no-update-refs --empty= --keep-empty " +
      "--no-keep-empty --show-current-patch --reapply-cherry-picks --no-reapply-cherry-picks",
    lifts: {
      [RUNS]: "-x= --exec=",
      [ASKS_BACK]: "-i --interactive --edit-todo",
      [SIGNS]: "-S=? --gpg-sign=?",
    },
    refine: strategies,
  },
  /** What a patch changes is in the patch: the files of the worktree. */
  apply: {
    class: "write",
    flags:
      "-R --reverse -p= -C= --exclude= --include= --ignore-space-change --ignore-whitespace --whitespace= --recount " +
      "-v --verbose -q --quiet --3way -3 --index --cached --reject --allow-empty -N --intent-to-add " +
      "--unidiff-zero --apply --allow-overlap --inaccurate-eof --binary -z --stat --numstat --summary --check",
    lifts: {
      "leaves the worktree": "--unsafe-paths",
      "moves what the patch names": "--directory=",
      "writes an index elsewhere": "--build-fake-ancestor=",
    },
    operands: "read",
    refine: (parsed, draft) => {
      const reads =
        given(parsed, "--stat --numstat --summary --check") && !given(parsed, "--apply");
      use(draft, reads ? "read" : "write", draft.form, { cwd: true, tree: true });
    },
  },
  stash: {
    ...writing,
    flags: STASHING,
    lifts: { [ASKS_BACK]: "-p --patch" },
    noSub: push,
    sub: {
      list: log,
      show: {
        ...diff,
        flags: `${diff.flags} --include-untracked --only-untracked --no-include-untracked`,
        operands: "data",
        inCwd: "read",
      },
      "push save": push,
      "pop apply": { ...writing, flags: "--index -q --quiet" },
      "branch create store": { ...writing, flags: "-m= --message= -q --quiet" },
      "drop clear": refused(DISCARDS),
    },
  },
  bisect: {
    sub: {
      log: { inCwd: "read" },
      "start good bad old new skip reset terms next": {
        ...writing,
        flags: "--term-old=? --term-new=? --term-good=? --term-bad=? --no-checkout --first-parent",
      },
      run: refused(RUNS),
    },
  },
  gc: {
    ...writing,
    flags: "--auto -q --quiet --keep-largest-pack --aggressive",
    lifts: { [DISCARDS]: "--prune=? --force" },
  },
  clean: {
    inCwd: "read",
    flags: "-d -n --dry-run -q --quiet -x -X -e= --exclude= -f --force",
    lifts: { [ASKS_BACK]: "-i --interactive" },
    operands: "tree",
    refine: (parsed, draft) => {
      if (given(parsed, "-n --dry-run")) return;
      use(draft, "git-write", draft.form, { cwd: true, tree: true });
      draft.lifts.push(`${draft.form} removes files that git does not keep`);
    },
  },
  "filter-branch filter-repo fast-import": refused("rewrites the history"),
  "difftool mergetool citool gui hook": refused(RUNS),
  "update-ref pack-refs prune replace update-index": refused("changes the repository under git"),

  push: {
    ...remote,
    flags:
      "-v --verbose -q --quiet --repo= --all --branches --mirror -d --delete --tags -n --dry-run --porcelain -f --force " +
      "--force-with-lease=? --no-force-with-lease --force-if-includes --recurse-submodules=? --thin --no-thin -u " +
      "--set-upstream --progress --no-progress --prune --no-verify --verify --follow-tags --no-signed --atomic -o= " +
      "--push-option= -4 --ipv4 -6 --ipv6",
    lifts: { ...remote.lifts, [SIGNS]: "--signed=?" },
  },
  "fetch pull": {
    ...remote,
    flags:
      `${MERGING} -s= --rebase=? -r --no-rebase --squash --no-squash --commit --no-commit --allow-unrelated-histories --all -a ` +
      "--append --atomic --depth= --deepen= --shallow-since= --shallow-exclude= --unshallow --update-shallow " +
      "--negotiation-tip= --dry-run -f --force -k --keep --multiple -p --prune -P --prune-tags --no-tags -t --tags " +
      "--refmap= --recurse-submodules=? --no-recurse-submodules -j= --jobs= --set-upstream -u --update-head-ok " +
      "--write-fetch-head --no-write-fetch-head --prefetch -o= --server-option= --show-forced-updates " +
      "--no-show-forced-updates -4 --ipv4 -6 --ipv6 --filter= --refetch --auto-maintenance --no-auto-maintenance --no-all",
    lifts: { ...remote.lifts, [SIGNS]: "-S=? --gpg-sign=? --verify-signatures" },
    refine: strategies,
  },
  clone: {
    ...remote,
    flags:
      "-v --verbose -q --quiet --progress -n --no-checkout --bare --mirror --depth= --shallow-since= --shallow-exclude= " +
      "--single-branch --no-single-branch --no-tags -b= --branch= -o= --origin= --recurse-submodules=? --recursive=? " +
      "--shallow-submodules --remote-submodules -j= --jobs= --filter= --sparse -l --local --no-local --no-hardlinks -s " +
      "--shared -4 --ipv4 -6 --ipv6 --revision=",
    writes: "--separate-git-dir=",
    reads: "--reference= --reference-if-able= --bundle-uri=",
    lifts: {
      [RUNS]: `${REMOTE_PROGRAMS} -u= --template=`,
      "sets its own configuration": "-c= --config=",
    },
    operands: { lead: ["data", "write"] },
    refine: (parsed, draft) => {
      if (parsed.operands.length < 2) use(draft, "write", draft.form, { cwd: true });
    },
  },
  "ls-remote": {
    ...remote,
    flags:
      "-h --heads --branches -t --tags --refs -q --quiet --exit-code --get-url --sort= --symref -o= --server-option=",
  },
};
