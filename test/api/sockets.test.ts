/** Sockets: who may open them, what happens to stale ones, and that the kernel says who calls (D5). */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { adminSocketPath, listen, prepareRunDir } from "../../daemon/api/socket.ts";
import { type RunningApi, send, startApi } from "./running-api.ts";

const AGENT_UID = 4_321;
const AGENT_GID = 4_322;
const isRoot = process.getuid?.() === 0;

let api: RunningApi | undefined;
afterEach(async () => {
  await api?.stop();
  api = undefined;
});

function access(path: string): { mode: string; uid: number; gid: number } {
  const { mode, uid, gid } = statSync(path);
  return { mode: (mode & 0o7777).toString(8), uid, gid };
}

function emptyRunDir(): string {
  const runDir = mkdtempSync(join(tmpdir(), "recinto-run-"));
  prepareRunDir(runDir);
  return runDir;
}

/** Runs node code as another user; gives what it printed. */
function runAs(uid: number, gid: number, code: string, ...args: string[]) {
  const ran = spawnSync(process.execPath, ["-e", code, ...args], {
    uid,
    gid,
    cwd: "/",
    encoding: "utf8",
  });
  return { out: ran.stdout.trim(), err: ran.stderr };
}

const CONNECT = `
  const socket = require("net").connect(process.argv[1]);
  socket.on("connect", () => { console.log("connected"); process.exit() });
  socket.on("error", (error) => { console.log(error.code); process.exit() });
`;

const OPEN_SESSION = `
  const request = require("http").request(
    { socketPath: process.argv[1], method: "POST", path: "/v1/sessions",
      headers: { "content-type": "application/json" } },
    (response) => { response.resume(); console.log(response.statusCode, process.pid); });
  request.on("error", (error) => console.log(error.code));
  request.end(JSON.stringify({ worktree: "/tmp" }));
`;

test.runIf(isRoot)(
  "each socket is open to its own group alone, in a folder nobody can list",
  async () => {
    api = await startApi({ agentGid: AGENT_GID, adminGid: 4_400 });
    expect({
      runDir: access(api.runDir),
      projects: access(join(api.runDir, "projects")),
      folder: access(join(api.runDir, "projects/alpha")),
      agent: access(api.agentSocket("alpha")),
      admin: access(api.adminSocket),
    }).toEqual({
      runDir: { mode: "755", uid: 0, gid: 0 },
      projects: { mode: "711", uid: 0, gid: 0 },
      folder: { mode: "750", uid: 0, gid: AGENT_GID },
      agent: { mode: "660", uid: 0, gid: AGENT_GID },
      admin: { mode: "660", uid: 0, gid: 4_400 },
    });
  },
);

test.runIf(isRoot)(
  "without a group the admin socket and an agent's folder are the daemon's alone",
  async () => {
    api = await startApi();
    expect([access(api.adminSocket), access(join(api.runDir, "projects/alpha"))]).toEqual([
      { mode: "600", uid: 0, gid: 0 },
      { mode: "700", uid: 0, gid: 0 },
    ]);
  },
);

test.runIf(isRoot)(
  "an agent opens its own project's socket, neither the admin's nor that of a group it is not in",
  async () => {
    api = await startApi({ agentGid: AGENT_GID });
    const tries = [
      runAs(AGENT_UID, AGENT_GID, CONNECT, api.agentSocket("alpha")).out,
      runAs(AGENT_UID, AGENT_GID + 1, CONNECT, api.agentSocket("alpha")).out,
      runAs(AGENT_UID, AGENT_GID, CONNECT, api.adminSocket).out,
    ];
    expect(tries).toEqual(["connected", "EACCES", "EACCES"]);
  },
);

