/** The history of a job's output: offsets, what is lost, and readers that wait. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JOB_HISTORY_PIECES } from "../../daemon/limits.ts";
import { JobOutput, type OutputPiece } from "../../daemon/supervisor/jobs/job-output.ts";

const never = new AbortController().signal;
const joined = (pieces: readonly OutputPiece[]) =>
  pieces.map(({ stream, data }) => `${stream}:${Buffer.from(data)}`).join(" ");

describe("output of a job by offsets", () => {
  test("both streams in the order in which they came, from any offset", () => {
    const output = new JobOutput(100);
    output.push("stdout", Buffer.from("abc"));
    output.push("stderr", Buffer.from("de"));
    output.push("stdout", Buffer.from("f"));
    expect({ ...output.read(0, 100), pieces: joined(output.read(0, 100).pieces) }).toEqual({
      at: 0,
      lost: 0,
      next: 6,
      pieces: "stdout:abc stderr:de stdout:f",
    });
    expect(joined(output.read(2, 2).pieces)).toBe("stdout:c stderr:d");
    expect(output.read(6, 10)).toEqual({ at: 6, lost: 0, pieces: [], next: 6 });
    expect(output.read(99, 10)).toEqual({ at: 6, lost: 0, pieces: [], next: 6 });
  });

  test("the oldest is dropped to the byte, and who asks for it is told how much", () => {
    const output = new JobOutput(4);
    output.push("stdout", Buffer.from("abcdef"));
    expect([output.from, output.to]).toEqual([2, 6]);
    const { pieces, ...part } = output.read(1, 10);
    expect([part, joined(pieces)]).toEqual([{ at: 2, lost: 1, next: 6 }, "stdout:cdef"]);
    output.clear();
    expect(output.read(0, 10)).toEqual({ at: 6, lost: 6, pieces: [], next: 6 });
  });

  test("whatever is pushed and however it is read: the end of it, exactly", () => {
    const chunk = fc.tuple(
      fc.constantFrom("stdout" as const, "stderr" as const),
      fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9_000 })),
    );
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 40 }),
        fc.integer({ min: 1, max: 12_000 }),
        fc.nat(30_000),
        fc.integer({ min: 1, max: 5_000 }),
        (chunks, bytesMax, since, step) => {
          const output = new JobOutput(bytesMax);
          const all = { stdout: [] as number[], stderr: [] as number[] };
          let count = 0;
          for (const [stream, size] of chunks) {
            const data = Buffer.from(Array.from({ length: size }, () => count++ % 251));
            all[stream].push(...data);
            output.push(stream, data);
          }
          expect(output.to).toBe(count);
          expect(output.from).toBe(Math.max(0, count - bytesMax));
          const seen = { stdout: [] as number[], stderr: [] as number[] };
          let next = Math.min(since, output.to);
          let lost = 0;
          while (next < output.to) {
            const part = output.read(next, step);
            lost += part.lost;
            for (const { stream, data } of part.pieces) seen[stream].push(...data);
            expect(part.next).toBeGreaterThan(next);
            next = part.next;
          }
          const bytes = seen.stdout.length + seen.stderr.length;
          expect(bytes + lost).toBe(output.to - Math.min(since, output.to));
          for (const stream of ["stdout", "stderr"] as const) {
            const end = all[stream].slice(all[stream].length - seen[stream].length);
            expect(seen[stream]).toEqual(end);
          }
        },
      ),
    );
  });

  test("a byte at a time takes few pieces, and a change of stream with each byte a bounded number", () => {
    const output = new JobOutput();
    const held: OutputPiece[] = [];
    for (let n = 0; n < 10_000; n++) output.push("stdout", Buffer.from([n % 256]));
    held.push(...output.read(0, 1e6).pieces);
    expect(held.length).toBeLessThan(10);
    for (let n = 0; n < 3 * JOB_HISTORY_PIECES; n++) {
      output.push(n % 2 === 0 ? "stdout" : "stderr", Buffer.from("x"));
    }
    const { pieces, lost } = output.read(0, 1e9);
    expect(pieces.length).toBeLessThanOrEqual(JOB_HISTORY_PIECES);
    expect(lost).toBe(output.from);
    // What a reader holds does not change under it.
    expect(held.flatMap(({ data }) => [...data])).toEqual(
      Array.from({ length: 10_000 }, (_, n) => n % 256),
    );
  });

  test("a reader waits for the next byte, for the end, or until it leaves", async () => {
    const output = new JobOutput();
    const told: string[] = [];
    const wait = (name: string, signal = never) =>
      output.after(output.to, signal).then(() => told.push(name));
    const leave = new AbortController();
    const left = wait("left", leave.signal);
    leave.abort();
    await left;
    const byte = wait("byte");
    output.push("stdout", Buffer.from("x"));
    await byte;
    const end = wait("end");
    output.end();
    await end;
    await wait("after the end");
    expect(told).toEqual(["left", "byte", "end", "after the end"]);
  });
});
