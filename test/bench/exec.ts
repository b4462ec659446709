/** Benchmark of one command from request to exit: the whole path with journal, beside what else could run it. */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { BenchDaemon, DOCKER, PlainContainer } from "./daemon.ts";
import { interleaved, median, perSecond, quantile, round } from "./figures.ts";
import { peers } from "./peers.ts";
import { rssMbOf, sandboxRssMb } from "./processes.ts";

const ROUNDS = Number(process.env.RECINTO_BENCH_ROUNDS ?? 60);
/** An agent's daemon has run for hours: its code is compiled. The others have nothing to warm. */
const WARM = 600;
/** What one way leaves behind (the engine tidies up for a while) is not to be paid by the next, milliseconds. */
const PAUSE_MS = 30;
const AT_ONCE = 32;

export async function run(): Promise<Record<string, number | string>> {
  const fast = await BenchDaemon.start();
  const slow = await BenchDaemon.start({ executor: "once" });
  const box = await PlainContainer.start();
  try {
    const [session, fallback] = [await fast.open(), await slow.open()];
    const cli = () => ended(...DOCKER, "exec", box.id, "bash", "-c", "true");
    const host = () => ended("bash", "-c", "true");
    const recinto = () => fast.run(session, "true");
    // A builtin without a program of its name: what needs bash, which most that writes or runs code does.
    const throughBash = () => fast.run(session, ":");
    const others = peers();
    const there = others.flatMap(({ name, argv }) =>
      argv === null ? [] : [[name, () => ended(...(argv as [string]))] as const],
    );
    await perSecond(recinto, 4, WARM);
    await perSecond(throughBash, 4, WARM / 2);
    const times = await interleaved(
      {
        host,
        docker_cli: cli,
        dockerode: () => byDockerode(box),
        recinto,
        fallback: () => slow.run(fallback, "true"),
        ...Object.fromEntries(there),
      },
      ROUNDS,
      5,
      PAUSE_MS,
    );
    const many = await interleaved({ recinto, bash: throughBash, host }, 300, 50);
    const rates: { recinto: number[]; cli: number[] } = { recinto: [], cli: [] };
    for (let turn = 0; turn < 4; turn++) {
      rates.recinto.push(await perSecond(recinto, AT_ONCE, 500));
      rates.cli.push(await perSecond(cli, AT_ONCE, 64));
    }
    const p50 = (name: string) => median(times[name] ?? []);
    const hot = (name: string) => median(many[name] ?? []);
    const [throughput, cliThroughput] = [median(rates.recinto), median(rates.cli)];
    const figures: Record<string, number> = {
      recinto_p50_ms: p50("recinto"),
      vs_docker_cli_p50: p50("recinto") / p50("docker_cli"),
      vs_host_spawn_p50: hot("recinto") / hot("host"),
      fallback_vs_docker_cli_p50: p50("fallback") / p50("docker_cli"),
      throughput32_vs_docker_cli: throughput / cliThroughput,
      recinto_per_second_32: throughput,
      docker_cli_per_second_32: cliThroughput,
      vs_dockerode_p50: p50("recinto") / p50("dockerode"),
      recinto_hot_p50_ms: hot("recinto"),
      recinto_bash_hot_p50_ms: hot("bash"),
      host_hot_p50_ms: hot("host"),
      bash_vs_host_spawn_p50: hot("bash") / hot("host"),
      daemon_rss_mb: fast.rssMb(),
      sandbox_rss_mb: sandboxRssMb(await fast.sandbox()),
      engine_rss_mb: rssMbOf(["dockerd", "containerd"]),
    };
    for (const [name, all] of Object.entries(times)) {
      figures[`${name}_p50_ms`] = median(all);
      figures[`${name}_p95_ms`] = quantile(all, 0.95);
    }
    const absent = others.filter(({ argv }) => argv === null);
    for (const { name, absent: why } of absent) process.stderr.write(`${name}: absent, ${why}\n`);
    return {
      ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)])),
      ...(absent.length === 0 ? {} : { peers_absent: absent.map(({ name }) => name).join(" ") }),
    };
  } finally {
    await Promise.all([fast.stop(), slow.stop(), box.remove()]);
  }
}

function ended(program: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${program}: exit ${code}`)),
    );
  });
}

async function byDockerode({ docker, id }: PlainContainer): Promise<void> {
  const exec = await docker
    .getContainer(id)
    .exec({ Cmd: ["bash", "-c", "true"], AttachStdout: true, AttachStderr: true });
  const stream = (await exec.start({})) as unknown as Readable;
  stream.resume();
  await new Promise((resolve) => stream.once("close", resolve));
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`dockerode: exit ${ExitCode}`);
}
