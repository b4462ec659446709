/** What protected files are in commits that no agent made: what git may put into a worktree without asking anybody. */
import { createHash } from "node:crypto";
import { TRUSTED_COMMITS_MAX } from "../../limits.ts";
import { type HostRepository, hostGit } from "./host-git.ts";
import { hostRefs } from "./prepare.ts";

/** For each path the blobs it may be; null among them: it may be absent. */
export type TrustedStates = ReadonlyMap<string, ReadonlySet<string | null>>;

/**
 * The commits at which `head` leaves what others made: `head` itself where all of it is theirs. `agents` are the
 * references that sandboxes may have moved. Nothing where the host does not have `head`.
 */
export async function trustedStates(
  repository: HostRepository,
  head: string,
  agents: ReadonlySet<string>,
  paths: readonly string[],
): Promise<TrustedStates> {
  const states = new Map(paths.map((path) => [path, new Set<string | null>()]));
  const refs = await hostRefs(repository);
  const tips = new Set([...refs].filter(([ref]) => !agents.has(ref)).map(([, commit]) => commit));
  if (tips.size === 0) return states;
  const stdin = [head, ...[...tips].map((tip) => `^${tip}`)].join("\n");
  const listed = await hostGit(repository, ["rev-list", "--boundary", "--stdin"], { stdin });
  if (listed.exitCode !== 0) return states;
  const lines = listed.stdout.toString().split("\n").filter(Boolean);
  const frontier = lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1));
  const commits = lines.some((line) => !line.startsWith("-")) ? frontier : [head];
  const asked = commits
    .slice(0, TRUSTED_COMMITS_MAX)
    .flatMap((commit) => paths.map((path) => ({ path, name: `${commit}:${path}` })))
    .filter(({ name }) => !name.includes("\n"));
  const words = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const input = asked.map(({ name }) => `${name}\n`).join("");
  const checked = await hostGit(repository, words, { stdin: input });
  const answers = checked.stdout.toString().split("\n");
  for (const [index, { path }] of asked.entries()) {
    const [id = "", type = ""] = (answers[index] ?? "").split(" ");
    if (type === "blob") states.get(path)?.add(id);
    else if (answers[index]?.endsWith(" missing")) states.get(path)?.add(null);
  }
  return states;
}

/** The name git gives to content, in a repository whose names are as long as `like`. */
export function blobName(bytes: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