test.runIf(isRoot)("the caller is who the kernel says, whatever it sends", async () => {
  api = await startApi({ agentGid: AGENT_GID });
  const child = spawn(process.execPath, ["-e", OPEN_SESSION, api.agentSocket("beta")], {
    uid: AGENT_UID,
    gid: AGENT_GID,
    cwd: "/",
  });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  await once(child, "close");
  expect(out.trim()).toBe(`200 ${child.pid}`);
  expect(api.supervisor.callers).toEqual([
    {
      uid: AGENT_UID,
      gid: AGENT_GID,
      pid: child.pid,
      groups: [],
      socket: { kind: "agent", project: "beta" },
    },
  ]);
});

test.runIf(isRoot)("supplementary groups of the caller are known", async () => {
  api = await startApi({ agentGid: AGENT_GID });
  const code = `process.setgroups([${AGENT_GID}, 77, 88]); process.setgid(5); process.setuid(${AGENT_UID});${OPEN_SESSION}`;
  const child = spawn(process.execPath, ["-e", code, api.agentSocket("alpha")]);
  await once(child, "close");
  expect(api.supervisor.callers[0]?.groups.toSorted()).toEqual([77, 88, AGENT_GID].toSorted());
});

test("a stale socket is replaced", async () => {
  const runDir = emptyRunDir();
  const code = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", code, adminSocketPath(runDir)]);
  expect(existsSync(adminSocketPath(runDir))).toBe(true);
  api = await startApi({ runDir });
  expect((await send(api.adminSocket, "GET", "/v1/version")).status).toBe(200);
});

test("a live socket is not replaced, and goes on serving", async () => {
  api = await startApi();
  await expect(startApi({ runDir: api.runDir })).rejects.toMatchObject({ code: "socket-in-use" });
  expect((await send(api.adminSocket, "GET", "/v1/version")).status).toBe(200);
});

test("a file that is not a socket is never removed", async () => {
  const runDir = emptyRunDir();
  writeFileSync(adminSocketPath(runDir), "precious");
  await expect(
    listen(createServer(), adminSocketPath(runDir), { gid: null }),
  ).rejects.toMatchObject({ code: "bad-config" });
  expect(statSync(adminSocketPath(runDir)).size).toBe(8);
});

test.runIf(isRoot)("a run directory that is a link, or somebody else's, is refused", () => {
  const base = mkdtempSync(join(tmpdir(), "recinto-run-"));
  mkdirSync(join(base, "real"));
  symlinkSync(join(base, "real"), join(base, "link"));
  mkdirSync(join(base, "other"));
  spawnSync("chown", ["4321", join(base, "other")]);
  for (const name of ["link", "other"]) {
    expect(() => prepareRunDir(join(base, name))).toThrow(
      expect.objectContaining({ code: "unsafe-admin-file" }),
    );
  }
});

test("a project that is added has its socket when the answer comes; one that is removed loses it", async () => {
  api = await startApi();
  const gamma = {
    id: "gamma",
    root: "/tmp",
    profile: "default",
    worktrees: ".",
    agentGroup: null,
  };
  expect((await send(api.adminSocket, "POST", "/v1/projects", gamma)).body).toEqual(gamma);
  expect((await send(api.agentSocket("gamma"), "GET", "/v1/version")).status).toBe(200);
  expect((await send(api.adminSocket, "DELETE", "/v1/projects/gamma")).status).toBe(204);
  expect(existsSync(join(api.runDir, "projects/gamma"))).toBe(false);
});

test("folders of projects that are gone are cleared at the start, the others stay as they are", async () => {
  const runDir = emptyRunDir();
  for (const id of ["alpha", "gone"]) mkdirSync(join(runDir, "projects", id));
  const { ino } = statSync(join(runDir, "projects/alpha"));
  api = await startApi({ runDir });
  expect(readdirSync(join(runDir, "projects"))).toEqual(["alpha", "beta"]);
  expect(statSync(join(runDir, "projects/alpha")).ino).toBe(ino);
});

test("closing removes every socket", async () => {
  const started = await startApi();
  await started.listeners.close(0);
  expect([existsSync(started.adminSocket), existsSync(started.agentSocket("alpha"))]).toEqual([
    false,
    false,
  ]);
});
