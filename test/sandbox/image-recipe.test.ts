/** Recipes: their hash names the image, their packages come from where the machine's do. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { debianSources, transportOptions } from "../../daemon/sandbox/apt-sources.ts";
import { dockerfileBases } from "../../daemon/sandbox/image-build.ts";
import { readRecipe, recipeHash } from "../../daemon/sandbox/image-recipe.ts";
import { mmdebstrapArgs } from "../../daemon/sandbox/mmdebstrap.ts";

const SHIPPED = new URL("../../images/", import.meta.url).pathname;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recinto-recipe-"));
  writeFileSync(join(folder, "image.yaml"), "suite: bookworm\npackages: [bash]\n");
  return () => rmSync(folder, { recursive: true });
});

describe("the hash of a recipe", () => {
  test.each<[string, () => void]>([
    ["a changed file", () => writeFileSync(join(folder, "image.yaml"), "suite: bookworm\n")],
    ["a file more", () => writeFileSync(join(folder, "x"), "")],
    [
      "a file in a folder",
      () => {
        mkdirSync(join(folder, "d"));
        writeFileSync(join(folder, "d/x"), "");
      },
    ],
    ["a file that is now executable", () => chmodSync(join(folder, "image.yaml"), 0o755)],
  ])("changes with %s", async (_, change) => {
    const before = await recipeHash(folder);
    expect(await recipeHash(folder)).toBe(before);
    change();
    expect(await recipeHash(folder)).not.toBe(before);
  });

  test("is not taken over links, which could lead anywhere", async () => {
    symlinkSync("/etc/passwd", join(folder, "link"));
    await expect(recipeHash(folder)).rejects.toThrow("is not a plain file");
  });

  test("of nothing is image-missing", async () => {
    await expect(recipeHash(join(folder, "none"))).rejects.toMatchObject({ code: "image-missing" });
  });
});

test("an error in image.yaml names line and column", async () => {
  writeFileSync(join(folder, "image.yaml"), "suite: bookworm\npackages:\n  - Bad Name\n");
  await expect(readRecipe(folder)).rejects.toThrow(/image\.yaml:3:5: .*must be a Debian package/);
});

test("the shipped Dockerfile and image.yaml install the same", async () => {
  const { readFileSync } = await import("node:fs");
  const { packages, suite } = await readRecipe(join(SHIPPED, "base"));
  const dockerfile = readFileSync(join(SHIPPED, "base/Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const installed = /--no-install-recommends([^&]+)/.exec(dockerfile)?.[1]?.trim().split(/\s+/);
  expect(installed).toEqual(packages);
  expect(dockerfileBases(dockerfile)).toEqual([`debian:${suite}-slim`]);
});

test("bases of a Dockerfile are its FROM lines, without its own stages", () => {
  const text =
    "from a:1 as build\nFROM --platform=x b AS two\nFROM two\nFROM scratch\nRUN echo FROM c\n";
  expect(dockerfileBases(text)).toEqual(["a:1", "b"]);
});

describe("sources of packages", () => {
  const line = (...fields: string[]) => fields.join("\t");

  test("are the machine's own Debian ones, for the suite of the recipe", () => {
    const targets = [
      line("http://mirror.test/debian/", "trixie", "main", "/k.gpg"),
      line("http://mirror.test/debian/", "trixie-updates", "main", "$(SIGNED_BY)"),
      line("http://mirror.test/debian/", "trixie", "contrib", "$(SIGNED_BY)"),
      line("http://mirror.test/security/", "trixie-security", "main", ""),
      line("http://elsewhere.test/", "nodistro", "main", ""),
      line("http://elsewhere.test/", "tool-trixie", "main", ""),
      "",
    ].join("\n");
    expect(debianSources(targets, "trixie", "bookworm")).toEqual([
      "deb [signed-by=/k.gpg] http://mirror.test/debian/ bookworm main",
      "deb http://mirror.test/debian/ bookworm-updates main",
      "deb http://mirror.test/security/ bookworm-security main",
    ]);
  });

  test("a proxy of the machine is used, its other settings are not", () => {
    const dump = [
      'Acquire::http::Proxy "http://proxy.test:3142";',
      'Acquire::https::Verify-Peer "true";',
      'Acquire::http::Proxy-Auto-Detect "";',
      'APT::Update::Post-Invoke:: "rm -f /x";',
      'Dir "/";',
    ].join("\n");
    expect(transportOptions(dump)).toEqual(dump.split("\n").slice(0, 3));
  });

  test("do not stay in the image", async () => {
    const recipe = await readRecipe(folder);
    const args = mmdebstrapArgs(recipe, {
      sources: ["deb http://m.test/ bookworm main"],
      options: [],
    });
    expect(args.slice(-3)).toEqual(["bookworm", "-", "deb http://m.test/ bookworm main"]);
    expect(args.filter((word) => word.startsWith("--customize-hook=")).at(-1)).toContain(
      "apt/sources.list",
    );
  });
});
