/** Figures for a monitor, counted from the journal's entries. */
import { describe, expect, test } from "vitest";
import type { JournalEntry, JournalEvent } from "../../daemon/journal/types.ts";
import { METRIC_SERIES_MAX } from "../../daemon/limits-observing.ts";
import { Metrics } from "../../daemon/supervisor/metrics.ts";
import type { Health } from "../../daemon/supervisor/supervisor-interface.ts";

const HEALTH: Health = {
  ok: true,
  engine: { reachable: true, name: "docker", version: "1", apiVersion: "1" },
  journal: { ok: true, entries: 7 },
  projects: 1,
  sessions: 2,
  running: 3,
  queued: 4,
  pending: 5,
  agentsShareApproverUid: false,
  startedAt: 1_000_500,
  configFile: null,
  problems: ["one"],
};

function entry(event: JournalEvent, data: object = {}, at = 0): JournalEntry {
  return { seq: 1, at, event, project: "p", session: "s", uid: 1, data: { ...data }, hash: "" };
}

/** Lines of values, comments left out. */
function values(metrics: Metrics, health: Health = HEALTH): string[] {
  return metrics
    .text({ health, journalSyncMs: 12, residentBytes: 1024 })
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

describe("metrics", () => {
  test("count verdicts, and the rules that asked or denied", () => {
    const metrics = new Metrics();
    const rules = [
      { verdict: "allow", rule: "scope" },
      { verdict: "ask", rule: "safety/recursive-delete" },
    ];
    metrics.add(entry("proposed_action.created", { verdict: "ask", rules }));
    metrics.add(entry("proposed_action.created", { verdict: "allow", rules: [rules[0]] }));
    metrics.add(entry("proposed_action.created", { verdict: "ask", rules }));
    expect(values(metrics)).toEqual(
      expect.arrayContaining([
        'recinto_decisions_total{verdict="ask"} 2',
        'recinto_decisions_total{verdict="allow"} 1',
        'recinto_rule_matches_total{verdict="ask",rule="safety/recursive-delete"} 2',
      ]),
    );
    expect(values(metrics).join()).not.toContain("scope");
  });

  test("measure how long questions waited, from asking to whatever ended them (A13)", () => {
    const metrics = new Metrics();
    metrics.add(entry("approval.requested", { approval: "q1" }, 1_000));
    metrics.add(entry("approval.requested", { approval: "q2" }, 1_000));
    metrics.add(entry("approval.answered", { approval: "q1", answer: "approve" }, 5_000));
    metrics.add(entry("approval.timed_out", { approval: "q2" }, 601_000));
    // Asked before the daemon started: its end counts, its wait is not known.
    metrics.add(entry("approval.answered", { approval: "q0", answer: "deny" }, 9_000));
    expect(values(metrics)).toEqual(
      expect.arrayContaining([
        'recinto_questions_total{end="approve"} 1',
        'recinto_questions_total{end="timed_out"} 1',
        'recinto_questions_total{end="deny"} 1',
        'recinto_question_wait_seconds_bucket{le="1"} 0',
        'recinto_question_wait_seconds_bucket{le="5"} 1',
        'recinto_question_wait_seconds_bucket{le="900"} 2',
        'recinto_question_wait_seconds_bucket{le="+Inf"} 2',
        "recinto_question_wait_seconds_sum 604",
        "recinto_question_wait_seconds_count 2",
      ]),
    );
  });

  test("measure commands, and count the lost ones apart", () => {
    const metrics = new Metrics();
    metrics.add(entry("exec.exited", { exitCode: 0, durationMs: 20 }));
    metrics.add(entry("exec.exited", { exitCode: null, failed: "no such program" }));
    metrics.add(entry("exec.lost"));
    expect(values(metrics)).toEqual(
      expect.arrayContaining([
        'recinto_exec_seconds_bucket{le="0.01"} 0',
        'recinto_exec_seconds_bucket{le="0.025"} 1',
        "recinto_exec_seconds_count 1",
        "recinto_execs_lost_total 1",
      ]),
    );
  });

  test("count hazards, grants, connections, sandboxes and refusals by kind", () => {
    const metrics = new Metrics();
    metrics.add(entry("hazard.found", { hazard: { kind: "escaping-link" } }));
    metrics.add(entry("hazard.found", { notListed: 5 }));
    metrics.add(entry("grant.closed", { handle: "h" }));
    metrics.add(entry("egress.refused", { host: "h" }));
    metrics.add(entry("sandbox.created"));
    metrics.add(entry("action.refused", { by: "person" }));
    expect(values(metrics)).toEqual(
      expect.arrayContaining([
        'recinto_hazards_total{kind="escaping-link"} 1',
        'recinto_hazards_total{kind="not-listed"} 1',
        'recinto_grants_total{event="closed"} 1',
        'recinto_egress_total{event="refused"} 1',
        'recinto_sandboxes_total{event="created"} 1',
        'recinto_refusals_total{by="person"} 1',
      ]),
    );
  });

  test("say how things stand now, in base units", () => {
    expect(values(new Metrics())).toEqual(
      expect.arrayContaining([
        "recinto_up 1",
        "recinto_engine_up 1",
        "recinto_journal_entries 7",
        "recinto_journal_sync_seconds 0.012",
        "recinto_commands_running 3",
        "recinto_commands_queued 4",
        "recinto_questions_open 5",
        "recinto_settings_problems 1",
        "recinto_start_time_seconds 1000.5",
        "recinto_resident_memory_bytes 1024",
      ]),
    );
  });

  test("stay bounded whatever rules are called, and no name breaks the format", () => {
    const metrics = new Metrics();
    for (let i = 0; i < METRIC_SERIES_MAX * 2; i++) {
      const rules = [{ verdict: "ask", rule: `rule "${i}"\nrecinto_up 0` }];
      metrics.add(entry("proposed_action.created", { verdict: "ask", rules }));
    }
    const lines = values(metrics);
    const ours = lines.filter((line) => line.startsWith("recinto_rule_matches_total"));
    expect(ours.length).toBe(METRIC_SERIES_MAX + 1);
    expect(ours.at(-1)).toBe(`recinto_rule_matches_total{other="true"} ${METRIC_SERIES_MAX}`);
    expect(ours[0]).toContain('rule="rule \\"0\\"\\nrecinto_up 0"');
    expect(lines.filter((line) => line.startsWith("recinto_up"))).toEqual(["recinto_up 1"]);
  });

  test("every line has the form that Prometheus reads", () => {
    const metrics = new Metrics();
    metrics.add(entry("proposed_action.created", { verdict: "ask", rules: [] }));
    metrics.add(entry("exec.exited", { durationMs: 20 }));
    const text = metrics.text({ health: HEALTH, journalSyncMs: 1, residentBytes: 1 });
    const line =
      /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? [0-9.e+-]+)$/;
    expect(
      text
        .split("\n")
        .slice(0, -1)
        .filter((each) => !line.test(each)),
    ).toEqual([]);
    expect(text.endsWith("\n")).toBe(true);
  });
});
