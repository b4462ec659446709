/** Benchmark of one command from request to exit: the whole path with journal, beside what else could run it. */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { BenchDaemon, DOCKER, PlainContainer } from "./daemon.ts";
import { interleaved, median, perSecond, quantile, round } from "./figures.ts";

const ROUNDS = Number(process.env.RECINTO_BENCH_ROUNDS ?? 60);
const WARM = 15;
const AT_ONCE = 32;

export async function run(): Promise<Record<string, number>> {
  const fast = await BenchDaemon.start();
  const slow = await BenchDaemon.start({ executor: "once" });
  const box = await PlainContainer.start();
  try {
    const [session, fallback] = [await fast.open(), await slow.open()];
    const cli = () => ended(...DOCKER, "exec", box.id, "bash", "-c", "true");
    const recinto = () => fast.run(session, "true");
    const times = await interleaved(
      {
        host: () => ended("bash", "-c", "true"),
        docker_cli: cli,
        dockerode: () => byDockerode(box),
        recinto,
        fallback: () => slow.run(fallback, "true"),
      },
      ROUNDS,
      WARM,
    );
    // The path is hot after some hundred commands, as with an agent that works; the others have nothing to warm.
    const many = await interleaved({ recinto, host: () => ended("bash", "-c", "true") }, 300, 300);
    const p50 = (name: string) => median(times[name] ?? []);
    const throughput = await perSecond(recinto, AT_ONCE, 1_000);
    const cliThroughput = await perSecond(cli, AT_ONCE, 128);
    const figures: Record<string, number> = {
      recinto_p50_ms: p50("recinto"),
      vs_docker_cli_p50: p50("recinto") / p50("docker_cli"),
      vs_host_spawn_p50: median(many.recinto ?? []) / median(many.host ?? []),
      fallback_vs_docker_cli_p50: p50("fallback") / p50("docker_cli"),
      throughput32_vs_docker_cli: throughput / cliThroughput,
      recinto_per_second_32: throughput,
      docker_cli_per_second_32: cliThroughput,
      recinto_hot_p50_ms: median(many.recinto ?? []),
      host_hot_p50_ms: median(many.host ?? []),
    };
    for (const [name, all] of Object.entries(times)) {
      figures[`${name}_p50_ms`] = median(all);
      figures[`${name}_p95_ms`] = quantile(all, 0.95);
    }
    return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]));
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
