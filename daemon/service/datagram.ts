/** One datagram to a Unix socket, which Node has no call for: what systemd and its journal listen to. */
import koffi from "koffi";
import { RecintoError } from "../errors.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** Bytes of `sun_path` in <sys/un.h>. */
const PATH_BYTES_MAX = 108;

const libc = koffi.load(null);
const makeSocket = libc.func("int socket(int domain, int type, int protocol)");
const closeSocket = libc.func("int close(int fd)");
const sendTo = libc.func(
  "long sendto(int fd, const void *data, size_t size, int flags, const void *address, uint32_t length)",
);

/** Sends to one address; never waits, since whoever does not listen must not hold the daemon up. */
export class Datagrams {
  readonly #address: Buffer;
  readonly #fd: number;

  /** `path` is absolute, or begins with `@` for a name that is no file. Throws `bad-config` where it is neither, or too long. */
  constructor(path: string) {
    if (!/^[/@]/.test(path)) throw unfit(`not the address of a Unix socket: ${path}`);
    const name = Buffer.from(path);
    if (name.length >= PATH_BYTES_MAX) throw unfit(`too long for a Unix socket: ${path}`);
    if (path.startsWith("@")) name[0] = 0;
    // sun_family in the machine's order, which is little endian wherever Node runs beside Docker.
    const family = Buffer.from([AF_UNIX, 0]);
    const end = path.startsWith("@") ? [] : [0];
    this.#address = Buffer.concat([family, name, Buffer.from(end)]);
    this.#fd = makeSocket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (this.#fd < 0) throw unfit(`no socket can be made: error ${koffi.errno()}`);
  }

  /** False: nobody took it, or it is too large. */
  send(data: Buffer): boolean {
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    const { length } = this.#address;
    return sendTo(this.#fd, data, data.length, flags, this.#address, length) === data.length;
  }

  close(): void {
    closeSocket(this.#fd);
  }
}

function unfit(message: string): RecintoError {
  return new RecintoError("bad-config", message, {
    hint: "let the unit's manager set NOTIFY_SOCKET, or start recintod without it",
  });
}
