/** Makes the private git dir of a sandbox: own config, HEAD, index, refs and logs; the host's objects as alternates. */
import { chown, copyFile, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RecintoError } from "../../errors.ts";
import { type HostRepository, hostGit, hostGitText } from "./host-git.ts";
import { parseRefs, type RefMap } from "./refs.ts";
import { sandboxConfig } from "./sandbox-config.ts";

export interface PrepareOptions {
  /** Where it will be on the host; its parent exists and only the daemon writes there. */
  readonly folder: string;
  /** Where the host's objects are seen inside the sandbox (read-only). */
  readonly objectsInside: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Who commits when the repository names nobody. */
  readonly fallbackUser: { readonly name: string; readonly email: string };
}

/** References of the host that a sandbox gets to see; `refs/recinto/` is our own. */
export async function hostRefs(repository: HostRepository): Promise<RefMap> {
  const format = "--format=%(objectname) %(refname)";
  const text = await hostGitText(repository, [
    "for-each-ref",
    format,
    "refs/heads",
    "refs/remotes",
    "refs/tags",
  ]);
  return parseRefs(text);
}

/** Where the host's worktree stands: on a branch, or detached at a commit (null: a branch without one yet). */
export async function hostHead(
  repository: HostRepository,
): Promise<{ readonly ref: string | null; readonly commit: string | null }> {
  const symbolic = await hostGit(repository, ["symbolic-ref", "-q", "HEAD"]);
  const commit = await hostGit(repository, ["rev-parse", "-q", "--verify", "HEAD^{commit}"]);
  return {
    ref: symbolic.exitCode === 0 ? symbolic.stdout.toString().trim() : null,
    commit: commit.exitCode === 0 ? commit.stdout.toString().trim() : null,
  };
}

/**
 * Builds it beside its place and moves it there, so that a crash leaves either nothing or all of it. Returns the refs it
 * holds. Throws `engine-failed` when the host's repository cannot be read.
 */
export async function preparePrivateGit(
  repository: HostRepository,
  options: PrepareOptions,
): Promise<RefMap> {
  const building = `${options.folder}.new`;
  await rm(building, { recursive: true, force: true });
  for (const folder of [
    "",
    "info",
    "logs",
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/tags",
  ]) {
    await mkdir(join(building, folder), { mode: 0o700 });
  }
  const [refs, head, config] = await Promise.all([
    hostRefs(repository),
    hostHead(repository),
    hostGitText(repository, ["config", "--list", "-z"]),
  ]);
  if (head.ref === null && head.commit === null) {
    throw new RecintoError(
      "engine-failed",
      `${repository.gitDir}/HEAD names neither a branch nor a commit`,
    );
  }
  const write = (name: string, text: string) =>
    writeFile(join(building, name), text, { mode: 0o600 });
  await write("HEAD", head.ref === null ? `${head.commit}\n` : `ref: ${head.ref}\n`);
  await write("config", sandboxConfig(config, options.fallbackUser));
  await write("objects/info/alternates", `${options.objectsInside}\n`);
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, id]) => `${id} ${ref}\n`);
  await write("packed-refs", `# pack-refs with: sorted \n${lines.join("")}`);
  await copyIfThere(join(repository.commonDir, "info/exclude"), join(building, "info/exclude"));
  await copyIfThere(
    join(repository.gitDir, "info/sparse-checkout"),
    join(building, "info/sparse-checkout"),
  );
  await copyIfThere(join(repository.gitDir, "index"), join(building, "index"));
  await give(building, options.user);
  await rm(options.folder, { recursive: true, force: true });
  await rename(building, options.folder);
  return refs;
}

async function copyIfThere(from: string, to: string): Promise<void> {
  const info = await lstat(from).catch(() => null);
  if (info?.isFile()) await copyFile(from, to);
}

/** Nobody but the daemon has seen the folder yet, so no link can lead this astray. */
async function give(path: string, user: { uid: number; gid: number }): Promise<void> {
  await chown(path, user.uid, user.gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await give(inner, user);
    else await chown(inner, user.uid, user.gid);
  }
}
