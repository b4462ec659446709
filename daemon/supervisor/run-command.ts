/** One command, start to end: judged, recorded, asked about, run, streamed, recorded. */
import type { Contract } from "../authority/types.ts";
import { RecintoError } from "../errors.ts";
import type { NewEntry } from "../journal/types.ts";
import type { Verdict } from "../policy/types.ts";
import type { SandboxSpec } from "../sandbox/engine.ts";
import type { WayOut } from "../sandbox/runner/frames.ts";
import { type Asked, askPerson, type Ready } from "./ask-person.ts";
import type { Rests } from "./authority/binding.ts";
import { GrantHold } from "./authority/grant-hold.ts";
import { makeGrantedFolders } from "./authority/granted-folders.ts";
import { withConfinedNote } from "./confined-note.ts";
import { type Note, withNotesAfter } from "./escort.ts";
import { Execution, type Outcome } from "./execution.ts";
import { isBelowAny, recordedFacts } from "./facts.ts";
import { folderAfter } from "./folder-after.ts";
import { watchGrowth } from "./growth-watch.ts";
import type { Job } from "./jobs/job.ts";
import type { Judged } from "./judge.ts";
import type { SandboxPort } from "./ports.ts";
import {
  actionEntry,
  type RunContext,
  type RunDeps,
  refusalEntry,
  refusedByPolicy,
  refusedUse,
  throwIfOver,
} from "./run-context.ts";
import type { JudgedInSession } from "./session-desk.ts";
import { Turn } from "./turn.ts";
import type { RunEvent } from "./types.ts";
import type { WorktreePolicy } from "./worktree-policies.ts";

type ReadySandbox = Awaited<ReturnType<SandboxPort["ensure"]>>;

/** Yields what `Supervisor.run` promises. Nothing happens that could not be recorded before. */
export async function* runCommand(deps: RunDeps, context: RunContext): AsyncGenerator<RunEvent> {
  const { action } = context;
  throwIfOver(context.signal);
  const judged = await deps.judge();
  const { verdict } = judged;
  const denied = verdict.verdict === "deny" ? refusedByPolicy(context, verdict) : null;
  const counted = denied === null ? null : deps.denials.refused(context.session, verdict);
  deps.journal.appendSoon([
    proposed(context, judged),
    ...(denied === null ? [] : [refusalEntry(context, denied)]),
    ...(counted?.entries ?? []),
  ]);
  counted?.commit();
  const turn = new Turn(deps, context);
  // Before the first word, so that a full queue is an answer of its own.
  if (verdict.verdict === "allow") turn.take({ approved: false });
  try {
    yield { type: "decision", action, verdict };
    yield* deps.tell(judged.ignored).map((policy) => ignoredNote(context, policy));
    if (denied !== null) yield denied;
    else yield* admitted(deps, context, judged, turn);
  } finally {
    turn.end();
  }
}

/** What is not denied: asked about where needed, and run when its turn has come. */
async function* admitted(
  deps: RunDeps,
  context: RunContext,
  judged: JudgedInSession,
  turn: Turn,
): AsyncGenerator<RunEvent> {
  const sandbox = once(() => readySandbox(deps, context));
  let current = judged;
  if (turn.waits) {
    yield* turn.come();
    // Links, rules and branch may have changed meanwhile.
    current = await deps.judge();
  }
  let asked: Asked | null = null;
  if (current.verdict.verdict !== "allow") {
    turn.end();
    const answer =
      current.verdict.verdict === "deny"
        ? refusedByPolicy(context, current.verdict)
        : yield* askPerson(deps, context, current, readyFor(turn, sandbox));
    if (answer.type === "refused") {
      deps.journal.append(refusalEntry(context, answer));
      yield answer;
      return;
    }
    asked = answer;
  }
  throwIfOver(context.signal);
  const verdict = asked?.verdict ?? current.verdict;
  // What a person approved runs by that word, once; anything else on the grants that it was judged with.
  const rests = asked === null ? current.rests : null;
  const contract = current.rests?.contract ?? null;
  const parts = { sandbox: await sandbox(), verdict, asked, turn, rests, contract };
  yield* execute(deps, context, parts);
}

/** Its turn and its sandbox. While it is asked about it takes nobody's turn. */
function readyFor(turn: Turn, sandbox: () => Promise<ReadySandbox>): Ready {
  return {
    async *prepare() {
      turn.take({ approved: true });
      yield* turn.come();
      await sandbox();
    },
    undo: () => turn.end(),
  };
}

async function readySandbox(deps: RunDeps, context: RunContext): Promise<ReadySandbox> {
  try {
    return await deps.ensureSandbox();
  } catch (error) {
    const reason = text(error);
    deps.journal.append(actionEntry(context, "action.refused", { by: "failure", reason }));
    throw error;
  }
}

