/** Named shells of a session: one command at a time in each, and so many of them. */
import { expect, test } from "vitest";
import { SHELLS_PER_SESSION_MAX } from "../../daemon/limits.ts";
import type { Session } from "../../daemon/supervisor/sessions.ts";
import { Shells } from "../../daemon/supervisor/shells.ts";
import { codeOf } from "./world.ts";

const session = () => ({}) as Session;

test("a shell in which a command runs is busy, and free after it; another session's of that name is another", async () => {
  const shells = new Shells();
  const one = session();
  const held = shells.enter(one, "main");
  expect(await codeOf(() => shells.enter(one, "main"))).toBe("busy");
  shells.enter(session(), "main");
  held.release();
  shells.enter(one, "main");
});

test("a session has so many, and those that it has can be used again", async () => {
  const shells = new Shells();
  const one = session();
  for (let index = 0; index < SHELLS_PER_SESSION_MAX; index++) {
    shells.enter(one, `shell-${index}`).release();
  }
  expect(await codeOf(() => shells.enter(one, "one-more"))).toBe("busy");
  shells.enter(one, "shell-0");
});
