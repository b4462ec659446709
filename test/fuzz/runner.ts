/** Sessions that no daemon would have with a minder, for its C code built with sanitizers: first those of stored seeds. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FROM_RUNNER, frame, TO_RUNNER, u32 } from "../../daemon/sandbox/runner/frames.ts";
import { Random } from "./random.ts";

/** Each reaches another part: a tail of lies, a second command, signals without one, input beyond the window, a terminal. */
export const SEEDS = [1, 7, 19, 42, 77, 101, 365, 1_337, 4_096, 65_537, 271_828, 3_141_592];

const SCRIPTS = [
  "true",
  "cat >/dev/null",
  "echo out; echo err >&2",
  "sleep 60 & echo $!",
  "head -c 300000 /dev/zero",
  "kill -STOP $$",
  "exec 0<&- 1>&- 2>&-; sleep 0.02",
  "exit 7",
];

const field = (tag: string, value: Uint8Array, lie = 0) =>
  Buffer.concat([Buffer.from(tag), u32(Math.max(0, value.length + lie)), value]);
const text = (tag: string, value: string) => field(tag, Buffer.from(`${value}\0`));

/** Fields of a specification: right, and then spoiled in some sessions. */
function specification(random: Random): Buffer {
  const fields = [
    ...["/bin/sh", "-c", random.pick(SCRIPTS)].map((word) => text("a", word)),
    text("e", "PATH=/usr/bin:/bin"),
    text("d", random.chance(0.95) ? "/" : "/nowhere"),
    field("u", u32(65_534, 65_534)),
    field("l", u32(0, 64)),
  ];
  if (random.chance(0.5)) fields.push(field("i", Buffer.alloc(0)));
  if (random.chance(0.2)) fields.push(field("t", Buffer.from([24, 0, 80, 0])));
  if (random.chance(0.5)) {
    fields.push(field("c", Buffer.from([random.below(2), random.below(2)])), text("w", "/tmp"));
  }
  while (random.chance(0.2)) {
    const at = random.below(fields.length);
    const spoiled = [
      field(random.pick([..."aewduticlnx"]), bytes(random, 40), random.below(5) - 2),
      Buffer.concat([fields[at] as Buffer, fields[at] as Buffer]),
      Buffer.alloc(0),
      field("n", Buffer.concat([bytes(random, 36), Buffer.from([0])])),
    ];
    fields[at] = random.pick(spoiled);
  }
  return frame(TO_RUNNER.spec, Buffer.concat(fields));
}

function bytes(random: Random, most: number): Buffer {
  return Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
}

function anyFrame(random: Random): Buffer {
  switch (random.below(8)) {
    case 0:
      return frame(TO_RUNNER.stdin, Buffer.alloc(random.below(70_000)));
    case 1:
      return frame(TO_RUNNER.stdinEnd);
    case 2:
      return frame(TO_RUNNER.signal, Buffer.concat([u32(random.below(70)), bytes(random, 3)]));
    case 3:
      return frame(TO_RUNNER.signal, Buffer.concat([u32(9), Buffer.from([1])]));
    case 4:
      return frame(TO_RUNNER.resize, bytes(random, 6));
    case 5:
      return specification(random);
    case 6:
      return Buffer.concat([u32(random.below(2 ** 32)), bytes(random, 20)]);
    default:
      return frame(random.below(256), bytes(random, 300));
  }
}

/** What one connection is told; null: wait until the minder says that the command is gone. */
export function session(seed: number): readonly (Buffer | null)[] {
  const random = new Random(seed);
  const said: (Buffer | null)[] = [];
  const commands = 1 + random.below(3);
  for (let n = 0; n < commands; n++) {
    said.push(random.chance(0.95) ? specification(random) : anyFrame(random));
    while (random.chance(0.5)) said.push(anyFrame(random));
    if (random.chance(0.7)) {
      // Everything that runs is ended, so that the wait is short.
      said.push(frame(TO_RUNNER.signal, Buffer.concat([u32(9), Buffer.from([1])])), null);
    }
  }
  return said;
}

const WAIT_MS = 3_000;

/** The program in its real shape: minders on a socket, each serving one session after another command for command. */
export class FuzzedRunner {
  readonly #folder = mkdtempSync(join(tmpdir(), "recinto-fuzz-"));
  readonly #waiting: ((socket: Socket) => void)[] = [];
  readonly #idle: Socket[] = [];
  #server!: Server;
  #child!: ChildProcess;
  /** What the sanitizers said. */
  report = "";

  async start(): Promise<void> {
    chmodSync(this.#folder, 0o711);
    const binary = join(this.#folder, "runner");
    const flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];
    const root = fileURLToPath(new URL("../../", import.meta.url));
    execFileSync("./scripts/build-runner", [binary, ...flags], { cwd: root });
    const path = join(this.#folder, "s");
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      // The greeting; the very first connection has none.
      socket.once("data", () => {
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#idle.push(socket);
        else waiting(socket);
      });
    });
    this.#server.listen(path);
    await once(this.#server, "listening");
    this.#child = spawn(binary, ["--socket", path, "4"], {
      stdio: ["pipe", "inherit", "pipe"],
      env: {
        ASAN_OPTIONS: "exitcode=99:detect_leaks=0",
        UBSAN_OPTIONS: "exitcode=99:print_stacktrace=1",
      },
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.report += chunk;
    });
    this.#child.stdin?.write(Buffer.alloc(32));
  }

  /** Returns false where the minder did not let go of the connection in time after its end. */
  async run(seed: number): Promise<boolean> {
    const socket =
      this.#idle.shift() ?? (await new Promise<Socket>((resolve) => this.#waiting.push(resolve)));
    let gone = 0;
    let tail = Buffer.alloc(0);
    const closed = once(socket, "close").catch(() => undefined);
    socket.on("data", (chunk: Buffer) => {
      // A look for the end's bytes is enough here: to be misled costs a wait.
      tail = Buffer.concat([tail.subarray(-5), chunk]);
      for (const last of [0, 1]) {
        if (tail.includes(frame(FROM_RUNNER.gone, Buffer.from([last])))) gone += 1;
      }
    });
    let waited = 0;
    for (const part of session(seed)) {
      if (part !== null) {
        socket.write(part);
        continue;
      }
      waited += 1;
      for (let ms = 0; gone < waited && !socket.destroyed && ms < WAIT_MS; ms += 2) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
    socket.end();
    const late = new Promise<"late">((resolve) => setTimeout(() => resolve("late"), 10 * WAIT_MS));
    const end = await Promise.race([closed, late]);
    socket.destroy();
    return end !== "late";
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await once(this.#child, "exit");
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function fuzzRunner({
  count = 20_000,
  seed,
}: {
  readonly count?: number | undefined;
  readonly seed: number;
}): Promise<number> {
  const runner = new FuzzedRunner();
  await runner.start();
  const random = new Random(seed);
  const seeds = [...SEEDS, ...Array.from({ length: count }, () => random.below(2 ** 32))];
  let failures = 0;
  const worker = async () => {
    for (let next = seeds.shift(); next !== undefined && failures === 0; next = seeds.shift()) {
      const ended = await runner.run(next);
      if (ended && runner.report === "") continue;
      failures += 1;
      console.error(`fuzz: runner: session ${next}: ${ended ? runner.report : "did not end"}`);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  await runner.stop();
  console.log(
    `fuzz: runner: ${SEEDS.length + count - seeds.length} sessions, ${failures} failures`,
  );
  return failures;
}
