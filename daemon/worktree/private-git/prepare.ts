/** Makes the private git dir of a sandbox: own config, HEAD, index, refs and logs; the host's objects as alternates. */
import { closeSync, createReadStream, createWriteStream, fstatSync } from "node:fs";
import { chown, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { RecintoError } from "../../errors.ts";
import { openFile, openRoot } from "../safe-open.ts";
import { type HostRepository, hostGit, hostGitText } from "./host-git.ts";
import { parseRefs, type RefMap } from "./refs.ts";
import { sandboxConfig } from "./sandbox-config.ts";

export interface PrepareOptions {
  /** Where it will be on the host; its parent exists and only the daemon writes there. */
  readonly folder: string;
  /** Folders with the host's objects as the sandbox sees them (read-only). */
  readonly objectsInside: readonly string[];
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

/** Where a worktree stands on the host: on a branch, or detached at a commit (null: a branch without one yet). */
export interface HostHead {
  readonly ref: string | null;
  readonly commit: string | null;
}

export async function hostHead(repository: HostRepository): Promise<HostHead> {
  const [symbolic, commit] = await Promise.all([
    hostGit(repository, ["symbolic-ref", "-q", "HEAD"]),
    hostGit(repository, ["rev-parse", "-q", "--verify", "HEAD^{commit}"]),
  ]);
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
  await write("objects/info/alternates", options.objectsInside.map((path) => `${path}\n`).join(""));
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, id]) => `${id} ${ref}\n`);
  await write("packed-refs", `# pack-refs with: sorted \n${lines.join("")}`);
  const { commonDir, gitDir } = repository;
  for (const name of ["info/exclude", "info/attributes"]) {
    await copyIfThere(commonDir, name, join(building, name));
  }
  for (const name of ["info/sparse-checkout", "index"]) {
    await copyIfThere(gitDir, name, join(building, name));
  }
  await give(building, options.user);
  await rm(options.folder, { recursive: true, force: true });
  await rename(building, options.folder);
  return refs;
}

/** What is no plain file below the folder is left out: its owner could have put a link to somebody else's file there. */
async function copyIfThere(folder: string, name: string, to: string): Promise<void> {
  const root = openRoot(folder);
  if (root.fd === undefined) return;
  const file = openFile(root.fd, name);
  closeSync(root.fd);
  if (file.fd === undefined) return;
  if (!fstatSync(file.fd).isFile()) return closeSync(file.fd);
  await pipeline(createReadStream("", { fd: file.fd }), createWriteStream(to, { mode: 0o600 }));
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
