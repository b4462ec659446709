/** Makes an image's root file system from Debian packages, without any registry. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { RecintoError } from "../errors.ts";
import type { AptSettings } from "./apt-sources.ts";
import type { ImageRecipe } from "./image-recipe.ts";

/** How the machine reaches its mirror is nothing that a sandbox should know. */
const FORGET_MIRROR = 'rm -rf "$1"/etc/apt/sources.list* "$1/etc/apt/apt.conf.d/99mmdebstrap"';

/** The words of mmdebstrap for a recipe; the root file system comes out as a tar on standard output. */
export function mmdebstrapArgs(recipe: ImageRecipe, apt: AptSettings): readonly string[] {
  // Without configured packages there is no system to customize; the hook after unpacking is the last one then.
  const hook = recipe.variant === "extract" ? "--extract-hook" : "--customize-hook";
  return [
    `--variant=${recipe.variant}`,
    `--include=${recipe.packages.join(",")}`,
    "--aptopt=Acquire::Languages none",
    ...apt.options.map((option) => `--aptopt=${option}`),
    ...recipe.exclude.map((path) => `--dpkgopt=path-exclude=${path}`),
    ...recipe.customize.map((command) => `${hook}=${command}`),
    `${hook}=${FORGET_MIRROR}`,
    "--format=tar",
    recipe.suite,
    "-",
    ...apt.sources,
  ];
}

/** The tar, streamed as it is made. It ends only when all went well; else it is destroyed with `image-build-failed`. */
export function mmdebstrap(
  recipe: ImageRecipe,
  apt: AptSettings,
  onProgress: (line: string) => void,
): Readable {
  const tar = new PassThrough();
  const child = spawn("mmdebstrap", mmdebstrapArgs(recipe, apt), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(tar, { end: false });
  createInterface({ input: child.stderr }).on("line", onProgress);
  child.on("error", (cause: NodeJS.ErrnoException) => {
    const missing = cause.code === "ENOENT";
    const message = missing ? "mmdebstrap is not installed" : `mmdebstrap failed: ${cause.message}`;
    const hint = missing ? "./scripts/engine tools installs it on Debian" : undefined;
    tar.destroy(new RecintoError("image-build-failed", message, { cause, ...(hint && { hint }) }));
  });
  child.on("close", (code, signal) => {
    if (code === 0) return void tar.end();
    tar.destroy(new RecintoError("image-build-failed", `mmdebstrap ended with ${code ?? signal}`));
  });
  tar.on("close", () => child.kill());
  return tar;
}
