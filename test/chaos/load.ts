/** An agent that never stops: sends commands of every kind, takes up what it asked before, and writes down all it hears. */
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { agentClient } from "../../daemon/api/client.ts";
import { RecintoError } from "../../daemon/errors.ts";
import { Random } from "../fuzz/random.ts";
import { type Heard, type LoadOptions, MARK_SECONDS } from "./heard.ts";

/** Loops that send commands which need nobody, and loops whose commands ask. */
const LOOPS = { plain: 3, asking: 2 };
const QUESTIONS_KEPT = 6;

await load(JSON.parse(process.argv[2] ?? "") as LoadOptions);

async function load({ name, uid, socketPath, worktree, heard, seed }: LoadOptions): Promise<void> {
  const log = openSync(heard, "a");
  process.setgroups?.([uid]);
  process.setgid?.(uid);
  process.setuid?.(uid);
  const random = new Random(seed);
  const client = agentClient({ socketPath, waitForStart: true });
  let stopped = false;
  process.on("SIGTERM", () => {
    stopped = true;
  });
  let count = 0;
  const hear = (what: Heard) => void writeSync(log, `${JSON.stringify(what)}\n`);

  const send = async (id: string, command: string, waitMs?: number) => {
    try {
      const { session } = await client.openSession(worktree);
      const request = { command, ...(waitMs === undefined ? {} : { waitMs }) };
      for await (const event of client.run(session.id, request)) {
        if (event.type === "decision") hear({ type: "action", id, action: event.action });
        if (event.type === "pending") hear({ type: "pending", id, approval: event.approval });
        if (event.type === "started") hear({ type: "started", id, exec: event.exec });
        if (event.type === "exit") {
          hear({ type: "exit", id, exec: event.exec, exitCode: event.exitCode });
        }
        if (event.type === "refused") hear({ type: "refused", id, by: event.by });
        if (event.type === "exit" || event.type === "refused") return event;
      }
    } catch (error) {
      const code = error instanceof RecintoError ? error.code : String(error);
      hear({ type: "failed", id, code });
      await sleep(20);
    }
    return null;
  };

  const plain = async () => {
    const id = `${name}-${count++}`;
    const write = `echo ${id} >> effects`;
    const kinds = [
      write,
      `${write}; sleep 0.1`,
      `sleep ${MARK_SECONDS} & ${write}; sleep 0.3`,
      `(setsid sleep ${MARK_SECONDS} &); ${write}; sleep 1`,
      `${write}; tail -n 2000 effects`,
      `wc -l effects # ${id}`,
    ];
    await send(id, kinds[random.below(kinds.length)] as string);
  };

  /** Asks, waits a moment, and later sends again what nobody has answered yet. */
  const open: string[] = [];
  const asking = async () => {
    const again = open.length >= QUESTIONS_KEPT || (open.length > 0 && random.below(2) === 0);
    const id = again ? (open[random.below(open.length)] as string) : `${name}-${count++}`;
    if (!again) open.push(id);
    const end = await send(id, `echo ${id} >> effects; rm -rf gone-${id}`, 50 + random.below(400));
    const waits = end === null || (end.type === "refused" && end.by === "not-waiting");
    const at = open.indexOf(id);
    if (!waits && at >= 0) open.splice(at, 1);
    await sleep(20);
  };

  const loop = async (step: () => Promise<void>) => {
    while (!stopped) await step();
  };
  const loops = [
    ...Array.from({ length: LOOPS.plain }, () => loop(plain)),
    ...Array.from({ length: LOOPS.asking }, () => loop(asking)),
  ];
  // Told to stop it need not wait for answers: what is in the air goes with it.
  while (!stopped) await sleep(20);
  void loops;
  client.close();
  process.exit(0);
}
