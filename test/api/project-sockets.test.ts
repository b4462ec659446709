/** A project is added with the socket its agents need, or refused; what keeps them out is mended without a restart. */
import { statSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { AGENT_SOCKET_RETRY_MS } from "../../daemon/limits.ts";
import { errorIn, type RunningApi, send, startApi } from "./running-api.ts";

let api: RunningApi | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await api?.stop();
  api = undefined;
});

test("a project whose agent group is not there is refused, with what makes it", async () => {
  api = await startApi();
  const project = { id: "gamma", root: "/tmp", profile: "default", worktrees: "." };
  const reply = await send(api.adminSocket, "POST", "/v1/projects", {
    ...project,
    agentGroup: "no-such-group",
  });
  expect([reply.status, errorIn(reply)]).toEqual([
    400,
    {
      code: "project-refused",
      message: 'project gamma: there is no group "no-such-group" in /etc/group',
      hint: "make it (groupadd no-such-group), or name another one",
    },
  ]);
  expect(api.supervisor.projectList.map(({ id }) => id)).toEqual(["alpha", "beta"]);
});

test.runIf(process.getuid?.() === 0)(
  "a socket that was root's alone opens to its group once there is one",
  async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    let gid: number | null = null;
    const running = await startApi({ agentGid: () => gid });
    api = running;
    expect(statSync(running.agentSocket("alpha")).gid).toBe(0);
    gid = 4_322;
    vi.advanceTimersByTime(AGENT_SOCKET_RETRY_MS);
    await expect
      .poll(() => statSync(running.agentSocket("alpha"), { throwIfNoEntry: false })?.gid)
      .toBe(gid);
  },
);
