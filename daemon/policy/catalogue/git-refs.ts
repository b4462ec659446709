/** Commands of git that list when asked to and change otherwise: branches, tags, remotes, notes, configuration. */

import { type Draft, use } from "./draft.ts";
import {
  ASKS_BACK,
  DISCARDS,
  formats,
  LIST_REFS,
  log,
  RUNS,
  refused,
  SIGNS,
} from "./git-options.ts";
import { type Form, given, type ParsedForm } from "./spec.ts";

const FILTERS = "--contains --no-contains --merged --no-merged --points-at";

/** Listing when it is asked for by an option, or when nothing is named. */
function listsOr(parsed: ParsedForm, draft: Draft, listing: string, changing: string): void {
  formats(parsed, draft);
  const lists = given(parsed, `${listing} ${FILTERS}`) || parsed.operands.length === 0;
  if (!lists || given(parsed, changing))
    use(draft, "git-write", draft.form, { cwd: true, tree: true });
}

const NETWORK: Form = {
  class: "network",
  operands: "data",
  inCwd: "read",
  lifts: { [RUNS]: "--upload-pack= --exec=" },
};

export const refs: Readonly<Record<string, Form>> = {
  branch: {
    flags:
      `${LIST_REFS} -l --list -a --all -r --remotes -v --verbose -q --quiet --show-current --abbrev=? --no-abbrev -d ` +
      "--delete -m --move -c --copy -t=? --track=? --no-track -u= --set-upstream-to= --unset-upstream --create-reflog " +
      "--recurse-submodules",
    lifts: { [DISCARDS]: "-D -f --force -M -C", [ASKS_BACK]: "--edit-description" },
    operands: "data",
    inCwd: "read",
    refine: (parsed, draft) =>
      listsOr(
        parsed,
        draft,
        "-l --list --show-current",
        "-d --delete -m --move -c --copy -u --set-upstream-to --unset-upstream -D -M -C -f --force --edit-description",
      ),
  },
  tag: {
    flags:
      `${LIST_REFS} -l --list -n=? -a --annotate -m= --message= -d --delete --cleanup= --create-reflog --no-sign ` +
      "--trailer=",
    reads: "-F= --file=",
    lifts: {
      [SIGNS]: "-s --sign -u= --local-user= -v --verify",
      [DISCARDS]: "-f --force",
      [ASKS_BACK]: "-e --edit",
    },
    operands: "data",
    inCwd: "read",
    refine: (parsed, draft) =>
      listsOr(
        parsed,
        draft,
        "-l --list -n",
        "-d --delete -a --annotate -m --message -F --file -s -u -f --force",
      ),
  },
  remote: {
    flags: "-v --verbose",
    noSub: { inCwd: "read" },
    sub: {
      "get-url": { flags: "--push --all", operands: "data", inCwd: "read" },
      show: {
        flags: "-n",
        operands: "data",
        inCwd: "read",
        refine: (parsed, draft) => {
          if (parsed.operands.length > 0 && !given(parsed, "-n")) use(draft, "network", draft.form);
        },
      },
      "update prune": { ...NETWORK, flags: "-p --prune -n --dry-run" },
      "add rename remove rm set-url set-head set-branches": refused(
        "changes where git fetches and pushes",
      ),
    },
  },
  worktree: {
    sub: {
      list: { flags: "-v --verbose --porcelain -z --expire=", inCwd: "read" },
      "add move remove prune lock unlock repair": refused("changes other worktrees"),
    },
  },
  notes: {
    flags: "--ref=",
    noSub: { inCwd: "read" },
    sub: {
      "list show get-ref": { ...log, operands: "data" },
      "add append copy edit merge remove prune": refused("changes notes"),
    },
  },
  submodule: {
    flags: "-q --quiet --cached",
    noSub: { inCwd: "read" },
    sub: {
      status: { flags: "--cached --recursive -q --quiet", operands: "data", inCwd: "read" },
      summary: { flags: "--cached --files -n= --summary-limit=", operands: "data", inCwd: "read" },
      "update add": {
        ...NETWORK,
        operands: "data",
        flags: "--init --remote --recursive --depth= -f --force -b= --name=",
      },
      foreach: refused(RUNS),
      "init deinit sync set-url set-branch absorbgitdirs": refused("changes the configuration"),
    },
  },
  "symbolic-ref": {
    flags: "-q --quiet --short --recurse --no-recurse",
    lifts: { "changes the repository under git": "-d --delete -m=" },
    operands: { lead: ["data"] },
    inCwd: "read",
  },
  /** One name alone prints its value; a second word would set it. */
  config: {
    flags:
      "--get --get-all --get-regexp --get-urlmatch -l --list --show-origin --show-scope --name-only --global --system " +
      "--local --worktree -z --null -t= --type= --no-type --bool --int --bool-or-int --bool-or-str --path --expiry-date " +
      "--includes --no-includes --default= --fixed-value --blob= --all --regexp --value= --url=",
    reads: "-f= --file=",
    lifts: {
      "changes the configuration":
        "--add --replace-all --unset --unset-all --rename-section --remove-section --append --comment=",
      [ASKS_BACK]: "-e --edit",
      "prints escapes by the configuration": "--get-color --get-colorbool",
    },
    operands: "data",
    inCwd: "read",
    refine: (parsed, draft) => {
      const [first, ...more] = parsed.operands.map((word) => word.text);
      const asked = given(parsed, "--get --get-all --get-regexp --get-urlmatch -l --list");
      if (!asked && (first === "edit" || (more.length > 0 && first !== "get"))) {
        use(draft, "git-write", draft.form, { cwd: true });
        draft.lifts.push(`${draft.form} changes the configuration`);
      }
    },
  },
};
