/** `recinto image`: the images that sandboxes are made from, built on this machine without a registry. */
import { Command } from "commander";
import { print, table, visible } from "./terminal-text.ts";

export function imageCommand(): Command {
  const build = new Command("build")
    .description("build an image from its recipe; nothing happens when it is there already")
    .argument("<name>", "a folder of images/")
    .action(async (name: string, _options, command: Command) => {
      const { openStore, IMAGES_DIR } = await import("./image-store.ts");
      const { buildImage } = await import("../sandbox/image-build.ts");
      const built = await buildImage({
        name,
        imagesDir: IMAGES_DIR,
        store: await openStore(command),
        onProgress: (line) => process.stderr.write(`${visible(line)}\n`),
      });
      print(`${built.ref} ${built.id}${built.how === "none" ? " (was there already)" : ""}\n`);
    });
  const list = new Command("list")
    .description("the recipes there are, and which of them are built")
    .action(async (_options, command: Command) => {
      const { listImages, openStore } = await import("./image-store.ts");
      const rows = await listImages(await openStore(command));
      print(table(["IMAGE", "SIZE", "ID"], rows));
    });
  const prune = new Command("prune")
    .description("remove images of recipes that have changed since; what a sandbox uses stays")
    .option("--dry-run", "name them, and remove nothing")
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { openStore, IMAGES_DIR } = await import("./image-store.ts");
      const { pruneImages } = await import("../sandbox/image-prune.ts");
      const pruned = await pruneImages(await openStore(command), IMAGES_DIR, { dryRun });
      if (pruned.length === 0) return print("no image of a recipe that has changed\n");
      const what = (removed: boolean) => (removed ? "removed" : dryRun ? "stale" : "in use");
      const rows = pruned.map(({ ref, sizeBytes, removed }) => [
        ref,
        `${Math.round(sizeBytes / 1_000_000)} MB`,
        what(removed),
      ]);
      print(table(["IMAGE", "SIZE", ""], rows));
    });
  return new Command("image")
    .description("the images that sandboxes are made from")
    .addCommand(build)
    .addCommand(list)
    .addCommand(prune);
}
