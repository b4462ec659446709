/** An engine in memory, for what does not need a real one; it keeps the order of the calls. */
import { statSync } from "node:fs";
import { PassThrough } from "node:stream";
import { RecintoError } from "../../daemon/errors.ts";
import type {
  Engine,
  ExecExit,
  ExecProcess,
  ExecSpec,
  ImageInfo,
  SandboxSpec,
  SandboxStatus,
} from "../../daemon/sandbox/engine.ts";

export const IMAGE_ID = `sha256:${"1".repeat(64)}`;

export class FakeEngine implements Engine {
  readonly calls: string[] = [];
  readonly sandboxes = new Map<string, SandboxStatus>();
  readonly images = new Map<string, ImageInfo>();
  readonly execs: { spec: ExecSpec; end: (exit: ExecExit) => void }[] = [];
  away = false;
  #made = 0;

  constructor() {
    this.addImage(IMAGE_ID);
  }

  addImage(ref: string, id = IMAGE_ID): void {
    this.images.set(ref, { id, createdAt: "", sizeBytes: 1 });
  }

  async info() {
    this.#call("info");
    return { name: "fake", version: "1", apiVersion: "1" };
  }

  async image(ref: string) {
    this.#call("image");
    return this.images.get(ref) ?? null;
  }

  async create(spec: SandboxSpec) {
    this.#call("create");
    const id = `s${++this.#made}`;
    // A real engine takes a while, in which others call.
    await new Promise((resolve) => setImmediate(resolve));
    this.sandboxes.set(id, {
      id,
      name: spec.name,
      state: "created",
      labels: spec.labels,
      image: spec.image,
    });
    return id;
  }

  async start(id: string) {
    this.#call(`start ${id}`);
    this.#set(id, "running");
  }

  async stop(id: string) {
    this.#call(`stop ${id}`);
    this.#set(id, "stopped");
  }

  async remove(id: string) {
    this.#call(`remove ${id}`);
    this.sandboxes.delete(id);
  }

  async status(id: string) {
    this.#call("status");
    return this.sandboxes.get(id) ?? null;
  }

  async list(labels: Readonly<Record<string, string>>) {
    this.#call("list");
    const wanted = Object.entries(labels);
    return [...this.sandboxes.values()].filter((sandbox) =>
      wanted.every(([name, value]) => sandbox.labels[name] === value),
    );
  }

  async exec(id: string, spec: ExecSpec): Promise<ExecProcess> {
    this.#call(`exec ${id}`);
    let end: (exit: ExecExit) => void = () => {};
    const exited = new Promise<ExecExit>((resolve) => {
      end = resolve;
    });
    this.execs.push({ spec, end });
    const stream = new PassThrough().end();
    return { stdin: null, stdout: stream, stderr: stream, exited, kill: async () => {} };
  }

  /** What is mounted is what lies there now; tests overwrite it to exchange a folder. */
  async identify(_id: string, paths: readonly string[]): Promise<readonly string[]> {
    this.#call("identify");
    return paths.map((path) => {
      const { dev, ino } = statSync(path, { bigint: true });
      return `${dev}:${ino}`;
    });
  }

  /** The calls since the last look that change something. */
  changes(): string[] {
    return this.calls.splice(0).filter((call) => /^(create|start|stop|remove|exec)/.test(call));
  }

  #set(id: string, state: SandboxStatus["state"]): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) throw new RecintoError("engine-failed", `no sandbox ${id}`);
    this.sandboxes.set(id, { ...sandbox, state });
  }

  #call(name: string): void {
    if (this.away) throw new RecintoError("engine-unreachable", "away");
    this.calls.push(name);
  }
}
