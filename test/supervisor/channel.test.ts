/** The channel keeps order, holds a fast writer back, and lets go of it when the reader leaves. */
import { expect, test } from "vitest";
import { Channel } from "../../daemon/supervisor/channel.ts";

const settled = async (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(() => true),
    new Promise((resolve) => setTimeout(resolve, 10, false)),
  ]);

test("items come out in order, then the end", async () => {
  const channel = new Channel<number>(100);
  for (const item of [1, 2, 3]) await channel.push(item);
  channel.end();
  await channel.push(4);
  const got: number[] = [];
  for await (const item of channel) got.push(item);
  expect(got).toEqual([1, 2, 3]);
});

test("a full channel holds the writer until the reader has taken enough", async () => {
  const channel = new Channel<string>(10);
  const first = channel.push("a", 10);
  expect(await settled(first)).toBe(false);
  const reader = channel[Symbol.asyncIterator]();
  expect(await reader.next()).toEqual({ value: "a", done: false });
  expect(await settled(first)).toBe(true);
});

test("unbound, it holds nobody", async () => {
  const channel = new Channel<string>(1);
  const first = channel.push("a", 10);
  channel.unbound();
  expect(await settled(first)).toBe(true);
  expect(await settled(channel.push("b", 10))).toBe(true);
});

test("a reader that leaves frees the writer, an error ends the reader after what was queued", async () => {
  const left = new Channel<string>(1);
  const write = left.push("a", 5);
  for await (const _ of left) break;
  expect(await settled(write)).toBe(true);

  const broken = new Channel<string>(10);
  await broken.push("a");
  broken.end(new Error("gone"));
  const got: string[] = [];
  await expect(
    (async () => {
      for await (const item of broken) got.push(item);
    })(),
  ).rejects.toThrow("gone");
  expect(got).toEqual(["a"]);
});
