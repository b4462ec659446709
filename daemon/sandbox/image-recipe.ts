/** The recipe of an image: the files of `images/NAME/`, what image.yaml says, and the hash of it all. */
import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { parseAdminYaml } from "../settings/admin-yaml.ts";

const packageName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9+.-]+$/, { error: "must be a Debian package" });

const recipeSchema = z.strictObject({
  description: z.string().max(1024).default(""),
  suite: z
    .string()
    .regex(/^[a-z]+$/, { error: "must be the code name of a Debian release" })
    .describe("Debian release the packages come from."),
  variant: z
    .enum(["minbase", "extract"])
    .default("minbase")
    .describe("minbase: a small Debian. extract: only the packages' files, nothing is configured."),
  packages: z.array(packageName).min(1).describe("Debian packages."),
  exclude: z.array(z.string().startsWith("/")).default([]).describe("Paths left out, with globs."),
  customize: z
    .array(z.string())
    .default([])
    .describe("Shell commands run at the end; $1 is the root folder of the image."),
  env: z.record(z.string(), z.string()).default({}).describe("Environment of the image."),
});

export type ImageRecipe = z.output<typeof recipeSchema>;

/** Throws `image-missing` when there is no such recipe, `bad-config` with line and column. */
export async function readRecipe(folder: string): Promise<ImageRecipe> {
  await recipeFiles(folder);
  // A recipe is part of the program, as trusted as the code beside it: no ownership rules here.
  const file = join(folder, "image.yaml");
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new RecintoError("bad-config", `${file} cannot be read`, { cause });
  });
  return parseAdminYaml(text, file, recipeSchema, "bad-config").value;
}

/** SHA-256, hex, over the names, modes and contents of all files of the recipe. */
export async function recipeHash(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of await recipeFiles(folder)) {
    const path = join(folder, name);
    const executable = ((await lstat(path)).mode & 0o111) !== 0;
    const content = await readFile(path);
    hash.update(JSON.stringify([name, executable, content.length])).update(content);
  }
  return hash.digest("hex");
}

/** Relative names, sorted. Links and other odd things are not files of a recipe: they are refused. */
async function recipeFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    const name = basename(folder);
    throw new RecintoError("image-missing", `there is no recipe for image ${name} in ${folder}`, {
      hint: "name one of the folders beside it, or a local image id in the profile",
    });
  });
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd !== undefined) {
    throw new RecintoError("bad-config", `${join(odd.parentPath, odd.name)} is not a plain file`, {
      hint: "a recipe holds plain files and folders only",
    });
  }
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
