/** Images of recipes that have changed are removed, those in use and those of today stay. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Dockerode from "dockerode";
import { afterAll, describe, expect, test } from "vitest";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { pruneImages } from "../../daemon/sandbox/image-prune.ts";
import { SOCKET, whyNot } from "./rig.ts";

const missing = await whyNot();

describe.skipIf(missing)("pruning images", () => {
  const engine = new DockerEngine(SOCKET);
  const docker = new Dockerode({ socketPath: SOCKET });
  const imagesDir = mkdtempSync(join(tmpdir(), "recinto-images-"));
  const name = `prune-${process.pid}`;
  const refs: string[] = [];
  let container: Dockerode.Container | undefined;

  /** The image of the recipe as it is with these words in it. From nothing: no package is needed. */
  async function build(words: string): Promise<string> {
    mkdirSync(join(imagesDir, name), { recursive: true });
    writeFileSync(
      join(imagesDir, name, "Dockerfile"),
      `FROM ${await base()}\nENV WORDS=${words}\n`,
    );
    const { ref } = await buildImage({ name, imagesDir, store: engine, onProgress: () => {} });
    refs.push(ref);
    return ref;
  }

  async function base(): Promise<string> {
    const [{ ref } = { ref: "" }] = await engine.ownImages("base");
    return ref;
  }

  afterAll(async () => {
    await container?.remove({ force: true });
    for (const ref of refs) await engine.removeImage(ref);
    rmSync(imagesDir, { recursive: true });
  });

  test("the one of today stays, one that is used stays until it is not, the others go", async () => {
    const [first, second, third] = [await build("one"), await build("two"), await build("three")];
    container = await docker.createContainer({ Image: second, Cmd: ["true"] });
    const pruned = async (dryRun: boolean) =>
      (await pruneImages(engine, imagesDir, { dryRun }))
        .map(({ ref, removed }) => [ref, removed])
        .sort();
    expect(await pruned(true)).toEqual(
      [
        [first, false],
        [second, false],
      ].sort(),
    );
    expect(await pruned(false)).toEqual(
      [
        [first, true],
        [second, false],
      ].sort(),
    );
    expect(await pruned(false)).toEqual([[second, false]]);
    await container.remove();
    container = undefined;
    expect(await pruned(false)).toEqual([[second, true]]);
    expect((await engine.ownImages(name)).map(({ ref }) => ref)).toEqual([third]);
  }, 120_000);
});
