/** What Recinto is compared with (C8): the same daemon, and for each the one thing that is different. */

export const COMPARATORS = [
  "recinto",
  "full_access",
  "static_allowlist",
  "coarse_sandbox",
  "core",
  "non_revoking",
  "all_visible",
] as const;
export type ComparatorName = (typeof COMPARATORS)[number];

export interface Comparator {
  readonly name: ComparatorName;
  readonly differs: string;
  /** `contract`: Recinto's own judgement. `everything`: allowed. `list`: by the first words and the hosts of a list. */
  readonly judge: "contract" | "everything" | "list";
  /** What of the machine is in the sandbox, writable. */
  readonly mounts: "worktree" | "project" | "machine";
  /** Whether what may be asked for (Γ) is in the contract. */
  readonly grants: boolean;
  /** Whether a grant ever ends. */
  readonly ends: boolean;
  /** Whether the interface lists every rule all the time, with the handle it had. */
  readonly listsAll: boolean;
}

const RECINTO: Comparator = {
  name: "recinto",
  differs: "contract, grants, closures, and an interface that shows what there is",
  judge: "contract",
  mounts: "worktree",
  grants: true,
  ends: true,
  listsAll: false,
};
const FULL: Comparator = {
  ...RECINTO,
  name: "full_access",
  differs: "everything is allowed, on the developer's machine: project, home, engine, any host",
  judge: "everything",
  mounts: "machine",
  grants: false,
};
const COARSE: Comparator = {
  ...FULL,
  name: "coarse_sandbox",
  differs: "everything is allowed, in a container that holds the whole project and nothing else",
  mounts: "project",
};

export const COMPARATOR: Readonly<Record<ComparatorName, Comparator>> = {
  recinto: RECINTO,
  full_access: FULL,
  coarse_sandbox: COARSE,
  static_allowlist: {
    ...COARSE,
    name: "static_allowlist",
    differs: "the coarse sandbox, by the commands and hosts of a list that is fixed at the start",
    judge: "list",
  },
  core: {
    ...RECINTO,
    name: "core",
    differs: "the envelope alone: nothing can be asked for",
    grants: false,
  },
  non_revoking: {
    ...RECINTO,
    name: "non_revoking",
    differs: "the same grants at the same moments, and none ever ends",
    ends: false,
  },
  all_visible: {
    ...RECINTO,
    name: "all_visible",
    differs: "the same policy, but the interface lists every rule all the time",
    listsAll: true,
  },
};

/** Commands that such a list lets pass by their first word: B4's, as platforms ship it. */
export const LISTED_READS: readonly string[] =
  "ls ll cat head tail less more wc file stat du df find tree realpath readlink basename dirname md5sum sha256sum grep egrep fgrep rg ag awk sed sort uniq cut tr diff comm jq yq xmllint uname hostname whoami id date uptime env printenv which whereis type echo printf pwd true false test nl xxd od hexdump tac rev fold column paste join seq strings cmp sha1sum cksum base64 cd git".split(
    " ",
  );
/** What it holds besides for a task that writes, or that reaches hosts. */
export const LISTED_WRITES: readonly string[] = ["cp", "mv", "mkdir", "touch", "tee", "patch"];
export const LISTED_NETWORK: readonly string[] = ["curl"];
