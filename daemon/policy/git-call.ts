/** A git command line taken apart: the sub-command behind the global options, and refspecs. */
import type { Argv } from "./view.ts";

export interface GitCall {
  /** null: not known. "": there is none. */
  readonly sub: string | null;
  /** The sub-command and what follows it, so that the helpers for argvs apply. */
  readonly argv: Argv;
  /** Settings given for this call alone: `-c name=value`. */
  readonly settings: readonly (string | null)[];
}

const WITH_VALUE = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
  "--exec-path",
]);

/** null when the words are no call of git. `git-reset` is one. */
export function gitCall(argv: Argv): GitCall | null {
  const verb = argv[0] ?? null;
  if (verb === null) return null;
  const name = verb.slice(verb.lastIndexOf("/") + 1);
  if (name.startsWith("git-")) {
    return { sub: name.slice(4), argv: [name.slice(4), ...argv.slice(1)], settings: [] };
  }
  if (name !== "git") return null;
  const settings: (string | null)[] = [];
  let at = 1;
  for (; at < argv.length; at++) {
    const word = argv[at] as string | null;
    if (word === null || !word.startsWith("-")) break;
    if (word === "-c" || word === "--config-env") settings.push(argv[at + 1] ?? null);
    else if (word.startsWith("--config-env=")) settings.push(word.slice(13));
    // `--exec-path` takes its value only with `=`; alone it prints.
    if (WITH_VALUE.has(word) && word !== "--exec-path") at++;
  }
  const sub = at >= argv.length ? "" : (argv[at] ?? null);
  return { sub, argv: argv.slice(at), settings };
}

/** A branch name without what only says where it is: `refs/heads/main`, `heads/main`. */
export function branchName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//, "").replace(/^heads\//, "");
}

export interface Refspec {
  readonly force: boolean;
  /** "" when nothing is pushed: the destination is deleted. */
  readonly source: string;
  readonly destination: string;
}

/** `+src:dst`, `src`, `:dst`. */
export function refspec(text: string): Refspec {
  const force = text.startsWith("+");
  const bare = force ? text.slice(1) : text;
  const colon = bare.indexOf(":");
  const source = colon < 0 ? bare : bare.slice(0, colon);
  const destination = colon < 0 ? bare : bare.slice(colon + 1);
  return { force, source, destination };
}
