/** The private git dirs of all sandboxes: made on first use, found again, kept with what the daemon knows about each. */
import { spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { objectAlternates } from "./alternates.ts";
import type { GitState } from "./hand-in.ts";
import type { HostRepository } from "./host-git.ts";
import { hostHead, preparePrivateGit } from "./prepare.ts";

/** One sandbox's git, as it stands on the host. */
export interface PrivateGit {
  readonly key: string;
  readonly project: string;
  readonly repository: HostRepository;
  /** The folder that the sandbox has as its git folder, written by nobody but it. */
  readonly folder: string;
}

export interface PrepareRequest {
  readonly key: string;
  readonly project: string;
  readonly worktree: string;
  readonly repository: { readonly commonDir: string; readonly gitDir: string };
  readonly user: { readonly uid: number; readonly gid: number };
  /** Where the sandbox sees the host's own objects. */
  readonly objectsInside: string;
}

export interface PreparedGit extends PrivateGit {
  /** The host has submodules, which are to be seen below it. */
  readonly modules: boolean;
  /** Other object folders of the host that the repository builds on. */
  readonly alternates: readonly string[];
}

interface Stored {
  /** Name of the folder: another one is another mount, so that the sandbox is made anew with it. */
  readonly generation: string;
  /** Device and inode of worktree and git folder: a worktree made anew under the same name gets its own. */
  readonly identity: string;
  readonly project: string;
  readonly repository: HostRepository;
  readonly synced: readonly (readonly [string, string])[];
  readonly own: readonly string[];
  readonly head?: NonNullable<GitState["head"]>;
}

const FALLBACK_USER = { name: "agent", email: "agent@localhost" };
const STATE_FILE = "state.json";

export class PrivateGits {
  readonly #root: string;
  readonly #newId: () => string;
  readonly #byWorktree = new Map<string, PrivateGit>();

  /** `root` is a folder of the daemon's alone. */
  constructor(root: string, newId: () => string) {
    this.#root = root;
    this.#newId = newId;
  }

  /** Throws `engine-failed` when the host's repository cannot be read. */
  async prepare(request: PrepareRequest): Promise<PreparedGit> {
    const { key, project, worktree, repository: found, user } = request;
    const owner = lstatSync(found.commonDir);
    const repository: HostRepository = {
      ...found,
      worktree,
      owner: { uid: owner.uid, gid: owner.gid },
    };
    const alternates = await objectAlternates(repository);
    const home = join(this.#root, key);
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chmod(this.#root, 0o700);
    const identity = [worktree, found.gitDir].map(identityOf).join(" ");
    let stored = await this.#read(key);
    if (stored === null || stored.identity !== identity || !this.#isThere(key, stored)) {
      const generation = this.#newId();
      const synced = await preparePrivateGit(repository, {
        folder: join(home, generation),
        objectsInside: [request.objectsInside, ...alternates],
        user,
        fallbackUser: FALLBACK_USER,
      });
      const head = await hostHead(repository);
      stored = { generation, identity, project, repository, synced: [...synced], own: [], head };
      await this.#write(key, stored);
      await this.#removeOthers(home, generation);
    }
    const folder = join(home, stored.generation);
    this.#byWorktree.set(worktree, { key, project, repository, folder });
    const modules = isFolder(join(found.gitDir, "modules"));
    if (modules) await makeMountPoint(join(folder, "modules"));
    return {
      key,
      project,
      repository,
      folder,
      alternates,
      modules: modules && isFolder(join(folder, "modules")),
    };
  }

  async find(key: string): Promise<PrivateGit | null> {
    const stored = await this.#read(key);
    if (stored === null) return null;
    const { project, repository, generation } = stored;
    const git = { key, project, repository, folder: join(this.#root, key, generation) };
    this.#byWorktree.set(repository.worktree, git);
    return git;
  }

  /** Of those that were prepared or looked for in this life of the daemon. */
  ofWorktree(worktree: string): PrivateGit | null {
    return this.#byWorktree.get(worktree) ?? null;
  }

  async list(): Promise<readonly PrivateGit[]> {
    const keys = await readdir(this.#root).catch(() => []);
    const found = await Promise.all(keys.sort().map((key) => this.find(key)));
    return found.filter((git) => git !== null);
  }

  async state({ key }: Pick<PrivateGit, "key">): Promise<GitState> {
    const stored = await this.#read(key);
    if (stored === null) return { synced: new Map(), own: [] };
    const { synced, own, head } = stored;
    return { synced: new Map(synced), own, ...(head && { head }) };
  }

  async keepState({ key }: Pick<PrivateGit, "key">, state: GitState): Promise<void> {
    const stored = await this.#read(key);
    if (stored === null) return;
    const { own, head } = state;
    await this.#write(key, { ...stored, synced: [...state.synced], own, ...(head && { head }) });
  }

  /** What was not brought to the host is gone with them. */
  async removeProject(project: string): Promise<void> {
    for (const git of await this.list()) {
      if (git.project !== project) continue;
      this.#byWorktree.delete(git.repository.worktree);
      await removeTrees([join(this.#root, git.key)]);
    }
  }

  #isThere(key: string, { generation }: Stored): boolean {
    const head = join(this.#root, key, generation, "HEAD");
    return lstatSync(head, { throwIfNoEntry: false })?.isFile() ?? false;
  }

  async #read(key: string): Promise<Stored | null> {
    const text = await readFile(join(this.#root, key, STATE_FILE), "utf8").catch(() => null);
    return text === null ? null : (JSON.parse(text) as Stored);
  }

  /** Beside its place and moved there: a crash leaves the old one. */
  async #write(key: string, stored: Stored): Promise<void> {
    const path = join(this.#root, key, STATE_FILE);
    await writeFile(`${path}.new`, JSON.stringify(stored), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  async #removeOthers(home: string, generation: string): Promise<void> {
    const keep = new Set([generation, STATE_FILE]);
    const others = (await readdir(home)).filter((name) => !keep.has(name));
    await removeTrees(others.map((name) => join(home, name)));
  }
}

/** By handles, as rm does it: a sandbox that still has the folder could swap what it holds while root walks it by name. */
async function removeTrees(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const rm = spawn("rm", ["-rf", "--", ...paths]);
  await new Promise((resolve, reject) => rm.on("error", reject).on("close", resolve));
}

function identityOf(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A mount needs a folder to lie on. Whatever the sandbox put there instead stays, and then nothing is mounted. */
async function makeMountPoint(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
