/** Slots are given out within their bounds, to whoever has the fewest, and every place that is left is taken by the next. */
import { expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { COMMANDS_PER_PROJECT_QUEUED_MAX } from "../../daemon/limits.ts";
import { CommandSlots, type Slot, type SlotLimits } from "../../daemon/supervisor/command-slots.ts";
import { Random } from "../fuzz/random.ts";

const LIMITS: SlotLimits = { perSession: 2, perProject: 4, queued: 100 };
const never = () => new AbortController().signal;

/** Commands by name, `project/session`, and the order in which they were let run. */
class Line {
  readonly slots: CommandSlots;
  readonly order: string[] = [];
  readonly #running = new Map<string, Slot[]>();
  readonly #limits: SlotLimits;

  constructor(runningMax: number, limits: SlotLimits = LIMITS) {
    this.slots = new CommandSlots(runningMax);
    this.#limits = limits;
  }

  enter(name: string, limits = this.#limits, signal = never()): Slot {
    const [project = "", session = ""] = name.split("/");
    const slot = this.slots.enter({ project, session: `${project}/${session}`, limits, signal });
    const started = () => {
      this.order.push(name);
      this.#running.set(name, [...(this.#running.get(name) ?? []), slot]);
    };
    if (slot.turn === null) started();
    else void slot.turn.then(() => signal.aborted || started());
    return slot;
  }

  /** Ends the oldest command of that name and lets what follows from it happen. */
  async end(name: string): Promise<void> {
    const slot = this.#running.get(name)?.shift();
    if (slot === undefined) throw new Error(`${name} does not run`);
    slot.release();
    await undefined;
    await undefined;
  }

  running(name: string): number {
    return this.#running.get(name)?.length ?? 0;
  }
}

const codeOf = (act: () => unknown) => {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof RecintoError ? error.code : error;
  }
};

test("what is free is taken at once, without a promise to wait for", () => {
  const line = new Line(10);
  expect([line.enter("a/1").turn, line.enter("a/1").turn]).toEqual([null, null]);
  expect(line.enter("a/1")).toMatchObject({ turn: expect.any(Promise), ahead: 0 });
  expect(line.enter("a/1")).toMatchObject({ turn: expect.any(Promise), ahead: 1 });
  expect(line.slots.waiting).toBe(2);
});

test("a session of many waits behind itself: one that sends a single command is next", async () => {
  const line = new Line(10, { ...LIMITS, perSession: 3, perProject: 4 });
  for (let i = 0; i < 20; i++) line.enter("a/many");
  line.enter("a/other");
  line.enter("a/other");
  expect(line.order).toEqual(["a/many", "a/many", "a/many", "a/other"]);
  await line.end("a/many");
  // 2 of the many run and 1 of the other: the other has fewer.
  expect(line.order.at(-1)).toBe("a/other");
  await line.end("a/many");
  expect(line.order.at(-1)).toBe("a/many");
});

test("projects share what all may run as sessions share a project, whatever the number of their sessions", async () => {
  const line = new Line(2, { perSession: 10, perProject: 10, queued: 100 });
  line.enter("a/1");
  line.enter("a/1");
  for (const name of ["a/1", "a/2", "a/3", "a/4", "b/1", "b/1", "b/1"]) line.enter(name);
  await line.end("a/1");
  expect(line.order.slice(2)).toEqual(["b/1"]);
  // One each: the one served longest ago is next.
  await line.end("a/1");
  expect(line.order.slice(3)).toEqual(["a/2"]);
  await line.end("b/1");
  await line.end("a/2");
  await line.end("b/1");
  await line.end("a/3");
  expect(line.order.slice(4)).toEqual(["b/1", "a/3", "b/1", "a/4"]);
});

test("in one session the first come is first", async () => {
  const line = new Line(1);
  const turns = ["a/1", "a/1", "a/1"].map((name) => line.enter(name));
  const order: number[] = [];
  for (const [index, { turn }] of turns.entries()) void turn?.then(() => order.push(index));
  await line.end("a/1");
  await line.end("a/1");
  expect(order).toEqual([1, 2]);
});

test("a place that is given up, running or waiting, is the next one's, and only once", async () => {
  const line = new Line(10, { ...LIMITS, perSession: 1 });
  const leaving = new AbortController();
  const first = line.enter("a/1");
  const second = line.enter("a/1", undefined, leaving.signal);
  const third = line.enter("a/1");
  leaving.abort();
  await second.turn;
  expect(line.slots.waiting).toBe(1);
  first.release();
  first.release();
  second.release();
  await third.turn;
  expect([line.running("a/1"), line.slots.waiting]).toEqual([2, 0]);
  // The second `release` of the first freed nothing that the third holds.
  expect(line.enter("a/1").turn).not.toBeNull();
});

