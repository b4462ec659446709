/** What a profile calls its image → the content id that a sandbox is pinned to. */
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import type { ImageInfo, ImageStore } from "./engine.ts";
import { recipeHash } from "./image-recipe.ts";

/** Images that are built from `images/NAME/`. */
const OWN = /^recinto\/([a-z0-9][a-z0-9-]{0,62})$/;
const ID = /^sha256:[0-9a-f]{64}$/;
const DIGEST = /@sha256:[0-9a-f]{64}$/;
const TAG = /:([A-Za-z0-9_][A-Za-z0-9._-]*)$/;

/**
 * `recinto/NAME` is the image of today's recipe in `images/NAME/`; anything else is a local id, a digest, or a name with
 * a tag other than `latest`, on this machine. Throws `bad-profile` for what is not pinned, `image-missing`.
 */
export async function resolveImage(
  store: Pick<ImageStore, "image">,
  ref: string,
  imagesDir: string,
): Promise<ImageInfo> {
  const own = OWN.exec(ref)?.[1];
  if (own !== undefined) return ownImage(store, own, imagesDir);
  const tag = TAG.exec(ref)?.[1];
  if (!ID.test(ref) && !DIGEST.test(ref) && (tag === undefined || tag === "latest")) {
    throw new RecintoError("bad-profile", `image ${ref} means latest, which moves`, {
      hint: `name its id: docker image inspect --format '{{.Id}}' ${ref}`,
    });
  }
  const image = await store.image(ref);
  if (image !== null) return image;
  throw new RecintoError("image-missing", `image ${ref} is not on this machine`, {
    hint: "load it into the engine (docker load, docker pull), or name another in the profile",
  });
}

/** Where the image of a recipe is found once it is built. */
export function ownImageTarget(name: string, hash: string): { repository: string; tag: string } {
  return { repository: `recinto/${name}`, tag: hash.slice(0, 16) };
}

async function ownImage(
  store: Pick<ImageStore, "image">,
  name: string,
  imagesDir: string,
): Promise<ImageInfo> {
  const { repository, tag } = ownImageTarget(name, await recipeHash(join(imagesDir, name)));
  const image = await store.image(`${repository}:${tag}`);
  if (image !== null) return image;
  throw new RecintoError("image-missing", `image ${repository}:${tag} is not built yet`, {
    hint: `build it with: recinto image build ${name}`,
  });
}
