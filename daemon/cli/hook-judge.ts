/** Judges what an agent wants to do with its own tools, by the daemon's policy. Anything unclear is a question. */
import { join } from "node:path";
import type { AgentClient, Verdict } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import type { HookCall, HookDecision } from "./hook-formats.ts";

export interface HookJudge {
  readonly client: AgentClient;
  readonly worktree: string;
  /** The command that runs another one in the sandbox; null: the agent runs its commands on this machine. */
  readonly inSandbox: ((command: string, cwd: string) => string) | null;
}

/** Never throws: what goes wrong is a question with the reason. */
export async function judgeHookCall(judge: HookJudge, call: HookCall): Promise<HookDecision> {
  try {
    return await judged(judge, call);
  } catch (error) {
    const known =
      error instanceof RecintoError ? `${error.message} (${error.hint})` : "a bug of it";
    return { decision: "ask", reason: `Recinto could not judge this: ${known}` };
  }
}

async function judged(
  { client, worktree, inSandbox }: HookJudge,
  { use, cwd }: HookCall,
): Promise<HookDecision> {
  if (use.kind === "other") {
    const what =
      use.why === undefined ? `the tool ${use.tool}` : `this use of ${use.tool}: ${use.why}`;
    return { decision: "ask", reason: `Recinto does not judge ${what}` };
  }
  const { session } = await client.openSession(worktree);
  if (use.kind === "file") {
    // The agent's paths are absolute; a relative one would be its folder's, not the worktree's.
    const path = use.path.startsWith("/") ? use.path : join(cwd, use.path);
    return told(await client.files(session.id).check(path, use.access));
  }
  const verdict = await client.check(session.id, use.command, cwd);
  const given = told(verdict);
  if (use.kind === "search") return given;
  if (inSandbox !== null) return { ...given, command: inSandbox(use.command, cwd) };
  const only = verdict.effects.every((effect) => effect === "read");
  if (given.decision !== "allow" || only) return given;
  return {
    decision: "ask",
    reason: `this runs on the machine itself; in the sandbox it would pass: use the exec tool of recinto mcp, or let the hook send it there (--sandbox)`,
  };
}

function told({ verdict, reason, instead, segments }: Verdict): HookDecision {
  const deciding = segments.find((segment) => segment.verdict === verdict);
  const parts = [
    `Recinto: ${reason}`,
    ...(verdict === "allow" || deciding === undefined ? [] : [`rule: ${deciding.rule}`]),
    ...(verdict === "allow" || instead === undefined ? [] : [`instead: ${instead}`]),
  ];
  return { decision: verdict, reason: parts.join("; ") };
}
