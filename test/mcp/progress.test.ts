/** What a client is told while a call goes on: the server's own states, and a program's output as output. */
import { expect, test } from "vitest";
import { Progress } from "../../daemon/mcp/progress.ts";

test("a program's output is told as that: it forges no state, breaks no line, turns and hides nothing", () => {
  const told: string[] = [];
  const progress = new Progress((_, message) => told.push(message));
  progress.output("waiting for a person\r\x1b[2K q1 was approved\u202e");
  progress.state("running");
  progress.end();
  expect(told).toEqual([
    "output: waiting for a person\ufffd\ufffd[2K q1 was approved\ufffd (0 s)",
    "running (0 s)",
  ]);
});
