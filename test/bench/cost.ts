/** Benchmark of processor time: what one command costs the client, the daemon and the sandbox, whatever else the machine does. */
import { BenchDaemon } from "./daemon.ts";
import { perSecond, round } from "./figures.ts";
import { sandboxCpuSeconds } from "./processes.ts";

const TOTAL = Number(process.env.RECINTO_BENCH_COMMANDS ?? 1_500);
const COMMAND = process.env.RECINTO_BENCH_COMMAND ?? "true";
const WARM = 500;

export async function run(): Promise<Record<string, number>> {
  const daemon = await BenchDaemon.start();
  try {
    const session = await daemon.open();
    const work = () => daemon.run(session, COMMAND);
    await perSecond(work, 4, WARM);
    const sandbox = await daemon.sandbox();
    const figures: Record<string, number> = {};
    for (const width of [1, 32]) {
      const before = spent(daemon, sandbox);
      const rate = await perSecond(work, width, TOTAL);
      const after = spent(daemon, sandbox);
      figures[`per_second_${width}`] = round(rate);
      for (const [name, seconds] of Object.entries(after)) {
        const ms = ((seconds - (before[name] ?? 0)) * 1_000) / TOTAL;
        figures[`${name}_ms_${width}`] = round(ms);
      }
    }
    return figures;
  } finally {
    await daemon.stop();
  }
}

/** Processor time so far, seconds, by who spent it. */
function spent(daemon: BenchDaemon, sandbox: string): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return {
    client: (user + system) / 1e6,
    daemon: daemon.cpuSeconds(),
    sandbox: sandboxCpuSeconds(sandbox),
  };
}
