/** What of the daemon's own a sandbox is given: caches that outlive it, and files that say who its user is. */
import { spawn } from "node:child_process";
import { chmod, lchown, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheTarget, SANDBOX_CACHE, SANDBOX_HOME } from "../settings/sandbox-home.ts";
import type { Profile } from "../settings/types.ts";
import type { SandboxMount } from "./engine.ts";

export interface GivenRequest {
  /** Stands for the sandbox. */
  readonly key: string;
  readonly project: string;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly profile: Pick<Profile, "cache" | "caches">;
}

/** `folder` is the daemon's alone; everything is made there on first use. */
export class GivenFolders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async mounts({ key, project, user, profile }: GivenRequest): Promise<readonly SandboxMount[]> {
    const mounts = [...(await this.#identity(user))];
    const owned = `${user.uid}-${user.gid}`;
    if (profile.cache === "volume") {
      const source = await this.#cache(project, `sandbox-${key}`, user);
      mounts.push({ source, target: SANDBOX_CACHE, readOnly: false });
    }
    for (const [name, path] of Object.entries(profile.caches)) {
      const source = await this.#cache(project, `${name}-${owned}`, user);
      mounts.push({ source, target: cacheTarget(path), readOnly: false });
    }
    return mounts;
  }

  /** With all that its sandboxes kept there. */
  async removeProject(project: string): Promise<void> {
    // By handles, as rm does it: what lies in there is the sandbox's.
    const rm = spawn("rm", ["-rf", "--", join(this.#folder, "caches", project)]);
    await new Promise((resolve, reject) => rm.on("error", reject).on("close", resolve));
  }

  /** Users of the host are nobody's business in there; the sandbox's own has a name, and `whoami` works. */
  async #identity({ uid, gid }: GivenRequest["user"]): Promise<readonly SandboxMount[]> {
    const folder = join(this.#folder, "identity", `${uid}-${gid}`);
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const files = {
      passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:${uid}:${gid}:agent:${SANDBOX_HOME}:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
      group: `root:x:0:\nagent:x:${gid}:\nnogroup:x:65534:\n`,
    };
    for (const [name, text] of Object.entries(files)) await writeOnce(join(folder, name), text);
    return Object.keys(files).map((name) => ({
      source: join(folder, name),
      target: `/etc/${name}`,
      readOnly: true,
    }));
  }

  async #cache(project: string, name: string, { uid, gid }: GivenRequest["user"]): Promise<string> {
    const folder = join(this.#folder, "caches", project, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await lchown(folder, uid, gid);
    return folder;
  }
}

/** Moved into its place whole; a running sandbox keeps the one it was started with, of the same content. */
async function writeOnce(path: string, text: string): Promise<void> {
  const there = await readFile(path, "utf8").catch(() => null);
  if (there !== text) {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  }
  // The sandbox's user reads it, whatever the daemon's umask takes away.
  await chmod(path, 0o444);
}
