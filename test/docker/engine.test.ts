/** The Docker adapter against a real engine, one that is away, one that hangs; and images both ways. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Dockerode from "dockerode";
import { afterAll, describe, expect, test } from "vitest";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { resolveImage } from "../../daemon/sandbox/image-ref.ts";
import { IMAGES, SOCKET, whyNot } from "./rig.ts";

const missing = await whyNot();
const base = mkdtempSync(join(tmpdir(), "recinto-engine-"));
afterAll(() => rmSync(base, { recursive: true }));

describe.skipIf(missing)("an engine that is away", () => {
  test("is one clear error, and is used again as soon as it answers", async () => {
    const socket = join(base, "engine.sock");
    const engine = new DockerEngine(socket);
    await expect(engine.info()).rejects.toMatchObject({
      code: "engine-unreachable",
      message: `the container engine does not answer at ${socket} (ENOENT)`,
    });
    await expect(engine.list({})).rejects.toMatchObject({ code: "engine-unreachable" });
    symlinkSync(SOCKET, socket);
    expect((await engine.info()).name).toBe("docker");
  });

  test("that takes the request and never answers is unreachable after its time", async () => {
    const socket = join(base, "hangs.sock");
    const server = createServer(() => {}).listen(socket);
    await new Promise((resolve) => server.once("listening", resolve));
    const engine = new DockerEngine(socket, { timeoutMs: 100 });
    await expect(engine.status("x")).rejects.toMatchObject({ code: "engine-unreachable" });
    server.close();
  });

  test("is not looked for where DOCKER_HOST points", async () => {
    process.env.DOCKER_HOST = "tcp://127.0.0.1:1";
    expect((await new DockerEngine(SOCKET).info()).name).toBe("docker");
    delete process.env.DOCKER_HOST;
  });
});

describe.skipIf(missing)("what is not there", () => {
  const engine = new DockerEngine(SOCKET);
  const none = "f".repeat(64);
  test("is null, or already so", async () => {
    expect([await engine.image("recinto/none:x"), await engine.status(none)]).toEqual([null, null]);
    await engine.remove(none);
  });
  test("fails by name where it was needed", async () => {
    await expect(engine.start(none)).rejects.toMatchObject({
      code: "engine-failed",
      message: expect.stringContaining("start sandbox ffffffffffff"),
    });
  });
});

describe.skipIf(missing)("images", () => {
  const engine = new DockerEngine(SOCKET);
  const docker = new Dockerode({ socketPath: SOCKET });
  const name = `test-${Date.now().toString(36)}`;
  const built: string[] = [];
  afterAll(async () => {
    for (const ref of built.reverse()) await docker.getImage(ref).remove({ force: true });
  });

  async function build(image: string, progress: string[] = []) {
    const onProgress = (line: string) => progress.push(line);
    const result = await buildImage({ name: image, imagesDir: base, store: engine, onProgress });
    if (result.how !== "none") built.push(result.ref);
    return result;
  }

  test("are built from Debian packages without a registry, once", async () => {
    cpSync(join(IMAGES, "tiny"), join(base, name), { recursive: true });
    await expect(resolveImage(engine, `recinto/${name}`, base)).rejects.toMatchObject({
      code: "image-missing",
      hint: `build it with: recinto image build ${name}`,
    });
    const progress: string[] = [];
    const first = await build(name, progress);
    expect([first.how, progress.length > 3]).toEqual(["packages", true]);
    expect(await build(name)).toEqual({ ...first, how: "none" });
    expect((await resolveImage(engine, `recinto/${name}`, base)).id).toBe(first.id);
    const { Config } = await docker.getImage(first.id).inspect();
    expect([Config.Env, Config.Labels["io.recinto.image"]]).toEqual([["PATH=/bin"], name]);
  });

  test("a changed recipe is another image", async () => {
    writeFileSync(join(base, name, "note"), "changed");
    await expect(resolveImage(engine, `recinto/${name}`, base)).rejects.toMatchObject({
      code: "image-missing",
    });
  });

  test("are built by docker build where the base is on this machine", async () => {
    const recipe = join(base, `${name}-on-top`);
    mkdirSync(recipe);
    writeFileSync(join(recipe, "hello"), "from a recipe");
    writeFileSync(join(recipe, "Dockerfile"), `FROM ${built[0]}\nCOPY hello /hello\n`);
    const progress: string[] = [];
    const { how, ref } = await build(`${name}-on-top`, progress);
    expect([how, progress.some((line) => line.includes("COPY hello"))]).toEqual([
      "docker-build",
      true,
    ]);
    expect(ref).toMatch(new RegExp(`^recinto/${name}-on-top:[0-9a-f]{16}$`));
  });

  test.each<[string, string, string]>([
    ["Dockerfile", `FROM BASE\nCOPY nothing-like-this /x\n`, "nothing-like-this"],
    [
      "image.yaml",
      "suite: bookworm\nvariant: extract\npackages: [busybox-static]\ncustomize: [exit 7]\n",
      "mmdebstrap ended with",
    ],
  ])("%s that fails is an error and leaves no image", async (file, text, message) => {
    const recipe = join(base, `${name}-bad-${file === "Dockerfile" ? "docker" : "packages"}`);
    mkdirSync(recipe);
    writeFileSync(join(recipe, file), text.replace("BASE", built[0] ?? ""));
    const image = recipe.slice(base.length + 1);
    await expect(build(image)).rejects.toMatchObject({
      code: "image-build-failed",
      message: expect.stringContaining(message),
    });
    await expect(resolveImage(engine, `recinto/${image}`, base)).rejects.toMatchObject({
      code: "image-missing",
    });
  });

  test.each(["../base", "", "a/b", "A"])("the name %j is refused", async (bad) => {
    await expect(build(bad)).rejects.toMatchObject({ code: "bad-request" });
  });
});
