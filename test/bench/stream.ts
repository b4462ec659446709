/** Benchmark of a gigabyte of output: at the client, through a daemon in its own process, beside a host pipe and the CLI. */
import { spawn } from "node:child_process";
import { BenchDaemon, DOCKER, PlainContainer } from "./daemon.ts";
import { median, round } from "./figures.ts";

const BYTES = Number(process.env.RECINTO_BENCH_BYTES ?? 2 ** 30);
const ROUNDS = 3;
/** A file with nothing in it is as quick to read as /dev/zero, which is outside of the project. */
const FILE = "zeros";
const command = (file: string) => `head -c ${BYTES} ${file}`;

export async function run(): Promise<Record<string, number>> {
  const daemon = await BenchDaemon.start();
  const box = await PlainContainer.start();
  try {
    const session = await daemon.open();
    daemon.makeFile("w0", FILE, BYTES);
    await daemon.run(session, `head -c 64M ${FILE}`);
    const before = daemon.rssMb();
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, daemon.rssMb());
    }, 50);
    const rates: Record<string, number[]> = { recinto: [], pipe: [], cli: [] };
    for (let n = 0; n < ROUNDS; n++) {
      rates.recinto?.push(await megabytesPerSecond(() => received(daemon, session)));
      rates.pipe?.push(await megabytesPerSecond(() => piped("bash", "-c", command("/dev/zero"))));
      rates.cli?.push(
        await megabytesPerSecond(() =>
          piped(...DOCKER, "exec", box.id, "bash", "-c", command("/dev/zero")),
        ),
      );
    }
    clearInterval(watching);
    const rate = (name: string) => median(rates[name] ?? []);
    return {
      mb_per_s: round(rate("recinto")),
      vs_docker_cli: round(rate("recinto") / rate("cli")),
      vs_host_pipe: round(rate("recinto") / rate("pipe")),
      daemon_rss_growth_mb: round(most - before),
      host_pipe_mb_per_s: round(rate("pipe")),
      docker_cli_mb_per_s: round(rate("cli")),
    };
  } finally {
    await Promise.all([daemon.stop(), box.remove()]);
  }
}

async function megabytesPerSecond(read: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const bytes = await read();
  if (bytes !== BYTES) throw new Error(`${bytes} bytes came, not ${BYTES}`);
  return bytes / 1_000 / (performance.now() - start);
}

async function received(daemon: BenchDaemon, session: string): Promise<number> {
  let bytes = 0;
  for await (const event of daemon.agent.run(session, { command: command(FILE) })) {
    if (event.type === "stdout") bytes += event.data.length;
    if (event.type === "pending" || event.type === "refused") throw new Error("it is not allowed");
  }
  return bytes;
}

function piped(program: string, ...args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.once("error", reject);
    child.once("close", () => resolve(bytes));
  });
}
