/** Benchmark of a gigabyte of output: at the client, through a daemon in its own process, beside a host pipe and the CLI. */
import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BenchDaemon, DOCKER, PlainContainer } from "./daemon.ts";
import { median, round } from "./figures.ts";
import { sandboxCpuSeconds } from "./processes.ts";

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
    const sandbox = await daemon.sandbox();
    const rates: Record<string, number[]> = { recinto: [], pipe: [], cli: [] };
    const spent: Record<"client" | "daemon" | "sandbox", number[]> = {
      client: [],
      daemon: [],
      sandbox: [],
    };
    for (let n = 0; n < ROUNDS; n++) {
      const from = { daemon: daemon.cpuSeconds(), sandbox: sandboxCpuSeconds(sandbox) };
      rates.recinto?.push(
        await rateOf(async () => {
          const reader = await received(daemon, session);
          spent.client.push(reader.cpuSeconds);
          return reader;
        }),
      );
      spent.daemon.push(daemon.cpuSeconds() - from.daemon);
      spent.sandbox.push(sandboxCpuSeconds(sandbox) - from.sandbox);
      rates.pipe?.push(await rateOf(() => piped("bash", "-c", command("/dev/zero"))));
      rates.cli?.push(
        await rateOf(() => piped(...DOCKER, "exec", box.id, "bash", "-c", command("/dev/zero"))),
      );
    }
    clearInterval(watching);
    const rate = (name: string) => median(rates[name] ?? []);
    return {
      mb_per_s: round(rate("recinto")),
      vs_docker_cli: round(rate("recinto") / rate("cli")),
      vs_host_pipe: round(rate("recinto") / rate("pipe")),
      ...cpu(spent),
      daemon_rss_growth_mb: round(most - before),
      host_pipe_mb_per_s: round(rate("pipe")),
      docker_cli_mb_per_s: round(rate("cli")),
    };
  } finally {
    await Promise.all([daemon.stop(), box.remove()]);
  }
}

/** Processor time for each GiB, milliseconds: it says more than a rate where the machine has other work too. */
function cpu(spent: Record<string, number[]>): Record<string, number> {
  const perGib = (seconds: number[]) => round((median(seconds) * 1_000 * 2 ** 30) / BYTES);
  return Object.fromEntries(
    Object.entries(spent).map(([name, seconds]) => [`${name}_ms_per_gib`, perGib(seconds)]),
  );
}

async function rateOf(read: () => Promise<{ bytes: number; ms: number }>): Promise<number> {
  const { bytes, ms } = await read();
  if (bytes !== BYTES) throw new Error(`${bytes} bytes came, not ${BYTES}`);
  return bytes / 1_000 / ms;
}

/** At a client of its own, as an agent is one. */
async function received(daemon: BenchDaemon, session: string) {
  const reader = fileURLToPath(new URL("./reader.mjs", import.meta.url));
  const args = [reader, daemon.agentSocket, session, command(FILE)];
  const { stdout } = await promisify(execFile)("node", args);
  return JSON.parse(stdout) as { bytes: number; ms: number; cpuSeconds: number };
}

function piped(program: string, ...args: string[]): Promise<{ bytes: number; ms: number }> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.once("error", reject);
    child.once("close", () => resolve({ bytes, ms: performance.now() - start }));
  });
}