test("one whose signal was aborted before it came waits for nothing", async () => {
  const line = new Line(10, { ...LIMITS, perSession: 1 });
  line.enter("a/1");
  await line.enter("a/1", undefined, AbortSignal.abort()).turn;
  expect(line.slots.waiting).toBe(0);
});

test("a full queue is said, and whose it is; what a person approved is queued all the same", () => {
  const line = new Line(10, { perSession: 1, perProject: 10, queued: 2 });
  for (let i = 0; i < 3; i++) line.enter("a/1");
  expect(() => line.enter("a/1")).toThrow(
    expect.objectContaining({
      code: "queue-full",
      status: 429,
      message: "session a/1 has 1 commands running and 2 waiting",
    }),
  );
  const request = { project: "a", session: "a/1", limits: LIMITS, approved: true, signal: never() };
  expect(line.slots.enter({ ...request, limits: { ...LIMITS, perSession: 1 } }).ahead).toBe(2);
  // Another session's queue is its own.
  expect(codeOf(() => line.enter("a/2"))).toBeNull();
});

test("a project's queue is bounded over all of its sessions, and no other project's", () => {
  const line = new Line(1_000, { perSession: 1, perProject: 1, queued: 1 });
  for (let i = 0; i <= COMMANDS_PER_PROJECT_QUEUED_MAX; i++) line.enter(`a/${i}`);
  expect(codeOf(() => line.enter("a/more"))).toBe("queue-full");
  expect(line.enter("b/1").turn).toBeNull();
});

test("a limit that was raised in the profile holds from the next command on, for those that wait too", async () => {
  const line = new Line(10, { ...LIMITS, perSession: 1 });
  const waiting = [line.enter("a/1"), line.enter("a/1"), line.enter("a/1")].slice(1);
  line.enter("a/1", { ...LIMITS, perSession: 4 });
  await Promise.all(waiting.map(({ turn }) => turn));
  expect([line.running("a/1"), line.slots.waiting]).toEqual([4, 0]);
});

test("10,000 random arrivals, ends and departures: never over a bound, never idle while one may run, none is lost", async () => {
  const seed = Date.now() % 1_000_000;
  const random = new Random(seed);
  const limits = { perSession: 3, perProject: 5, queued: 8 };
  const runningMax = 9;
  const slots = new CommandSlots(runningMax);
  interface One {
    readonly project: string;
    readonly session: string;
    readonly slot: Slot;
    readonly leave: AbortController;
    running: boolean;
  }
  const live = new Set<One>();
  let refused = 0;
  for (let step = 0; step < 10_000; step++) {
    const all = [...live];
    if (all.length === 0 || random.chance(0.55)) {
      const project = `p${random.below(3)}`;
      const session = `${project}/${random.below(4)}`;
      const leave = new AbortController();
      try {
        const slot = slots.enter({ project, session, limits, signal: leave.signal });
        const one: One = { project, session, slot, leave, running: slot.turn === null };
        live.add(one);
        void slot.turn?.then(() => {
          one.running = !leave.signal.aborted;
        });
      } catch (error) {
        expect((error as RecintoError).code, `seed ${seed}`).toBe("queue-full");
        refused += 1;
      }
    } else {
      const one = all[random.below(all.length)] as One;
      live.delete(one);
      if (!one.running && random.chance(0.5)) one.leave.abort();
      else one.slot.release();
    }
    await undefined;
    await undefined;
    const running = [...live].filter((one) => one.running);
    const waiting = [...live].filter((one) => !one.running);
    const count = (key: "project" | "session", name: string) =>
      running.filter((one) => one[key] === name).length;
    const at = `seed ${seed}, step ${step}`;
    expect(running.length, at).toBeLessThanOrEqual(runningMax);
    expect(slots.waiting, at).toBe(waiting.length);
    for (const { project, session } of waiting) {
      const stopped =
        running.length === runningMax ||
        count("project", project) === limits.perProject ||
        count("session", session) === limits.perSession;
      expect(stopped, at).toBe(true);
    }
    for (const { project, session } of running) {
      expect(count("project", project), at).toBeLessThanOrEqual(limits.perProject);
      expect(count("session", session), at).toBeLessThanOrEqual(limits.perSession);
    }
  }
  expect(refused, `seed ${seed}`).toBeGreaterThan(0);
  for (const { slot } of live) slot.release();
  for (let i = 0; i < runningMax; i++) {
    const free = slots.enter({
      project: `q${i}`,
      session: "s",
      limits,
      signal: never(),
    });
    expect(free.turn, `seed ${seed}`).toBeNull();
  }
});
