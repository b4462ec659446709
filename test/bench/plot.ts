/** `npm run --silent bench -- plot FILE...`: draws docs/performance.svg from stored results of the benchmarks. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Result {
  readonly bench: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly figures: Readonly<Record<string, number | string>>;
}

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly ours: boolean;
}

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

const WIDTH = 760;
const LABEL_WIDTH = 230;
const BAR_WIDTH = 420;
const ROW = 24;
const OURS = "#2563a8";
const OTHERS = "#a9b4c0";

/** Each result is one line of `bench -- NAME --json`; charts of benchmarks that are not among them are left out. */
export function plot(files: readonly string[]): string {
  const results = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as Result);
  const target = fileURLToPath(new URL("../../docs/performance.svg", import.meta.url));
  writeFileSync(target, svgOf(results));
  return target;
}

function svgOf(results: readonly Result[]): string {
  const charts = results.flatMap(chartsOf);
  const rows = charts.reduce((all, { bars }) => all + bars.length + 2, 0);
  const height = rows * ROW + 40;
  const [machine] = results.map(({ machine }) => machine);
  let y = 28;
  const text = (x: number, at: number, content: string, more = "") =>
    `  <text x="${x}" y="${at}"${more}>${escaped(content)}</text>`;
  const lines: string[] = [];
  for (const { title, unit, bars } of charts) {
    lines.push(text(16, y, `${title} (${unit})`, ' font-weight="bold"'));
    y += ROW;
    const most = Math.max(...bars.map(({ value }) => value));
    for (const { label, value, ours } of bars) {
      const width = Math.max(1, Math.round((value / most) * BAR_WIDTH));
      lines.push(
        text(16, y, label),
        `  <rect x="${LABEL_WIDTH}" y="${y - 13}" width="${width}" height="16" fill="${ours ? OURS : OTHERS}"/>`,
        text(LABEL_WIDTH + width + 6, y, String(value)),
      );
      y += ROW;
    }
    y += ROW;
  }
  if (machine !== undefined) {
    const { cpu, cores, kernel, node } = machine;
    lines.push(
      text(16, y, `${cores} cores, ${cpu}, Linux ${kernel}, Node ${node}`, ' fill="#666"'),
    );
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    `  <rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

function chartsOf({ bench, figures }: Result): readonly Chart[] {
  const bars = (...wanted: readonly (readonly [name: string, label: string])[]): readonly Bar[] =>
    wanted.flatMap(([name, label]) => {
      const value = figures[name];
      return typeof value === "number" ? [{ label, value, ours: label.startsWith("recinto") }] : [];
    });
  if (bench === "exec") {
    return [
      {
        title: "One command in turns with the others, median",
        unit: "ms, less is better",
        bars: bars(
          ["host_p50_ms", "bash -c true on the host"],
          ["recinto_p50_ms", "recinto"],
          ["bubblewrap_p50_ms", "bubblewrap"],
          ["sandbox_runtime_p50_ms", "sandbox-runtime"],
          ["fallback_p50_ms", "recinto, fallback"],
          ["dockerode_p50_ms", "dockerode"],
          ["docker_cli_p50_ms", "docker exec"],
        ),
      },
      {
        title: "One command after another, median",
        unit: "ms, less is better",
        bars: bars(
          ["host_hot_p50_ms", "bash -c true on the host"],
          ["recinto_hot_p50_ms", "recinto, true"],
          ["recinto_bash_hot_p50_ms", "recinto, through bash"],
        ),
      },
      {
        title: "32 at once",
        unit: "commands a second, more is better",
        bars: bars(
          ["recinto_per_second_32", "recinto"],
          ["docker_cli_per_second_32", "docker exec"],
        ),
      },
    ];
  }
  if (bench === "stream") {
    return [
      {
        title: "Output of one command",
        unit: "MB/s, more is better",
        bars: bars(
          ["host_pipe_mb_per_s", "a pipe on the host"],
          ["mb_per_s", "recinto, at the agent"],
          ["docker_cli_mb_per_s", "docker exec"],
        ),
      },
    ];
  }
  return [];
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
