/** The commands of git that only read. */

import { diff, formats, LIST_REFS, log, RUNS } from "./git-options.ts";
import { type Form, given } from "./spec.ts";

const reading: Form = { operands: "data", inCwd: "read" };

/** Blame reads the file of the worktree that it is given, and revisions from files. */
const blame: Form = {
  ...reading,
  flags:
    "-L= -l -t --reverse -p --porcelain --line-porcelain --incremental --encoding= --date= -M=? -C=? -c --score-debug " +
    "-f --show-name -n --show-number -s -e --show-email -w --abbrev= --root --show-stats --progress --no-progress -b " +
    "--color-lines --color-by-age --ignore-rev= --first-parent --since= --minimal",
  reads: "--contents= --ignore-revs-file= -S=",
  operands: "read",
};

export const reads: Readonly<Record<string, Form>> = {
  status: {
    ...reading,
    flags:
      "-s --short -b --branch --show-stash --no-show-stash --ahead-behind --no-ahead-behind --porcelain=? --long -z " +
      "--null -v --verbose -u=? --untracked-files=? --ignored=? --ignore-submodules=? --column=? --no-column --renames " +
      "--no-renames --find-renames=?",
    operands: "read",
  },
  /** Two paths outside the repository make it a plain diff of files, so operands are judged as paths. */
  diff: {
    ...diff,
    flags: `${diff.flags} --cached --staged --merge-base --no-index --base --ours --theirs --cc -c -m`,
    digits: true,
    operands: "read",
    recursive: "--no-index",
    inCwd: "read",
    lister: "--name-only",
  },
  "log show whatchanged": log,
  "diff-tree diff-index diff-files": {
    ...log,
    flags: `${log.flags} --cached -q --no-commit-id --merge-base -v`,
  },
  "rev-list": {
    ...log,
    flags:
      `${log.flags} --objects --objects-edge --objects-edge-aggressive --indexed-objects --disk-usage=? ` +
      "--use-bitmap-index --filter= --no-filter --unpacked --no-object-names --object-names --no-commit-header " +
      "--commit-header --max-age= --min-age= --missing= --bisect --bisect-all --bisect-vars --progress=",
  },
  "range-diff": {
    ...log,
    flags: `${log.flags} --no-dual-color --creation-factor=`,
  },
  shortlog: {
    ...reading,
    flags:
      "-n --numbered -s --summary -e --email -w=? -c --committer --group= --format= --since= --after= --until= --before= " +
      "--author= --grep= --all --no-merges --merges --branches=? --tags=? --date= --max-count=",
    refine: formats,
  },
  "blame annotate": blame,
  grep: {
    ...reading,
    flags:
      "--cached --untracked --no-exclude-standard --exclude-standard --no-index --recurse-submodules --threads= -a " +
      "--text -i --ignore-case -I -h -H --full-name -E --extended-regexp -G --basic-regexp -P --perl-regexp -F " +
      "--fixed-strings -n --line-number --column -l --files-with-matches --name-only -L --files-without-match -z --null " +
      "-o --only-matching -c --count --heading --break -p --show-function -W --function-context -A= --after-context= " +
      "-B= --before-context= -C= --context= -w --word-regexp -v --invert-match --max-depth= -r --recursive " +
      "--no-recursive -e= --and --or --not --all-match --color=? --no-color -q --quiet -m= --max-count= --no-textconv",
    reads: "-f=",
    lifts: { [RUNS]: "-O=? --open-files-in-pager=? --textconv --ext-grep" },
    digits: true,
    operands: { lead: ["data"], unless: "-e -f", rest: "tree" },
    lister: "-l --files-with-matches --name-only -L --files-without-match",
  },
  "ls-files": {
    ...reading,
    flags:
      "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage --directory --no-empty-directory -u " +
      "--unmerged -k --killed --resolve-undo -z --deduplicate -x= --exclude= --exclude-per-directory= " +
      "--exclude-standard --error-unmatch --with-tree= -t -v -f --full-name --recurse-submodules --abbrev=? --debug " +
      "--format= --sparse --eol",
    reads: "-X= --exclude-from=",
    operands: "read",
    refine: (parsed, draft) => {
      draft.lister = !given(
        parsed,
        "-s --stage -u --unmerged --resolve-undo -t -v -f --debug --format --eol",
      );
    },
  },
  "ls-tree": {
    ...reading,
    flags:
      "-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree --format= --abbrev=?",
  },
  /** `--textconv` and `--filters` run what the attributes of a file say. */
  "cat-file": {
    ...reading,
    flags:
      "-e -p -t -s --batch=? --batch-check=? --batch-command=? --batch-all-objects --buffer --unordered " +
      "--follow-symlinks --allow-unknown-type -z -Z --path= --mailmap --use-mailmap",
    lifts: { [RUNS]: "--textconv --filters" },
  },
  "rev-parse": {
    ...reading,
    flags:
      "--abbrev-ref=? --short=? --symbolic --symbolic-full-name --verify -q --quiet --sq --not --all --branches=? " +
      "--tags=? --remotes=? --glob= --exclude= --disambiguate= --git-dir --absolute-git-dir --is-inside-git-dir " +
      "--is-inside-work-tree --is-bare-repository --is-shallow-repository --show-cdup --show-prefix --show-toplevel " +
      "--show-superproject-working-tree --git-common-dir --git-path= --shared-index-path --local-env-vars --default= " +
      "--prefix= --revs-only --no-revs --flags --no-flags --since= --after= --until= --before= --path-format= " +
      "--show-object-format=? --resolve-git-dir= --sq-quote",
    anyArgs: true,
  },
  describe: {
    ...reading,
    flags:
      "--tags --all --long --always --dirty=? --broken=? --contains --abbrev= --candidates= --exact-match --debug " +
      "--match= --exclude= --first-parent",
  },
  "merge-base": {
    ...reading,
    flags: "-a --all --octopus --independent --is-ancestor --fork-point",
    anyArgs: true,
  },
  "name-rev": {
    ...reading,
    flags:
      "--tags --refs= --exclude= --all --annotate-stdin --stdin --name-only --no-undefined --always",
  },
  "for-each-ref": {
    ...reading,
    flags: `${LIST_REFS} --count= --shell --perl --python --tcl --stdin --exclude= --include-root-refs --start-after=`,
    refine: formats,
  },
  "show-ref": {
    ...reading,
    flags:
      "--verify --exists -q --quiet --head -d --dereference -s --hash=? --abbrev=? --tags --heads --branches " +
      "--exclude-existing=?",
  },
  "show-branch": {
    ...reading,
    flags:
      "-r --remotes -a --all --current --topo-order --date-order --sparse --more= --list --merge-base --independent " +
      "--no-name --sha1-name --topics -g=? --reflog=? --color=? --no-color",
  },
  cherry: { ...reading, flags: "-v --verbose --abbrev=?" },
  "check-ignore": {
    ...reading,
    flags: "-q --quiet -v --verbose --stdin -z -n --non-matching --no-index",
  },
  "check-attr": { ...reading, flags: "-a --all --cached --stdin -z --source=" },
  "check-ref-format": {
    ...reading,
    flags: "--branch --allow-onelevel --no-allow-onelevel --refspec-pattern --normalize",
  },
  "check-mailmap": { ...reading, flags: "--stdin" },
  "count-objects": { ...reading, flags: "-v --verbose -H --human-readable" },
  var: { ...reading, flags: "-l" },
  version: { flags: "--build-options" },
  /** To standard output only; other formats than tar and zip start a compressor that the configuration names. */
  archive: {
    ...reading,
    flags:
      "-l --list -v --verbose --prefix= --worktree-attributes --format= --mtime= --add-virtual-file=",
    digits: true,
    reads: "--add-file=",
    writes: "-o= --output=",
    lifts: { [RUNS]: "--remote= --exec=" },
    refine: (parsed, draft) => {
      for (const { name, value } of parsed.options)
        if (name === "--format" && !/^(tar|zip)$/.test(value?.text ?? ""))
          draft.lifts.push(`--format of ${draft.form} can run a compressor`);
    },
  },
  reflog: {
    flags: log.flags ?? "",
    digits: true,
    sub: { show: log, "exists list": reading },
    otherSub: log,
    noSub: log,
  },
};
