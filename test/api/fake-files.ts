/** Files in memory behind the API, so that what travels is tested alone. */
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { RecintoError } from "../../daemon/errors.ts";
import type { Verdict } from "../../daemon/policy/types.ts";
import type { FileCall, FileCalls } from "../../daemon/supervisor/files/file-calls.ts";
import type { Caller } from "../../daemon/supervisor/types.ts";

const ENTRY = { kind: "file", mode: "644", mtimeMs: 7, uid: 1, gid: 1 } as const;

export class FakeFiles implements FileCalls {
  readonly content = new Map<string, Buffer>();
  /** Every call with its request, in order. */
  readonly calls: { readonly name: string; readonly call: FileCall; readonly request: object }[] =
    [];
  /** Streams that were closed. */
  closed = 0;
  /** What the next calls do first. */
  before: (call: FileCall) => Promise<void> | void = () => {};

  async check(_caller: Caller, _session: string, { path }: { path: string }): Promise<Verdict> {
    return {
      verdict: path.includes("secret") ? "deny" : path.startsWith("/etc/") ? "ask" : "allow",
      effects: ["read"],
      classes: ["read"],
      roots: [],
      segments: [],
      reason: `about ${path}`,
      bindTo: [],
    };
  }

  async read(call: FileCall, request: Parameters<FileCalls["read"]>[1]) {
    const { path, offset = 0, length } = request;
    const whole = await this.#find("read", call, request);
    const part = whole.subarray(offset, length === undefined ? undefined : offset + length);
    async function* bytes() {
      for (let at = 0; at < part.length; at += 65_536) yield part.subarray(at, at + 65_536);
    }
    return {
      path,
      size: whole.length,
      mode: "644",
      mtimeMs: 7,
      offset,
      length: part.length,
      bytes: bytes(),
      close: async () => {
        this.closed += 1;
      },
    };
  }

  async stat(call: FileCall, request: Parameters<FileCalls["stat"]>[1]) {
    const { length } = await this.#find("stat", call, request);
    return { ...ENTRY, name: request.path, size: length };
  }

  async list(call: FileCall, request: Parameters<FileCalls["list"]>[1]) {
    await this.#note("list", call, request);
    const entries = [...this.content].map(([name, { length }]) => ({
      ...ENTRY,
      name,
      size: length,
    }));
    return { entries, total: entries.length, next: null };
  }

  async write(
    call: FileCall,
    request: Parameters<FileCalls["write"]>[1],
    content: AsyncIterable<Uint8Array>,
  ) {
    await this.#note("write", call, request);
    const bytes = await buffer(content);
    this.content.set(request.path, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { path: request.path, bytes: bytes.length, size: bytes.length, sha256 };
  }

  async mkdir(call: FileCall, request: object) {
    await this.#note("mkdir", call, request);
    return { made: 1 };
  }

  async remove(call: FileCall, request: { readonly path: string }) {
    await this.#find("remove", call, request);
    this.content.delete(request.path);
    return { removed: 1 };
  }

  async move(call: FileCall, request: { readonly from: string; readonly to: string }) {
    await this.#note("move", call, request);
    return { from: request.from, to: request.to };
  }

  async patch(call: FileCall, request: object) {
    await this.#note("patch", call, request);
    return { files: [{ path: "a", change: "changed", sha256: null }] as const };
  }

  async pack(call: FileCall, request: { readonly path: string }) {
    const whole = await this.#find("pack", call, request);
    async function* archive() {
      yield whole;
    }
    return {
      path: request.path,
      archive: archive(),
      packed: { entries: 3, bytes: 1, leftOut: 2 },
      close: async () => {
        this.closed += 1;
      },
    };
  }

  async unpack(call: FileCall, request: object, archive: AsyncIterable<Uint8Array>) {
    await this.#note("unpack", call, request);
    return { entries: 1, bytes: (await buffer(archive)).length };
  }

  async #note(name: string, call: FileCall, request: object): Promise<void> {
    this.calls.push({ name, call, request });
    await this.before(call);
  }

  async #find(name: string, call: FileCall, request: { readonly path: string }): Promise<Buffer> {
    await this.#note(name, call, request);
    const found = this.content.get(request.path);
    if (found === undefined) throw new RecintoError("file-not-found", `no ${request.path}`);
    return found;
  }
}