async function* execute(
  deps: RunDeps,
  context: RunContext,
  parts: Omit<Start, "after" | "started">,
): AsyncGenerator<RunEvent> {
  const { session, project, profile, action } = context;
  const { sandbox, verdict, asked } = parts;
  const missing = notMounted(verdict, sandbox.spec);
  if (missing.length > 0) {
    const reason = `the sandbox holds ${session.worktree}, and neither the rest of the project nor what links out of it lead to: these paths are not there, or only in part`;
    yield { type: "note", code: "not_mounted", paths: missing, reason };
  }
  const approved = asked !== null;
  const escorted = { session, project, profile, action, sandbox, verdict, approved };
  const started: Start["started"] = { job: null };
  const after = once(async () => {
    const { job } = started;
    const goesOn = job?.state === "background";
    const notes = await deps.escort.after(escorted, goesOn);
    if (goesOn) job.whenOver(() => deps.escort.after(escorted, false));
    return notes;
  });
  try {
    yield* await deps.escort.before(escorted);
    yield* start(deps, context, { ...parts, after, started });
  } finally {
    await after();
  }
}

interface Start {
  readonly sandbox: ReadySandbox;
  readonly verdict: Verdict;
  readonly asked: Asked | null;
  readonly turn: Turn;
  /** null: on no grant, and within no contract's folders. */
  readonly rests: Rests | null;
  readonly contract: Contract | null;
  /** What is left to tell once it is over. */
  readonly after: () => Promise<readonly Note[]>;
  /** Its job, once it runs. */
  readonly started: { job: Job | null };
}

/** With its way out of the sandbox, which is there as long as anything of the command. */
async function* start(deps: RunDeps, context: RunContext, parts: Start): AsyncGenerator<RunEvent> {
  const { sandbox, verdict, asked, started } = parts;
  throwIfOver(context.signal);
  const exec = deps.newId("exec");
  const authority = asked?.authority ?? null;
  const grants = new GrantHold(deps.uses, context.session, parts, exec, context.signal);
  const held = { ...context, signal: grants.signal };
  let end = () => grants.close();
  try {
    const { reach } = grants;
    const way = await deps.egress.open(held, { exec, verdict, sandbox, authority, reach });
    end = () => {
      way.close();
      grants.close();
    };
    grants.cutBy(way.cut);
    yield* way.notes;
    yield* startWithin(deps, held, { ...parts, exec, wayOut: way.wayOut, grants });
  } finally {
    if (started.job === null) end();
    else started.job.whenOver(end);
  }
}

interface StartWithin extends Start {
  readonly exec: string;
  readonly wayOut: WayOut | null;
  readonly grants: GrantHold;
}

