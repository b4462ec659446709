/** The engine as a place of images, for commands that work without the daemon. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { RecintoError } from "../errors.ts";
import { DockerEngine } from "../sandbox/docker/docker-engine.ts";
import { resolveImage } from "../sandbox/image-ref.ts";
import { loadConfig } from "../settings/config.ts";
import { whereOf } from "./context.ts";

/** The recipes that come with the program: beside `daemon/` in a checkout, beside `dist/` once built. */
export const IMAGES_DIR = fileURLToPath(new URL("../../images/", import.meta.url));

export async function openStore(command: Command): Promise<DockerEngine> {
  const { configFile } = await whereOf(command);
  return new DockerEngine(loadConfig(configFile).engineSocket);
}

/** Rows of name, size and id; the last two say so when the recipe is not built as it stands now. */
export async function listImages(store: DockerEngine): Promise<string[][]> {
  const names = readdirSync(IMAGES_DIR, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const ref = `recinto/${name}`;
      try {
        const { id, sizeBytes } = await resolveImage(store, ref, IMAGES_DIR);
        return [ref, `${Math.round(sizeBytes / 1_000_000)} MB`, id];
      } catch (error) {
        if (!(error instanceof RecintoError) || error.code !== "image-missing") throw error;
        return [ref, "", `not built: recinto image build ${name}`];
      }
    }),
  );
}
