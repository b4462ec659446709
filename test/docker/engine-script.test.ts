/** scripts/engine with an engine of its own, beside the machine's. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { SOCKET, whyNot } from "./rig.ts";

const missing = await whyNot();
const script = fileURLToPath(new URL("../../scripts/engine", import.meta.url));
// Short: a socket's path may have 107 bytes.
const state = mkdtempSync(join(tmpdir(), "re-"));
const socket = join(state, "docker.sock");

function engine(
  command: string,
  env: Record<string, string> = {},
): { code: number | null; said: string } {
  const { status, stderr } = spawnSync("bash", [script, command], {
    env: { ...process.env, RECINTO_ENGINE_SOCKET: socket, RECINTO_ENGINE_STATE: state, ...env },
    encoding: "utf8",
  });
  return { code: status, said: stderr };
}

describe.skipIf(missing)("scripts/engine", () => {
  afterAll(() => {
    engine("stop");
    rmSync(state, { recursive: true, force: true });
  });

  test("starts an engine by hand, twice is once, and stops it", async () => {
    expect(engine("status")).toEqual({
      code: 69,
      said: `engine: no engine answers at ${socket}. Start one:  ./scripts/engine start\n`,
    });
    expect(engine("start")).toMatchObject({ code: 0, said: expect.stringContaining("by hand") });
    expect((await new DockerEngine(socket).info()).name).toBe("docker");
    const pid = readFileSync(join(state, "dockerd.started"), "utf8");
    expect(engine("start")).toMatchObject({
      code: 0,
      said: expect.not.stringContaining("by hand"),
    });
    expect(readFileSync(join(state, "dockerd.started"), "utf8")).toBe(pid);
    expect(engine("stop")).toEqual({ code: 0, said: "engine: stopped\n" });
    expect(engine("status").code).toBe(69);
  });

  test("leaves an engine alone that it did not start", async () => {
    expect(engine("stop", { RECINTO_ENGINE_SOCKET: SOCKET })).toMatchObject({
      code: 0,
      said: expect.stringContaining("was not started by this script"),
    });
    expect((await new DockerEngine(SOCKET).info()).name).toBe("docker");
  });

  test("without root says the one command to run", () => {
    const as = ["--reuid=12345", "--regid=12345", "--clear-groups", "bash", "-s", "start"];
    const { status, stderr } = spawnSync("setpriv", as, {
      input: readFileSync(script),
      env: { ...process.env, RECINTO_ENGINE_SOCKET: "/nonexistent/docker.sock" },
      cwd: "/",
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      69,
      "engine: no engine answers at /nonexistent/docker.sock, and starting one needs root. Run:  sudo ./scripts/engine start\n",
    ]);
  });

  test("says how it is used", () => {
    expect(engine("frobnicate").code).toBe(64);
  });
});