async function* startWithin(
  deps: RunDeps,
  context: RunContext,
  { sandbox, verdict, asked, rests, turn, after, started, ...begun }: StartWithin,
): AsyncGenerator<RunEvent> {
  const { command, signal } = context;
  const { exec, wayOut, grants } = begun;
  throwIfOver(signal);
  const startedAt = deps.now();
  const { segments } = verdict;
  const { live = [], writable = null } = rests ?? {};
  const approved = asked !== null;
  const held = sandbox.confine({ segments, approved, grants: live, writable });
  const refused = grants.begin();
  if (refused !== null) {
    const refusal = refusedUse(context, refused);
    deps.journal.append(refusalEntry(context, refusal));
    yield refusal;
    return;
  }
  const confinement = wayOut === null ? held.text : `${held.text}; out by the proxy`;
  const right = asked === null ? {} : { approval: asked.approval, authority: asked.authority.id };
  const ids = { exec, sandbox: sandbox.id };
  deps.journal.appendSoon([
    actionEntry(context, "exec.started", { ...ids, ...right, confinement }),
  ]);
  // One wait for the disk covers all that was recorded about this command, and other commands share it. What cannot
  // have an effect need not wait for it: its record outlives this process already.
  if (!held.harmless) await deps.journal.synced();
  // A grant may have closed meanwhile: from here to the start there is no pause.
  if (signal.aborted) {
    const error = signal.reason instanceof Error ? signal.reason : new Error("given up");
    deps.journal.append(failedEntry(context, exec, error));
    throwIfOver(signal);
  }
  // From before it starts: what it writes first counts too.
  const { growthBytes = null } = context.profile.limits;
  const growth =
    growthBytes === null || held.harmless
      ? null
      : watchGrowth({ worktree: context.session.worktree, bytesMax: growthBytes });
  const job = deps.jobs.begin(context, { id: exec, confinement, startedAt });
  const { background } = job;
  // Not a turn later than the look at the signal.
  const startProcess = async () => {
    if (!held.harmless) makeGrantedFolders(context.session.worktree, rests);
    return sandbox.exec({
      command: command.command,
      cwd: command.cwd,
      stdin: command.stdin !== undefined,
      background,
      ...(command.shell === undefined ? {} : { shellState: command.shell.pathOf(exec) }),
      ...(command.tty === null ? {} : { tty: command.tty, env: TERMINAL_ENV }),
      confinement: wayOut === null ? held.confinement : { ...held.confinement, tcp: true, wayOut },
    });
  };
  const process = await startProcess().catch((error: unknown) => {
    growth?.close();
    deps.journal.append(failedEntry(context, exec, error));
    throw error;
  });
  const execution = new Execution({
    process,
    exec,
    stdin: command.stdin,
    timeoutMs: command.timeoutMs,
    idleTimeoutMs: command.idleTimeoutMs,
    outputBytesMax: command.outputBytesMax,
    signal,
    ...(growth === null ? {} : { overDisk: growth.signal }),
    now: deps.now,
    history: job.output,
    keepsBackground: background !== null,
    folderAfter: (folder) => folderAfter(folder, command.command, segments),
    onEnd: (outcome) => {
      // Its output may still be read for a while.
      turn.end();
      try {
        deps.journal.appendSoon([outcomeEntry(context, exec, outcome)]);
      } finally {
        job.exited(outcome);
      }
    },
  });
  job.run(process, execution);
  deps.jobs.add(context.session, job);
  started.job = job;
  grants.attach(process, job);
  try {
    yield { type: "started", exec, confinement, at: startedAt };
    const notes = async () => {
      await command.shell?.remember(sandbox, exec, job.info().exit?.cwd);
      return [...(growth?.notes() ?? []), ...grants.notes(), ...(await after())];
    };
    yield* withNotesAfter(withConfinedNote(execution.events(), held), notes);
  } finally {
    // Also when the reader leaves in the middle: what it started is gone, and on record, before this returns.
    await execution.stop();
    job.whenOver(() => growth?.close());
    if (job.state === "background" && growth !== null) {
      const over = () => void job.kill();
      if (growth.signal.aborted) over();
      else growth.signal.addEventListener("abort", over, { once: true });
    }
  }
}

/** What a terminal of ours is: the runner's is a plain Linux pseudo terminal, drawn by whoever is attached. */
const TERMINAL_ENV = { TERM: "xterm-256color" };

function proposed(context: RunContext, { verdict, facts }: Judged): NewEntry {
  const { command, cwd } = context.command;
  const { effects, classes, roots, reason, segments } = verdict;
  return actionEntry(context, "proposed_action.created", {
    command,
    cwd,
    verdict: verdict.verdict,
    effects,
    classes,
    roots,
    reason,
    rules: segments.map(({ text, verdict, rung, rule }) => ({ text, verdict, rung, rule })),
    // What it was judged by, so that it can be judged again under other rules.
    worktree: context.session.worktree,
    profile: context.profile.name,
    facts: recordedFacts(command, facts),
  });
}

function ignoredNote({ session }: RunContext, { file, problem }: WorktreePolicy): RunEvent {
  const why = problem ?? "no person has trusted what it says now";
  const reason = `${file} counts for nothing: ${why} (recinto policy trust ${session.project} ${file})`;
  return { type: "note", code: "policy_not_trusted", paths: [file], reason };
}

function outcomeEntry(context: RunContext, exec: string, outcome: Outcome): NewEntry {
  if (!outcome.known) return failedEntry(context, exec, outcome.error);
  const { type: _, ...data } = outcome.exit;
  return actionEntry(context, "exec.exited", data);
}

/** Where the engine did not answer nobody knows whether it started or how it ended; else it never ran. */
function failedEntry(context: RunContext, exec: string, error: unknown): NewEntry {
  const reason = text(error);
  return error instanceof RecintoError && error.code === "engine-unreachable"
    ? actionEntry(context, "exec.lost", { exec, reason })
    : actionEntry(context, "exec.exited", { exec, exitCode: null, failed: reason });
}

/** Paths in scope that the sandbox does not have: what a link leads to counts, not its name. */
function notMounted(verdict: Verdict, spec: Pick<SandboxSpec, "mounts" | "tmpfs">): string[] {
  const there = [...spec.mounts, ...spec.tmpfs].map(({ target }) => target);
  const paths = verdict.segments
    .flatMap((segment) => segment.paths)
    .filter(({ root }) => root !== null)
    .map(({ path, real }) => real ?? path);
  return [...new Set(paths)].filter((path) => !isBelowAny(path, there)).sort();
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
