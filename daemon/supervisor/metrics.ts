/** Figures for a monitor, in Prometheus' text form: counted from the journal as it grows, so that both say the same. */
import type { Journal, JournalEntry } from "../journal/types.ts";
import { METRIC_LABEL_CHARS_MAX, METRIC_SERIES_MAX } from "../limits-observing.ts";
import type { Health } from "./supervisor-interface.ts";

/** Upper ends of the buckets, seconds: from a command of some milliseconds to one of an hour. */
const EXEC_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120, 600, 3600];
/** From a person who sits there to one who comes back from lunch. */
const WAIT_BUCKETS = [1, 5, 15, 60, 300, 900, 3600];

type Labels = Readonly<Record<string, string>>;

/** What is measured at the moment of asking. */
export interface Gauges {
  readonly health: Health;
  /** Milliseconds that an entry appended now takes to be safe on disk. */
  readonly journalSyncMs: number;
  readonly residentBytes: number;
}

export class Metrics {
  readonly #decisions = new Counter("recinto_decisions_total", "Verdicts on proposed actions.");
  readonly #rules = new Counter(
    "recinto_rule_matches_total",
    "Simple commands by the rule that decided them, where it asked or denied.",
  );
  readonly #refusals = new Counter("recinto_refusals_total", "Actions refused, by whom or what.");
  readonly #questions = new Counter(
    "recinto_questions_total",
    "Questions to people, by their end.",
  );
  readonly #waits = new Histogram(
    "recinto_question_wait_seconds",
    "How long questions waited for their answer.",
    WAIT_BUCKETS,
  );
  readonly #execs = new Histogram(
    "recinto_exec_seconds",
    "How long commands ran in their sandbox.",
    EXEC_BUCKETS,
  );
  readonly #lost = new Counter("recinto_execs_lost_total", "Commands whose end nobody knows.");
  readonly #hazards = new Counter("recinto_hazards_total", "Hazards found in worktrees, by kind.");
  readonly #grants = new Counter("recinto_grants_total", "What became of grants.");
  readonly #egress = new Counter("recinto_egress_total", "Connections out of sandboxes.");
  readonly #sandboxes = new Counter("recinto_sandboxes_total", "What became of sandboxes.");
  readonly #askedAt = new Map<string, number>();

  /** Counts every entry from now on. Returns how to stop. */
  follow(journal: Pick<Journal, "subscribe">): () => void {
    return journal.subscribe((entry) => this.add(entry));
  }

  add({ event, at, data }: JournalEntry): void {
    const [kind, what = ""] = event.split(".");
    if (event === "proposed_action.created") this.#decided(data);
    else if (event === "action.refused") this.#refusals.add({ by: String(data.by) });
    else if (event === "approval.requested") this.#askedAt.set(String(data.approval), at);
    else if (kind === "approval") this.#answered(what, String(data.approval), at, data.answer);
    else if (event === "exec.exited" && typeof data.durationMs === "number") {
      this.#execs.add(data.durationMs / 1000);
    } else if (event === "exec.lost") this.#lost.add({});
    else if (event === "hazard.found") this.#hazards.add({ kind: kindOf(data.hazard) });
    else if (kind === "grant") this.#grants.add({ event: what });
    else if (kind === "egress") this.#egress.add({ event: what });
    else if (kind === "sandbox") this.#sandboxes.add({ event: what });
  }

  text({ health, journalSyncMs, residentBytes }: Gauges): string {
    const gauges: readonly [name: string, help: string, value: number][] = [
      ["recinto_up", "1 while engine and journal work.", Number(health.ok)],
      ["recinto_engine_up", "1 while the engine answers.", Number(health.engine.reachable)],
      ["recinto_journal_ok", "1 while what happens can be recorded.", Number(health.journal.ok)],
      ["recinto_journal_entries", "Entries of the journal.", health.journal.entries],
      [
        "recinto_journal_sync_seconds",
        "How long an entry appended now takes to be safe on disk.",
        journalSyncMs / 1000,
      ],
      ["recinto_projects", "Projects.", health.projects],
      ["recinto_sessions", "Live sessions.", health.sessions],
      ["recinto_commands_running", "Commands that run now.", health.running],
      ["recinto_commands_queued", "Commands that wait their turn.", health.queued],
      ["recinto_questions_open", "Questions that wait for a person.", health.pending],
      [
        "recinto_settings_problems",
        "Files of an admin's that cannot be used.",
        health.problems.length,
      ],
      ["recinto_start_time_seconds", "When the daemon started.", health.startedAt / 1000],
      ["recinto_resident_memory_bytes", "Memory of the daemon.", residentBytes],
    ];
    return [
      ...gauges.map(([name, help, value]) => `${head(name, help, "gauge")}${name} ${value}\n`),
      ...[
        this.#decisions,
        this.#rules,
        this.#refusals,
        this.#questions,
        this.#waits,
        this.#execs,
        this.#lost,
        this.#hazards,
        this.#grants,
        this.#egress,
        this.#sandboxes,
      ].map((metric) => metric.text()),
    ].join("");
  }

  #decided({ verdict, rules }: JournalEntry["data"]): void {
    this.#decisions.add({ verdict: String(verdict) });
    if (!Array.isArray(rules)) return;
    for (const { verdict: one, rule } of rules as { verdict?: unknown; rule?: unknown }[]) {
      if (one !== "allow") this.#rules.add({ verdict: String(one), rule: String(rule) });
    }
  }

  #answered(what: string, approval: string, at: number, answer: unknown): void {
    if (what !== "answered" && what !== "timed_out" && what !== "cancelled") return;
    this.#questions.add({ end: what === "answered" ? String(answer) : what });
    const asked = this.#askedAt.get(approval);
    this.#askedAt.delete(approval);
    // One that was asked before the daemon started has no beginning here.
    if (asked !== undefined) this.#waits.add((at - asked) / 1000);
  }
}

class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #series = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels): void {
    const key = labelText(labels);
    // Rules have names of people's choosing: what would grow without end goes into one series.
    const known = this.#series.has(key) || this.#series.size < METRIC_SERIES_MAX;
    const counted = known ? key : '{other="true"}';
    this.#series.set(counted, (this.#series.get(counted) ?? 0) + 1);
  }

  text(): string {
    const lines = [...this.#series].map(([labels, count]) => `${this.#name}${labels} ${count}\n`);
    return head(this.#name, this.#help, "counter") + lines.join("");
  }
}

class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #ends: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(name: string, help: string, ends: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#ends = ends;
    this.#counts = ends.map(() => 0);
  }

  add(value: number): void {
    this.#count += 1;
    this.#sum += value;
    for (const [index, end] of this.#ends.entries()) {
      if (value <= end) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    }
  }

  text(): string {
    const name = this.#name;
    const buckets = this.#ends.map((end, i) => `${name}_bucket{le="${end}"} ${this.#counts[i]}\n`);
    return [
      head(name, this.#help, "histogram"),
      ...buckets,
      `${name}_bucket{le="+Inf"} ${this.#count}\n`,
      `${name}_sum ${this.#sum}\n`,
      `${name}_count ${this.#count}\n`,
    ].join("");
  }
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value
    .slice(0, METRIC_LABEL_CHARS_MAX)
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
}

function kindOf(hazard: unknown): string {
  const kind = (hazard as { kind?: unknown } | undefined)?.kind;
  return typeof kind === "string" ? kind : "not-listed";
}
