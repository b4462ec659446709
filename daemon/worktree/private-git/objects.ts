/** Brings commits out of a sandbox into the host's repository: checked in quarantine, then moved, never trusted. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { RecintoError } from "../../errors.ts";
import { GIT_IMPORT_BYTES_MAX } from "../../limits.ts";
import { asOwner, type HostRepository, hostGit } from "./host-git.ts";
import type { SandboxGit } from "./sandbox-git.ts";

const QUARANTINE = /^recinto-incoming-/;
const PACK_FILE = /^pack-[0-9a-f]{40,64}\.(pack|rev|idx)$/;

/** Called between two steps of an import, so that a test can end the daemon right there. */
export type StepHook = (step: ImportStep) => void;
export type ImportStep =
  | "quarantined"
  | "indexed"
  | "adopted"
  | "intended"
  | "moved"
  | "switched"
  | "followed";

function refused(what: string, words: string): RecintoError {
  return new RecintoError("import-refused", `${what}: ${words.trim().slice(0, 500)}`);
}

/** Removes what an interrupted import left; its objects were never part of the repository. */
export async function clearQuarantine(repository: HostRepository): Promise<void> {
  const objects = join(repository.commonDir, "objects");
  const left = (await readdir(objects)).filter((name) => QUARANTINE.test(name));
  if (left.length > 0)
    await remove(
      repository,
      left.map((name) => join(objects, name)),
    );
}

async function remove(repository: HostRepository, folders: readonly string[]): Promise<void> {
  await asOwner(repository, ["rm", "-rf", "--", ...folders]);
}

/**
 * Fetches everything that `commit` needs and the host lacks. The sandbox packs it; the host's git indexes the pack
 * (every object's name is its hash, and `--strict` refuses malformed trees, `.git` in paths and the like), then walks it
 * to see that nothing is missing, and only then the files become part of the repository. Throws `import-refused`.
 */
export async function importObjects(
  repository: HostRepository,
  git: SandboxGit,
  commit: string,
  known: readonly string[],
  { id, step = () => undefined }: { readonly id: string; readonly step?: StepHook },
): Promise<void> {
  const objects = join(repository.commonDir, "objects");
  const quarantine = join(objects, `recinto-incoming-${id}`);
  await done(repository, ["mkdir", "-p", "-m", "700", "--", join(quarantine, "pack")]);
  step("quarantined");
  const env = {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects),
  };
  try {
    const revisions = [commit, ...known.map((old) => `^${old}`)].join("\n");
    const pack = await git.stream(
      ["pack-objects", "--revs", "--stdout", "--thin", "-q", "--delta-base-offset"],
      `${revisions}\n`,
    );
    const words = [
      "index-pack",
      "--stdin",
      "--fix-thin",
      "--strict",
      `--max-input-size=${GIT_IMPORT_BYTES_MAX}`,
    ];
    const indexed = await hostGit(repository, words, { env, stdin: pack.stdout });
    pack.stdout.destroy();
    if (indexed.exitCode !== 0) throw refused("the objects were refused", indexed.stderr);
    await pack.exited.catch(() => {});
    step("indexed");

    const check = await hostGit(
      repository,
      ["rev-list", "--objects", "--quiet", commit, "--not", "--all"],
      { env },
    );
    if (check.exitCode !== 0) throw refused("objects are missing", check.stderr);
    const type = await hostGit(repository, ["cat-file", "-t", commit], { env });
    if (type.stdout.toString().trim() !== "commit")
      throw refused("a branch must lead to a commit", commit);
    await adopt(repository, join(quarantine, "pack"), join(objects, "pack"));
    step("adopted");
  } finally {
    await remove(repository, [quarantine]);
  }
}

/** The index last: git looks at a pack once it sees that. */
async function adopt(repository: HostRepository, from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => PACK_FILE.test(name));
  const order = ["pack", "rev", "idx"];
  names.sort((a, b) => order.indexOf(a.split(".")[1] ?? "") - order.indexOf(b.split(".")[1] ?? ""));
  if (names.length === 0) return;
  await done(repository, ["mkdir", "-p", "--", to]);
  const files = names.map((name) => join(from, name));
  await done(repository, ["mv", "-f", "-t", to, "--", ...files]);
}

async function done(repository: HostRepository, words: readonly string[]): Promise<void> {
  const run = await asOwner(repository, words);
  if (run.exitCode === 0) return;
  throw new RecintoError(
    "engine-failed",
    `${words[0]} in ${repository.commonDir}: ${run.stderr.trim()}`,
  );
}

/** git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES: a path with odd characters is given in double quotes, C style. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"`;
}
