/** Whether engine and journal work, and how much is going on. */
import type { RecintoError } from "../errors.ts";
import type { NoticingJournal } from "./noticing-journal.ts";
import type { SupervisorDeps } from "./ports.ts";
import type { Session } from "./sessions.ts";
import type { Health } from "./supervisor-interface.ts";

export async function healthOf(of: {
  readonly engineInfo: SupervisorDeps["engineInfo"];
  readonly config: SupervisorDeps["config"];
  readonly journal: NoticingJournal;
  readonly projects: number;
  readonly sessions: readonly Session[];
  readonly pending: number;
  readonly queued: number;
  readonly startedAt: number;
  readonly configFile: string | null;
  readonly problems: Iterable<RecintoError>;
}): Promise<Health> {
  const { journal, projects, sessions, pending, queued, startedAt } = of;
  const engine: Health["engine"] = await of.engineInfo().then(
    (info) => ({ reachable: true, ...info }),
    (error: unknown) => ({ reachable: false, reason: String((error as Error).message) }),
  );
  const work = sessions.reduce((sum, session) => sum + session.work.size, 0);
  return {
    ok: engine.reachable && journal.ok,
    engine,
    journal: { ok: journal.ok, entries: journal.count() },
    projects,
    sessions: sessions.length,
    running: Math.max(0, work - pending - queued),
    pending,
    queued,
    agentsShareApproverUid: of.config.agentsShareApproverUid,
    startedAt,
    configFile: of.configFile,
    problems: [...of.problems].map(({ message, hint }) => `${message} (${hint})`),
  };
}
