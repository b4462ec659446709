/** The supervisor's world with real containers in it: the engine, the base image, and the removal of what was made. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { machineClock } from "../../daemon/sandbox/clock.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { Sandboxes } from "../../daemon/sandbox/sandboxes.ts";
import { LABELS } from "../../daemon/sandbox/spec.ts";
import type { Supervisor } from "../../daemon/supervisor/supervisor-interface.ts";
import { World } from "../supervisor/world.ts";
import { IMAGES, PROGRAM, SOCKET } from "./rig.ts";

export class DockerWorld extends World {
  readonly engine = new DockerEngine(SOCKET);
  readonly owner = `test-${randomBytes(6).toString("hex")}`;
  /** What a test's sandboxes have besides, or otherwise. */
  sandboxes: Partial<ConstructorParameters<typeof Sandboxes>[0]> = {};

  override openSandboxes: World["openSandboxes"] = (hooks) =>
    new Sandboxes({
      engine: this.engine,
      owner: this.owner,
      imagesDir: IMAGES,
      clock: machineClock,
      runner: { program: PROGRAM, socketsDir: join(this.folder, "runners") },
      ...this.sandboxes,
      ...hooks,
    });

  override async start(): Promise<Supervisor> {
    const store = this.engine;
    await buildImage({ name: "base", imagesDir: IMAGES, store, onProgress: console.log });
    return super.start();
  }

  override async end(): Promise<void> {
    await super.end();
    for (const { id } of await this.containers()) await this.engine.remove(id);
  }

  /** Its own, of all projects or of one. */
  containers(project?: string) {
    const wanted = project === undefined ? {} : { [LABELS.project]: project };
    return this.engine.list({ [LABELS.owner]: this.owner, ...wanted });
  }
}
