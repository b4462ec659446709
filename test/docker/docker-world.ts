/** The supervisor's world with real containers in it: the engine, the base image, and the removal of what was made. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { machineClock } from "../../daemon/sandbox/clock.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { Sandboxes } from "../../daemon/sandbox/sandboxes.ts";
import { LABELS } from "../../daemon/sandbox/spec.ts";
import type { Supervisor } from "../../daemon/supervisor/supervisor-interface.ts";
import { OWNER, World } from "../supervisor/world.ts";
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

  /** Command lines of what runs in a project's sandbox, seen from the engine's side; none, when there is no sandbox. */
  async processes(project = "web"): Promise<string> {
    const [box] = await this.containers(project);
    if (box === undefined) return "";
    const process = await this.engine.exec(box.id, {
      argv: ["/bin/ps", "-eo", "args"],
      cwd: "/",
      env: {},
      user: { uid: OWNER, gid: OWNER },
      stdin: false,
    });
    const lines = (await buffer(process.stdout)).toString();
    // Without itself in its answer it has not looked, and nothing may be said to be gone.
    if (!lines.includes("ps -eo args")) throw new Error(`ps told nothing: ${lines}`);
    return lines;
  }
}
