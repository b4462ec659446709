/** docker-compose.yml with Debian's docker-compose: the daemon as a container, its sandboxes beside it. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AdminClient, adminClient } from "../../daemon/api/client.ts";
import { cli } from "../cli/run-cli.ts";
import { SOCKET, whyNot } from "./rig.ts";

const missing = (await whyNot()) ?? noCompose();
const CHECKOUT = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));
const PATIENCE_MS = 300_000;
const UID = 12_345;

function noCompose(): string | null {
  if (spawnSync("docker-compose", ["version"]).status === 0) return null;
  const reason = "there is no docker-compose (./scripts/engine tools installs it)";
  if (process.env.RECINTO_REQUIRE_ENGINE === "1") throw new Error(reason);
  console.warn(`skipped: ${reason}`);
  return reason;
}

describe.skipIf(missing)("docker-compose.yml", () => {
  // Short: a socket's path may have 107 bytes.
  const base = mkdtempSync(join(tmpdir(), "rc-"));
  const runDir = join(base, "run");
  const projects = join(base, "projects");
  let admin: AdminClient;

  function compose(...words: string[]): string {
    return execFileSync(
      "docker-compose",
      ["--project-name", basename(base).toLowerCase(), ...words],
      {
        cwd: CHECKOUT,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...process.env,
          RECINTO_ENGINE_SOCKET: SOCKET,
          RECINTO_ETC_DIR: join(base, "etc"),
          RECINTO_RUN_DIR: runDir,
          RECINTO_STATE_DIR: join(base, "state"),
          RECINTO_PROJECTS: projects,
        },
      },
    );
  }

  beforeAll(async () => {
    chmodSync(base, 0o755);
    for (const name of ["etc", "run", "state", "projects"]) mkdirSync(join(base, name));
    const config = `runDir: ${runDir}\nstateDir: ${join(base, "state")}\n`;
    writeFileSync(join(base, "etc/config.yaml"), config, { mode: 0o644 });
    execFileSync(join(CHECKOUT, "scripts/daemon-image"), { stdio: "ignore" });
    compose("up", "--detach");
    admin = adminClient({ socketPath: join(runDir, "admin.sock"), waitForStart: true });
  }, PATIENCE_MS);

  afterAll(async () => {
    await admin?.removeProject("shop").catch(() => {});
    admin?.close();
    compose("down", "--timeout", "30");
    rmSync(base, { recursive: true, force: true });
  }, PATIENCE_MS);

  test(
    "the daemon sees the engine, and holds six rights and no network of its own",
    async () => {
      await expect
        .poll(
          () =>
            admin.health().then(
              ({ ok }) => ok,
              () => false,
            ),
          { timeout: 60_000 },
        )
        .toBe(true);
      const id = compose("ps", "--quiet").trim();
      const inside = (script: string) =>
        execFileSync("docker", ["exec", id, "bash", "-c", script], { encoding: "utf8" }).trim();
      expect(inside("grep -E '^(CapEff|NoNewPrivs)' /proc/self/status").replace(/\s+/g, " ")).toBe(
        "CapEff: 00000000000000eb NoNewPrivs: 1",
      );
      expect(inside("ls /sys/class/net")).toBe("lo");
      expect(inside("touch /x 2>&1 || true")).toContain("Read-only file system");
    },
    PATIENCE_MS,
  );

  test(
    "an agent on the host runs commands in a sandbox that the daemon made beside itself",
    async () => {
      const root = join(projects, "shop");
      execFileSync("bash", [
        "-ec",
        `
      git init -q -b main ${root}; cd ${root}; echo hello >a.txt; git add a.txt
      git -c user.name=t -c user.email=t@example.org commit -qm first
      git worktree add -q -b dev .worktrees/dev; chown -R ${UID}:${UID} .`,
      ]);
      await admin.addProject({
        id: "shop",
        root,
        profile: "dev",
        worktrees: ".worktrees/*",
        agentGroup: null,
      });
      const run = (command: string) =>
        cli(["--run-dir", runDir, "run", "--project", "shop", "--worktree", "dev", "--", command]);
      expect(await run("cat a.txt; echo $((6 * 7)) >made.txt; cat made.txt")).toMatchObject({
        code: 0,
        out: "hello\n42\n",
      });
      expect(
        await run("git add made.txt && git commit -qm second && git log --format=%s -1"),
      ).toMatchObject({ code: 0, out: "second\n" });
      // On the host, as its owner's.
      const log = ["-c", `safe.directory=*`, "-C", root, "log", "--format=%s", "-1", "dev"];
      expect(execFileSync("git", log, { encoding: "utf8" })).toBe("second\n");
    },
    PATIENCE_MS,
  );

  test(
    "restarted, it goes on with the same journal and adopts its sandbox",
    async () => {
      const [before] = await admin.sandboxes();
      compose("restart", "--timeout", "30");
      await expect
        .poll(
          () =>
            admin.sandboxes().then(
              (all) => all.map(({ id }) => id),
              () => [],
            ),
          { timeout: 60_000 },
        )
        .toEqual([before?.id]);
      expect((await admin.verifyJournal()).ok).toBe(true);
    },
    PATIENCE_MS,
  );
});
