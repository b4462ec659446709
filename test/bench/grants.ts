/** Benchmark of the end of a grant: from its closing to nothing living on it, with processes that do not want to end. */
import { BenchDaemon } from "./daemon.ts";
import { quantile, round } from "./figures.ts";

const GRANTS = Number(process.env.RECINTO_BENCH_GRANTS ?? 200);

/** One command with a child in a session of its own; both are deaf to everything that can be ignored. */
const COMMAND =
  "touch out/begun && trap '' TERM HUP INT && { setsid sleep 300 & echo deaf; sleep 300; }";
const CONTRACT = `task: bench
envelope: [{effect: read, paths: ["**"]}]
grants:
  out: {effect: write, paths: ["out/**"]}
`;

export async function run(): Promise<Record<string, number>> {
  const daemon = await BenchDaemon.start();
  try {
    const session = await daemon.open();
    await daemon.run(session, "true");
    await daemon.admin.setContract("bench", "w0", CONTRACT);
    for (let n = 0; n < GRANTS; n++) await one(daemon, session);
    const closed: number[] = [];
    for (let after = 0; ; ) {
      const page = await daemon.admin.events({ after, event: "grant.closed" });
      const last = page.at(-1);
      if (last === undefined) break;
      closed.push(...page.map(({ data }) => Number(data.closingMs)));
      after = last.seq;
    }
    return {
      grants: closed.length,
      closing_p50_ms: round(quantile(closed, 0.5)),
      closing_p95_ms: round(quantile(closed, 0.95)),
      closing_max_ms: round(Math.max(...closed)),
    };
  } finally {
    await daemon.stop();
  }
}

/** A grant, a command that runs on it, and its release by the agent: what a person revokes, a person has to give again. */
async function one(daemon: BenchDaemon, session: string): Promise<void> {
  const { handle } = await daemon.agent.requestGrant(session, {
    rule: "out",
    reason: "to measure",
  });
  const running = daemon.agent.run(session, { command: COMMAND, handle });
  for await (const event of running) {
    if (event.type === "pending" || event.type === "refused")
      throw new Error(JSON.stringify(event));
    // Not at its start: then it would not have begun to be deaf.
    if (event.type === "stdout") await daemon.agent.releaseGrant(session, handle);
    if (event.type === "exit") return;
  }
  throw new Error("the command had no end");
}
