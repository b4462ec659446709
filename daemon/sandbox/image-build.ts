/** Builds the image of a recipe once: by `docker build` where its base is at hand, else from Debian packages. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pack } from "tar-fs";
import { RecintoError } from "../errors.ts";
import { machineAptSettings } from "./apt-sources.ts";
import type { ImageStore } from "./engine.ts";
import { type ImageRecipe, readRecipe, recipeHash } from "./image-recipe.ts";
import { ownImageTarget } from "./image-ref.ts";
import { mmdebstrap } from "./mmdebstrap.ts";

export interface BuildImageRequest {
  /** Folder below `imagesDir`. */
  readonly name: string;
  readonly imagesDir: string;
  readonly store: ImageStore;
  /** One line of text at a time, for people. */
  readonly onProgress: (line: string) => void;
}

export interface BuiltImage {
  /** `recinto/NAME:HASH` */
  readonly ref: string;
  readonly id: string;
  /** none: it was there already. */
  readonly how: "none" | "docker-build" | "packages";
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Errors: image-missing (no such recipe), bad-config, image-build-failed, engine-unreachable, engine-failed. */
export async function buildImage(request: BuildImageRequest): Promise<BuiltImage> {
  const { name, imagesDir, store, onProgress } = request;
  if (!NAME.test(name)) {
    throw new RecintoError("bad-request", `${JSON.stringify(name)} is not the name of an image`, {
      hint: "name one of the folders of images/",
    });
  }
  const folder = join(imagesDir, name);
  const hash = await recipeHash(folder);
  const target = ownImageTarget(name, hash);
  const ref = `${target.repository}:${target.tag}`;
  const there = await store.image(ref);
  if (there !== null) return { ref, id: there.id, how: "none" };

  const labels = { "io.recinto.image": name, "io.recinto.recipe": hash };
  const byDocker = await basesAreLocal(folder, store);
  if (byDocker) {
    onProgress(`building ${ref} with docker build`);
    await store.buildImage(pack(folder) as unknown as Readable, target, labels, onProgress);
  } else {
    onProgress(`building ${ref} from Debian packages`);
    const recipe = await readRecipe(folder);
    const tar = mmdebstrap(recipe, await machineAptSettings(recipe.suite), onProgress);
    await store.importImage(tar, target, imageChanges(recipe, labels), onProgress);
  }
  const built = await store.image(ref);
  if (built === null) throw new RecintoError("image-build-failed", `${ref} did not come about`);
  return { ref, id: built.id, how: byDocker ? "docker-build" : "packages" };
}

/** A Dockerfile can be used when every image it starts from is on this machine: nothing is ever pulled. */
async function basesAreLocal(folder: string, store: ImageStore): Promise<boolean> {
  const dockerfile = await readFile(join(folder, "Dockerfile"), "utf8").catch(() => null);
  if (dockerfile === null) return false;
  const bases = dockerfileBases(dockerfile);
  const found = await Promise.all(bases.map((base) => store.image(base)));
  return bases.length > 0 && found.every((image) => image !== null);
}

/** Images named by FROM, without stages of the file itself and `scratch`. */
export function dockerfileBases(dockerfile: string): string[] {
  const stages = new Set(["scratch"]);
  const bases: string[] = [];
  for (const [, base = "", stage] of dockerfile.matchAll(
    /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$/gim,
  )) {
    if (!stages.has(base.toLowerCase())) bases.push(base);
    if (stage !== undefined) stages.add(stage.toLowerCase());
  }
  return bases;
}

/** Dockerfile lines that an import takes along. JSON text is what Docker reads as a quoted value. */
function imageChanges(recipe: ImageRecipe, labels: Readonly<Record<string, string>>): string[] {
  const line = (word: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => `${word} ${name}=${JSON.stringify(value)}`);
  return [...line("ENV", recipe.env), ...line("LABEL", labels)];
}
