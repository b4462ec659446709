/**
 * `npm run --silent bench -- NAME --json`: runs one benchmark and prints its figures beside the machine's;
 * `plot FILE...` draws such lines.
 */
import { cpus, release, totalmem } from "node:os";

/** Each returns its figures by name, units last: `p50_us`. */
const BENCHMARKS: Readonly<Record<string, () => Promise<object>>> = {
  cost: async () => (await import("./cost.ts")).run(),
  exec: async () => (await import("./exec.ts")).run(),
  grants: async () => (await import("./grants.ts")).run(),
  policy: async () => (await import("./policy.ts")).run(),
  scale: async () => (await import("./scale.ts")).run(),
  start: async () => (await import("./start.ts")).run(),
  stream: async () => (await import("./stream.ts")).run(),
  watch: async () => (await import("./watch.ts")).run(),
};

const [name = "", ...options] = process.argv.slice(2);
if (name === "plot") {
  const { plot } = await import("./plot.ts");
  process.stdout.write(`${plot(options)}\n`);
  process.exit(0);
}
const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
if (benchmark === undefined) {
  process.stderr.write(`no benchmark ${name}; there are ${Object.keys(BENCHMARKS).join(", ")}\n`);
  process.exit(64);
}

const figures = await benchmark();
const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: release(),
};
if (options.includes("--json")) {
  process.stdout.write(`${JSON.stringify({ bench: name, machine, figures })}\n`);
} else {
  process.stdout.write(`${name} on ${machine.cpu}, ${machine.cores} cores, node ${machine.node}\n`);
  for (const [figure, value] of Object.entries(figures)) {
    process.stdout.write(`  ${figure.padEnd(20)} ${value}\n`);
  }
}
