/** An engine of the test's own, beside the machine's, that may be killed and started again. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Dockerode from "dockerode";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { recipeHash } from "../../daemon/sandbox/image-recipe.ts";
import { ownImageTarget } from "../../daemon/sandbox/image-ref.ts";
import { IMAGES, SOCKET } from "../docker/rig.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/engine", import.meta.url));

export class OwnEngine {
  // Short: a socket's path may have 107 bytes.
  readonly #state = mkdtempSync(join(tmpdir(), "re-"));
  readonly socket = join(this.#state, "docker.sock");

  /** With the base image, taken over from the machine's engine. */
  async start(): Promise<void> {
    this.#script("start");
    await buildImage({
      name: "base",
      imagesDir: IMAGES,
      store: new DockerEngine(SOCKET),
      onProgress: () => undefined,
    });
    const { repository, tag } = ownImageTarget("base", await recipeHash(join(IMAGES, "base")));
    const tar = await new Dockerode({ socketPath: SOCKET }).getImage(`${repository}:${tag}`).get();
    const loaded = await new Dockerode({ socketPath: this.socket }).loadImage(tar);
    for await (const _ of loaded) {
      // Its words do not matter; the image does.
    }
  }

  /** As a crash of it, or as its service stops it. */
  end(how: "kill" | "stop"): void {
    if (how === "stop") {
      this.#script("stop");
      return;
    }
    const [pid] = readFileSync(join(this.#state, "dockerd.started"), "utf8").split(" ");
    process.kill(Number(pid), "SIGKILL");
    // Its own files would have the next one believe that it is still there.
    for (const file of ["dockerd.started", "dockerd.pid"])
      rmSync(join(this.#state, file), { force: true });
  }

  startAgain(): void {
    this.#script("start");
  }

  close(): void {
    this.#script("stop");
    // An engine that was killed leaves keepers and mounts of containers that its successor never started.
    for (const line of execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split(
      "\n",
    )) {
      const [, pid, args = ""] = /^ *(\d+) (.*)$/.exec(line) ?? [];
      if (args.includes(` ${this.#state}/`)) process.kill(Number(pid), "SIGKILL");
    }
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    for (const line of mounts.reverse()) {
      const target = line.split(" ")[1] ?? "";
      if (target.startsWith(`${this.#state}/`)) spawnSync("umount", ["--lazy", target]);
    }
    rmSync(this.#state, { recursive: true, force: true });
  }

  #script(command: string): void {
    const { status, stderr } = spawnSync("bash", [SCRIPT, command], {
      env: {
        ...process.env,
        RECINTO_ENGINE_SOCKET: this.socket,
        RECINTO_ENGINE_STATE: this.#state,
      },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`engine ${command}: ${stderr}`);
  }
}
