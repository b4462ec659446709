/** The multiplexed stream of docker exec, however it is cut. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader } from "../../daemon/sandbox/docker/frames.ts";

function frame(kind: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

function read(chunks: readonly Buffer[]): { stdout: Buffer; stderr: Buffer } {
  const out: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const reader = new FrameReader((stream, payload) => out[stream].push(payload));
  for (const chunk of chunks) reader.push(chunk);
  return { stdout: Buffer.concat(out.stdout), stderr: Buffer.concat(out.stderr) };
}

test("every byte arrives on its stream, wherever the chunks are cut", () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })));
  fc.assert(
    fc.property(frames, fc.array(fc.nat(400)), (sent, cuts) => {
      const whole = Buffer.concat(sent.map(([kind, payload]) => frame(kind, payload)));
      const at = [
        0,
        ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b),
        whole.length,
      ];
      const chunks = at.slice(1).map((end, index) => whole.subarray(at[index], end));
      const of = (wanted: number) =>
        Buffer.concat(sent.filter(([kind]) => kind === wanted).map(([, payload]) => payload));
      expect(read(chunks)).toEqual({ stdout: of(1), stderr: of(2) });
    }),
  );
});

test("an error of the engine itself counts as stderr", () => {
  expect(read([frame(3, Buffer.from("broken"))]).stderr.toString()).toBe("broken");
});

test("bytes that are no such stream are an error, not output", () => {
  expect(() => read([Buffer.from("plain text of a terminal")])).toThrow("broken stream");
});
