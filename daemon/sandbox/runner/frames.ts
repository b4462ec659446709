/** The runner's wire format: frames, and the specification of a command. The C side is frames.c and spec.c. */

/** u32 payload length, u8 type. */
export const FRAME_HEAD_BYTES = 5;
/** Largest payload in either direction; runner.h has the same bound. */
export const FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Input in flight that a minder will hold, and the largest input frame; runner.h and minder.c have the same bounds. */
export const STDIN_WINDOW_BYTES = 256 * 1024;
export const STDIN_FRAME_BYTES = 64 * 1024;
/** Linux's PATH_MAX, with the byte before the folder. */
export const FOLDER_BYTES_MAX = 4_097;
export const SECRET_BYTES = 32;
export const WAY_OUT_TOKEN_BYTES = 32;

export const FROM_RUNNER = {
  hello: "H".charCodeAt(0),
  started: "S".charCodeAt(0),
  failed: "F".charCodeAt(0),
  stdout: "o".charCodeAt(0),
  stderr: "e".charCodeAt(0),
  stdinTaken: "t".charCodeAt(0),
  folder: "d".charCodeAt(0),
  exited: "X".charCodeAt(0),
  gone: "G".charCodeAt(0),
} as const;

export const TO_RUNNER = {
  spec: "s".charCodeAt(0),
  stdin: "i".charCodeAt(0),
  stdinEnd: "z".charCodeAt(0),
  signal: "k".charCodeAt(0),
  resize: "w".charCodeAt(0),
} as const;

export const SIGNALS = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  KILL: 9,
  USR1: 10,
  USR2: 12,
  TERM: 15,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
};
export type RunnerSignal = keyof typeof SIGNALS;

/** What the kernel holds a command to. Computed from the verdict; see confinement.ts. */
export interface Confinement {
  /** Folders and files that may be written below, as the sandbox sees them. */
  readonly writable: readonly string[];
  /** No metadata changes, which Landlock does not see. */
  readonly readOnly: boolean;
  /** Sockets, and TCP inside the sandbox's own network, which has nothing but loopback. */
  readonly tcp: boolean;
  /** Its own way out of the sandbox; absent: nothing leaves. Runs under the runner's program only. */
  readonly wayOut?: WayOut;
}

export interface WayOut {
  /** The daemon's socket as the sandbox sees it, in a folder that its root alone can enter. */
  readonly socket: string;
  /** WAY_OUT_TOKEN_BYTES bytes that its connections show there. */
  readonly token: Uint8Array;
}

export interface RunnerCommand {
  readonly argv: readonly string[];
  /** Tried first, as bash would run these words; absent, or where that is not plainly possible: `argv`. */
  readonly direct?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Never 0: the runner refuses it too. */
  readonly user: { readonly uid: number; readonly gid: number };
  readonly stdin: boolean;
  readonly tty: { readonly rows: number; readonly columns: number } | null;
  /** null: the container is the only wall. */
  readonly confinement: Confinement | null;
  /** null: as the sandbox has them. */
  readonly openFiles: number | null;
  readonly fileBytes: number | null;
}

export function frame(type: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes[4] = type;
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [index, value] of values.entries())
    bytes.writeUInt16LE(Math.min(value, 65_535), 2 * index);
  return bytes;
}

export function resizeFrame(rows: number, columns: number): Buffer {
  return frame(TO_RUNNER.resize, u16(rows, columns));
}

/** Variables as fields, by the object that holds them: every command of a sandbox has the same. */
const encodedEnvs = new WeakMap<object, Buffer>();

function envFields(env: Readonly<Record<string, string>>): Buffer {
  const known = encodedEnvs.get(env);
  if (known !== undefined) return known;
  const fields = Object.entries(env).map(([name, value]) => textField("e", `${name}=${value}`));
  const encoded = Buffer.concat(fields);
  encodedEnvs.set(env, encoded);
  return encoded;
}

function field(tag: string, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(5 + value.length);
  bytes[0] = tag.charCodeAt(0);
  bytes.writeUInt32LE(value.length, 1);
  bytes.set(value, 5);
  return bytes;
}

function textField(tag: string, value: string): Buffer {
  return field(tag, Buffer.from(`${value}\0`));
}

/** Strings must hold no NUL: they end with one. `env` must not be changed once it was given here. */
export function specFrame(command: RunnerCommand): Buffer {
  const { argv, direct = [], env, cwd, user, stdin, tty, confinement } = command;
  const fields = [
    ...argv.map((word) => textField("a", word)),
    ...direct.map((word) => textField("p", word)),
    envFields(env),
    textField("d", cwd),
    field("u", u32(user.uid, user.gid)),
  ];
  if (stdin) fields.push(field("i", new Uint8Array(0)));
  if (tty !== null) fields.push(field("t", u16(tty.rows, tty.columns)));
  if (confinement !== null) {
    const { writable, readOnly, tcp, wayOut } = confinement;
    if (wayOut !== undefined) {
      fields.push(field("n", Buffer.concat([wayOut.token, Buffer.from(`${wayOut.socket}\0`)])));
    }
    fields.push(field("c", Buffer.from([readOnly ? 1 : 0, tcp ? 1 : 0])));
    fields.push(...writable.map((path) => textField("w", path)));
  }
  fields.push(field("l", u32(Math.ceil((command.fileBytes ?? 0) / 1024), command.openFiles ?? 0)));
  return frame(TO_RUNNER.spec, Buffer.concat(fields));
}

/** How a command ended, from its wait status: a signal counts as 128 + its number, as in a shell. */
export function exitCodeOf(waitStatus: number): number {
  const signal = waitStatus & 0x7f;
  return signal === 0 ? (waitStatus >> 8) & 0xff : 128 + signal;
}
