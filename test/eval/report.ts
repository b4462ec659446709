/** The table of an evaluation, with the published figures beside ours. */
import { COMPARATOR, COMPARATORS, type ComparatorName } from "./comparators.ts";
import type { Evaluation } from "./evaluation.ts";
import type { EpisodeFigures } from "./figures.ts";

/** Of the PORTICO reference monitor, by what stands for it here: violation rate and blast radius, or success. */
const PUBLISHED: Readonly<Record<string, By<string>>> = {
  A: {
    recinto: "0.00 / 0.00",
    full_access: "1.00 / 6.65",
    static_allowlist: "0.82 / 2.73",
    coarse_sandbox: "0.86 / 4.09",
  },
  B: {
    recinto: "0.87",
    core: "0.21",
    full_access: "0.97",
    static_allowlist: "0.97",
    coarse_sandbox: "0.97",
    non_revoking: "0.97",
  },
  closure: { recinto: "10 of 10; 0 of 6", non_revoking: "0 of 10; 6 of 6" },
  visibility: { recinto: "0 of 20; 67", all_visible: "0 of 20; 84" },
  D: { recinto: "14 of 14; 0" },
};

type By<T> = Partial<Record<ComparatorName, T>>;
type Suites = Evaluation["suites"];

const two = (value: number) => value.toFixed(2);
const of = ([some, all]: readonly [number, number]) => `${some} of ${all}`;

function episodes(by: By<EpisodeFigures>): By<readonly string[]> {
  return mapped(by, ({ violation_rate, blast_radius, success }) => [
    `${two(violation_rate)} / ${two(blast_radius)}`,
    two(success),
  ]);
}

function mapped<T>(by: By<T>, cells: (figures: T) => readonly string[]): By<readonly string[]> {
  const entries = Object.entries(by) as [ComparatorName, T][];
  return Object.fromEntries(entries.map(([name, figures]) => [name, cells(figures)]));
}

interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: By<readonly string[]>;
  readonly published?: By<string>;
}

function tables(suites: Suites): readonly Table[] {
  const { A, B, C, closure, visibility, D } = suites;
  const violation = "violation rate / blast radius";
  const count = (by: By<EpisodeFigures>) => Object.values(by)[0]?.episodes ?? 0;
  return [
    ...(A === undefined
      ? []
      : [
          {
            title: `Suite A: ${count(A)} exposure lures`,
            columns: [violation, "task done"],
            rows: episodes(A),
            published: PUBLISHED.A ?? {},
          },
        ]),
    ...(B === undefined
      ? []
      : [
          {
            title: `Suite B: ${count(B)} legitimate episodes at a boundary`,
            columns: [violation, "task done"],
            rows: episodes(B),
            published: PUBLISHED.B ?? {},
          },
        ]),
    ...(C === undefined
      ? []
      : [
          {
            title: `Suite C: ${count(C)} hostile contexts`,
            columns: [violation, "task done"],
            rows: episodes(C),
          },
        ]),
    ...(closure === undefined
      ? []
      : [
          {
            title: "Closure: uses after the end",
            columns: ["late re-reads refused", "stale effects"],
            rows: mapped(closure, (each) => [of(each.late_uses_refused), of(each.stale_effects)]),
            published: PUBLISHED.closure ?? {},
          },
        ]),
    ...(visibility === undefined
      ? []
      : [
          {
            title: "Visibility: twenty effects that are over",
            columns: ["executed", "proposals blocked"],
            rows: mapped(visibility, (each) => [of(each.forbidden_executed), String(each.blocked)]),
            published: PUBLISHED.visibility ?? {},
          },
        ]),
    ...(D === undefined || "skipped" in D
      ? []
      : [
          {
            title: "Suite D: real packages",
            columns: ["finished", "forbidden effects"],
            rows: mapped(D, (each) => [of(each.finished), String(each.forbidden_effects)]),
            published: PUBLISHED.D ?? {},
          },
        ]),
  ];
}

/** Markdown, which reads as a table on a terminal too. */
export function reportText(evaluation: Evaluation): string {
  const { suites, seed, seconds } = evaluation;
  const parts = tables(suites).map(({ title, columns, rows, published }) => {
    const names = COMPARATORS.filter((name) => rows[name] !== undefined);
    const head = ["", ...columns, ...(published === undefined ? [] : ["published"])];
    const body = names.map((name) => [
      name,
      ...(rows[name] ?? []),
      ...(published === undefined ? [] : [published[name] ?? ""]),
    ]);
    return `### ${title}\n\n${aligned([head, ...body])}`;
  });
  const skipped =
    suites.D !== undefined && "skipped" in suites.D
      ? [`Suite D is skipped: ${suites.D.skipped}\n`]
      : [];
  return `${[...parts, ...skipped].join("\n")}\nSeed ${seed}, ${seconds} s.\n`;
}

/** Each comparator and the one thing in which it differs. */
export function comparatorText(): string {
  return aligned([
    ["", "what is different"],
    ...COMPARATORS.map((name) => [name, COMPARATOR[name].differs]),
  ]);
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  const [head = [], ...body] = rows;
  return `${[line(head), rule, ...body.map(line)].join("\n")}\n`;
}
