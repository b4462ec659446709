/** A Unix socket that takes datagrams, as the service manager's and the journal's do. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import koffi from "koffi";

const libc = koffi.load(null);
const makeSocket = libc.func("int socket(int domain, int type, int protocol)");
const bind = libc.func("int bind(int fd, const void *address, uint32_t length)");
const receive = libc.func("long recv(int fd, _Out_ void *data, size_t size, int flags)");
const closeSocket = libc.func("int close(int fd)");
const MSG_DONTWAIT = 0x40;

export class Receiver {
  readonly #folder = mkdtempSync(join(tmpdir(), "rn-"));
  readonly path = join(this.#folder, "socket");
  readonly #fd = makeSocket(1, 2, 0);

  constructor() {
    const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(`${this.path}\0`)]);
    if (bind(this.#fd, address, address.length) !== 0) throw new Error("bind");
  }

  /** What has come so far, each datagram once. */
  all(): Buffer[] {
    const got: Buffer[] = [];
    for (;;) {
      const data = Buffer.alloc(256 * 1024);
      const size = receive(this.#fd, data, data.length, MSG_DONTWAIT);
      if (size < 0) return got;
      got.push(data.subarray(0, size));
    }
  }

  close(): void {
    closeSocket(this.#fd);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
