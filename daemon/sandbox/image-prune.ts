/** Images of recipes as they were: what sandboxes were made from before a recipe changed, and nothing uses any more. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImageShelf, OwnImage } from "./engine.ts";
import { recipeHash } from "./image-recipe.ts";
import { ownImageTarget } from "./image-ref.ts";

export interface PrunedImage extends OwnImage {
  /** false: a sandbox still uses it, or it was only looked at. */
  readonly removed: boolean;
}

/**
 * Removes, or with `dryRun` only names, each image whose recipe is here and says something else by now. Images of recipes
 * that are not here may be another checkout's, and stay.
 */
export async function pruneImages(
  shelf: ImageShelf,
  imagesDir: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<readonly PrunedImage[]> {
  const pruned: PrunedImage[] = [];
  const entries = await readdir(imagesDir, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const { repository, tag } = ownImageTarget(name, await recipeHash(join(imagesDir, name)));
    for (const image of await shelf.ownImages(name)) {
      if (image.ref === `${repository}:${tag}`) continue;
      const removed = !dryRun && (await shelf.removeImage(image.ref));
      pruned.push({ ...image, removed });
    }
  }
  return pruned;
}
