/** The daemon from start to stop: agents on their sockets, people on theirs, an engine that goes and comes back. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminSocketPath, agentSocketPath } from "../../daemon/api/socket.ts";
import { fuzzSocket } from "../fuzz/http.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing =
  (await whyNot()) ?? (process.getuid?.() === 0 ? null : "only root can act as two agents");
const MIB = 2 ** 20;

describe.skipIf(missing)("recintod", () => {
  let daemon: Recintod;
  let alpha: TestProject;
  let beta: TestProject;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    alpha = await daemon.addProject("alpha", 5_001);
    beta = await daemon.addProject("beta", 5_002);
  });
  afterAll(() => daemon?.close());

  test("the measured line passes without asking, and its files are printed (A10)", async () => {
    const line = `cd ${alpha.worktree} && find . -type f | head -50; echo "---docs---"; ls -la docs .github; echo "---"; cat .git 2>/dev/null`;
    const { code, out, err } = await daemon.run(alpha, line);
    expect([code, out.includes("./docs/a.md"), out.includes("gitdir: ")]).toEqual([0, true, true]);
    expect(err).toBe("ls: cannot access '.github': No such file or directory\n");
    const [created] = await daemon.admin.events({ event: "proposed_action.created" });
    expect(created?.data).toMatchObject({ verdict: "allow", roots: [alpha.worktree] });
  });

  test("it behaves like the command: exit code, streams, stdin, folder", async () => {
    expect(await daemon.run(alpha, "echo out; echo err >&2; exit 7")).toEqual({
      code: 7,
      out: "out\n",
      err: "err\n",
    });
    expect((await daemon.run(alpha, "sort -r", { input: "a\nb\n" })).out).toBe("b\na\n");
    // Through the daemon itself, whose umask is stricter than a test's.
    expect((await daemon.run(alpha, "whoami")).out).toBe("agent\n");
    const inDocs = await daemon.run(alpha, "pwd", { words: ["--cwd", "docs"] });
    expect(inDocs.out).toBe(`${alpha.worktree}/docs\n`);
  });

  test("what needs a person waits, runs once when approved, and really deletes", async () => {
    const running = daemon.run(alpha, "rm -rf docs");
    const question = await nextQuestion(daemon);
    expect(question).toMatchObject({ command: "rm -rf docs", uid: 5_001, project: "alpha" });
    await daemon.admin.answer(question.id, { answer: "approve", mode: "once" });
    expect((await running).code).toBe(0);
    expect(existsSync(join(alpha.worktree, "docs"))).toBe(false);

    const again = daemon.run(alpha, "rm -rf .");
    const { id } = await nextQuestion(daemon);
    await daemon.admin.answer(id, { answer: "deny", reason: "once is once" });
    expect(await again).toMatchObject({ code: 126, err: expect.stringContaining("once is once") });
  });

  test("an agent's user cannot reach the inbox, nor another project's socket", async () => {
    const words = [adminSocketPath(daemon.runDir), agentSocketPath(daemon.runDir, "beta")];
    const code = `for (const path of process.argv.slice(1)) {
      require("net").connect(path).on("connect", () => console.log("connected")).on("error", (e) => console.log(e.code));
    }`;
    const tried = spawnSync(process.execPath, ["-e", code, ...words], {
      uid: 5_001,
      gid: 5_001,
      cwd: "/",
      encoding: "utf8",
    });
    expect(tried.stdout).toBe("EACCES\nEACCES\n");
  });

  test("root is refused as an agent: it could approve what it asks for", () => {
    const socket = agentSocketPath(daemon.runDir, "alpha");
    const { error } = requestAs(0, socket, "POST", "/v1/sessions", { worktree: alpha.worktree });
    expect(error?.code).toBe("approver-cannot-be-agent");
  });

  test("two agents on two projects at once see neither files, processes nor events of each other", async () => {
    const marker = "sleep 3.1234";
    const long = daemon.run(beta, `${marker}; cat docs/a.md`);
    await expect
      .poll(async () => (await daemon.admin.health()).running, { timeout: 20_000 })
      .toBeGreaterThan(0);
    const [files, processes] = await Promise.all([
      daemon.run(alpha, `ls ${beta.root}`, { words: ["--wait-for", "0"] }),
      daemon.run(alpha, "ps -eo args"),
    ]);
    // Outside the project it asks; nobody was to be asked, so it did not run.
    expect(files.code).toBe(126);
    expect(processes.out).toContain("ps -eo args");
    expect(processes.out).not.toContain(marker);
    const socket = agentSocketPath(daemon.runDir, "alpha");
    const sessions = requestAs(5_001, socket, "GET", "/v1/sessions") as unknown as {
      project: string;
    }[];
    expect(sessions.map(({ project }) => project)).toEqual(["alpha"]);
    expect(requestAs(5_001, socket, "GET", "/v1/events").error?.code).toBe("not-found");
    const [other] = (await daemon.admin.sessions()).filter(({ project }) => project === "beta");
    const asked = requestAs(5_001, socket, "GET", `/v1/sessions/${other?.id}`).error;
    const never = requestAs(5_001, socket, "GET", "/v1/sessions/s-never").error;
    expect([asked?.code, never?.code]).toEqual(["unknown-session", "unknown-session"]);
    expect(await long).toMatchObject({ code: 0, out: "the docs of beta\n" });
  });

  test("profiles are listed, shown and checked as the daemon would load them", async () => {
    const names = (await daemon.admin.profiles()).map(({ name }) => name);
    expect(names).toEqual(["default", "dev", "review"]);
    expect(await daemon.admin.profile("dev")).toMatchObject({ image: "recinto/base" });
    expect(await daemon.admin.checkProfile("mine", "extends: dev\n")).toMatchObject({
      name: "mine",
      image: "recinto/base",
    });
    await expect(
      daemon.admin.checkProfile("mine", "extends: dev\nimge: x\n"),
    ).rejects.toMatchObject({ code: "bad-profile", message: '(request):2:1: unknown key "imge"' });
  });

  test("an interrupted command leaves nothing running", async () => {
    const ran = daemon.run(alpha, "sleep 987.6 | cat", {
      onStarted: (child) => void untilProcess("sleep 987.6", true).then(() => child.kill("SIGINT")),
    });
    expect((await ran).code).toBe(130);
    await untilProcess("sleep 987.6", false);
  });

  test("an engine that goes away is said once, commands say so too, and all is well when it is back", async () => {
    await daemon.engine.close();
    const away = () => daemon.log.filter(({ msg }) => msg.startsWith("the engine is away")).length;
    await expect.poll(away, { timeout: 20_000 }).toBe(1);
    const refused = await daemon.run(alpha, "ls");
    expect(refused.code).toBe(69);
    expect(refused.err).toMatch(
      /^recinto: the container engine does not answer .*\(start the Docker/,
    );
    expect((await daemon.admin.health()).ok).toBe(false);
    await daemon.engine.open(join(daemon.base, "engine.sock"));
    const back = () => daemon.log.filter(({ msg }) => msg === "the engine is back").length;
    await expect.poll(back, { timeout: 20_000 }).toBe(1);
    expect((await daemon.run(alpha, "echo again")).out).toBe("again\n");
    expect(away()).toBe(1);
  });

  test("10,000 random byte strings on each socket leave it up and its memory flat", async () => {
    const seed = Date.now() % 1_000_000;
    for (const socket of [
      agentSocketPath(daemon.runDir, "alpha"),
      adminSocketPath(daemon.runDir),
    ]) {
      await fuzzSocket(socket, { seed, count: 2_000, atOnce: 64 });
      const before = daemon.rss();
      const { statuses } = await fuzzSocket(socket, { seed: seed + 1, count: 10_000, atOnce: 64 });
      expect(statuses["500"], `seed ${seed}`).toBeUndefined();
      expect(daemon.rss() - before, `seed ${seed}`).toBeLessThan(64 * MIB);
    }
    expect((await daemon.run(alpha, "echo up")).out).toBe("up\n");
  });

  test("told to stop it ends what runs, closes the record and takes its sockets away", async () => {
    const running = daemon.run(alpha, "sleep 986.5");
    await untilProcess("sleep 986.5", true);
    expect(await daemon.stop()).toBe(0);
    expect((await running).code).not.toBe(0);
    await untilProcess("sleep 986.5", false);
    expect(existsSync(adminSocketPath(daemon.runDir))).toBe(false);
    expect(daemon.log.at(-1)?.msg).toBe("stopped");
  }, 60_000);

  test("killed at once it starts again over its stale sockets, with its record whole", async () => {
    await daemon.start();
    await daemon.stop("SIGKILL");
    expect(existsSync(adminSocketPath(daemon.runDir))).toBe(true);
    await daemon.start();
    expect((await daemon.admin.verifyJournal()).ok).toBe(true);
    expect((await daemon.run(beta, "cat docs/a.md")).out).toBe("the docs of beta\n");
  });

  test("a second daemon on the same run directory is told so and changes nothing", async () => {
    const other = join(daemon.base, "other.yaml");
    daemon.writeConfig(other, { state: join(daemon.base, "other-state") });
    expect([await started(daemon.configFile), await started(other)]).toEqual([
      { code: 69, err: expect.stringContaining("is open in another process") },
      {
        code: 69,
        err: expect.stringContaining(
          `another process listens on ${adminSocketPath(daemon.runDir)}`,
        ),
      },
    ]);
    expect((await daemon.run(beta, "echo here")).out).toBe("here\n");
  });
});

describe("recintod without an engine", () => {
  test("a config that is wrong is refused with line and column", async () => {
    const daemon = new Recintod();
    writeFileSync(daemon.configFile, "runDir: /run/x\nsocketz: yes\n");
    expect(await started(daemon.configFile)).toEqual({
      code: 78,
      err: `recintod: ${daemon.configFile}:2:1: unknown key "socketz" (mend the file at the line and column named)\n`,
    });
    await daemon.close();
  });
});

/** One request by a process of this user; the answer's JSON. */
function requestAs(uid: number, socketPath: string, method: string, path: string, body?: object) {
  const code = `
    const { socketPath, method, path, body } = JSON.parse(process.argv[1]);
    const headers = body ? { "content-type": "application/json" } : {};
    const request = require("http").request({ socketPath, method, path, headers }, (response) =>
      response.pipe(process.stdout));
    request.end(body && JSON.stringify(body));`;
  const words = ["-e", code, JSON.stringify({ socketPath, method, path, body })];
  const { stdout } = spawnSync(process.execPath, words, {
    uid,
    gid: uid,
    cwd: "/",
    encoding: "utf8",
  });
  return JSON.parse(stdout) as { error?: { code: string } };
}

async function nextQuestion(daemon: Recintod) {
  const waiting = () => daemon.admin.approvals({ state: "pending" });
  await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1);
  const [question] = await waiting();
  if (question === undefined) throw new Error("the question is gone");
  return question;
}

/** Waits until a process with this command line is there, or is not. */
async function untilProcess(command: string, there: boolean): Promise<void> {
  const seen = () =>
    spawnSync("ps", ["-eo", "args"], { encoding: "utf8" })
      .stdout.split("\n")
      .some((line) => line.trim() === command);
  await expect.poll(seen, { timeout: 20_000 }).toBe(there);
}

function started(configFile: string): Promise<{ code: number | null; err: string }> {
  const main = new URL("../../daemon/main.ts", import.meta.url).pathname;
  const words = ["--import", import.meta.resolve("tsx"), main, "--config", configFile];
  const child = spawn(process.execPath, words, { cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, err })));
}
