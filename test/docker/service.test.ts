/** recintod as a service of a real systemd, booted in a container: installed, started, watched, reloaded, stopped, taken away. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { SOCKET, whyNot } from "./rig.ts";

const missing = await whyNot();
const CHECKOUT = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));
const PATIENCE_MS = 240_000;

/** At the same path on both sides, since the engine mounts from here what the daemon on the machine names. */
const shared = mkdtempSync("/srv/rs-");
let machine = "";

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * A command on the machine, as root. The engine is where no default configuration finds it: a daemon with the state
 * directory of a real installation would take the sandboxes of one that may be running here for its own.
 */
function on(script: string): Said {
  const { status, stdout, stderr } = spawnSync("docker", ["exec", machine, "bash", "-c", script], {
    encoding: "utf8",
    timeout: 120_000,
  });
  return { code: status, out: stdout.trim(), err: stderr.trim() };
}

/** Its output; a failure is the test's. */
function must(script: string): string {
  const { code, out, err } = on(script);
  if (code !== 0) throw new Error(`${script}\nended with ${code}: ${out}\n${err}`);
  return out;
}

async function until(what: string, script: string, seconds = 90): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (on(script).code !== 0) {
    if (Date.now() > end)
      throw new Error(
        `${what}: ${on("systemctl status recintod; journalctl -u recintod -n 30").out}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

const property = (name: string) => must(`systemctl show recintod -p ${name} --value`);
/** Serving again as another process; for a moment after its end there is none, and the unit still counts as active. */
const activeAs = (pid: string) =>
  `[ "$(systemctl is-active recintod)" = active ] && now=$(systemctl show recintod -p MainPID --value) && [ $now != 0 ] && [ $now != ${pid} ]`;

/** npm as it runs here, for the pruning of packages: the machine has no registry. */
function npmMounts(): string[] {
  const cli = realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
  const home = dirname(dirname(cli));
  return ["-v", `${home}:${home}:ro`, "-e", `NPM_CLI=${cli}`];
}

async function boot(): Promise<void> {
  const images = fileURLToPath(new URL("./images/", import.meta.url));
  const { ref } = await buildImage({
    name: "systemd",
    imagesDir: images,
    store: new DockerEngine(SOCKET),
    onProgress: () => {},
  });
  // The machine sees the checkout read-only: what is stale is built here.
  execFileSync(join(CHECKOUT, "scripts/build"), ["--quiet"], { stdio: "ignore" });
  const node = realpathSync(process.execPath);
  const words = ["run", "--detach", "--network", "none", "--label", "io.recinto.test=service"];
  for (const right of ["SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE"]) words.push("--cap-add", right);
  words.push("--security-opt", "seccomp=unconfined", "--cgroupns=host");
  words.push("-v", "/sys/fs/cgroup:/sys/fs/cgroup:rw");
  for (const folder of ["/run", "/run/lock", "/tmp"]) words.push("--tmpfs", folder);
  words.push("-v", `${CHECKOUT}:${CHECKOUT}:ro`, "--tmpfs", join(CHECKOUT, ".cache"));
  words.push("-v", `${node}:/usr/bin/node:ro`, ...npmMounts(), "-e", "container=docker");
  words.push("-v", `${shared}:${shared}`, "-v", `${SOCKET}:/engine.sock`);
  words.push(ref, "/sbin/init");
  machine = execFileSync("docker", words, { encoding: "utf8" }).trim();
  await until("systemd starts", "systemctl is-system-running | grep -E 'running|degraded'");
  must(
    `printf '#!/bin/sh\\nexec node "$NPM_CLI" "$@"\\n' >/usr/local/bin/npm; chmod +x /usr/local/bin/npm`,
  );
}

const INSTALL = `${CHECKOUT}/scripts/install.sh`;

describe.skipIf(missing)("recintod as a service of systemd (D5)", () => {
  beforeAll(boot, PATIENCE_MS);
  afterAll(() => {
    if (machine !== "") execFileSync("docker", ["rm", "-f", "-v", machine], { stdio: "ignore" });
    rmSync(shared, { recursive: true, force: true });
  });

  test("a dry run says every step and changes nothing", () => {
    const before = must("ls -A /etc /usr/lib /usr/local/bin /var/lib | sha256sum");
    const { code, err } = on(`${INSTALL} --dry-run`);
    expect(code).toBe(0);
    expect(err).toContain("would: put program and production packages into /usr/lib/recinto,");
    expect(err).toContain("would: systemctl start recintod.service");
    expect(err).toContain("nothing was changed");
    expect(must("ls -A /etc /usr/lib /usr/local/bin /var/lib | sha256sum")).toBe(before);
  });

  test(
    "installs, and is active only once its sockets answer",
    () => {
      const { code, err } = on(INSTALL);
      expect([code, err]).toEqual([0, expect.stringContaining("installed. Next:")]);
      expect(property("ActiveState")).toBe("active");
      // Type=notify: systemctl start has come back, so it serves.
      expect(must("recinto profile list")).toContain("default");
      expect(property("StatusText")).toContain("the engine is away");
      expect(must("systemctl is-enabled recintod")).toBe("enabled");
    },
    PATIENCE_MS,
  );

  test("twice is once", () => {
    const pid = property("MainPID");
    const { code, err } = on(INSTALL);
    expect([code, err]).toEqual([0, "install: everything was installed already"]);
    expect(property("MainPID")).toBe(pid);
  });

  test("the admin socket is root's and the group's: a member gets in, another user does not", () => {
    expect(must("stat -c '%a %U %G' /run/recinto/admin.sock")).toBe("660 root recinto");
    expect(must("stat -c '%a %U' /run/recinto /var/lib/recinto /etc/recinto").split("\n")).toEqual([
      "755 root",
      "700 root",
      "755 root",
    ]);
    must("useradd -G recinto ann; useradd bob");
    const as = (user: string) =>
      on(`setpriv --reuid=${user} --regid=${user} --init-groups recinto profile list`);
    expect(as("ann").code).toBe(0);
    expect(as("bob").code).not.toBe(0);
  });

  test("runs with six capabilities, none of which a program of its can add to", () => {
    const pid = property("MainPID");
    const bits = must(`grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/${pid}/status`).replace(
      /\s+/g,
      " ",
    );
    const six = (1 << 0) | (1 << 1) | (1 << 3) | (1 << 5) | (1 << 6) | (1 << 7);
    const hex = six.toString(16).padStart(16, "0");
    expect(bits).toBe(`CapEff: ${hex} CapBnd: ${hex} NoNewPrivs: 1`);
  });

  test("cannot write to the system, which it could as root without the unit", () => {
    const pid = property("MainPID");
    const touch = (path: string) => on(`nsenter -t ${pid} -m touch ${path}`).code;
    expect([touch("/usr/x"), touch("/etc/x"), touch("/boot/x")]).toEqual([1, 1, 1]);
    expect([touch("/etc/recinto/x"), touch("/var/lib/recinto/x")]).toEqual([0, 0]);
    must("rm /etc/recinto/x /var/lib/recinto/x; touch /usr/x && rm /usr/x");
  });

  test("systemd's own score of its hardening is what the documentation says", () => {
    const line = must("systemd-analyze security --no-pager recintod | tail -1");
    const score = Number(/: (\d+\.\d+)/.exec(line)?.[1]);
    console.log(`systemd-analyze security: ${line}`);
    const page = readFileSync(join(CHECKOUT, "docs/operations.md"), "utf8");
    const [, said] = /systemd-analyze security recintod` gives it (\d+\.\d+)/.exec(page) ?? [];
    expect(score).toBe(Number(said));
  });

  test("logs to the journal with a field for each value", () => {
    const entry = JSON.parse(
      must("journalctl -u recintod -o json --no-pager RECINTO_RUNDIR=/run/recinto | tail -1"),
    );
    expect(entry).toMatchObject({
      MESSAGE: "recintod is ready",
      PRIORITY: "6",
      SYSLOG_IDENTIFIER: "recintod",
      _SYSTEMD_UNIT: "recintod.service",
    });
  });

  test("reload takes up profiles and the log level, and keeps what it had where a file is broken", async () => {
    const pid = property("MainPID");
    must(
      "mkdir -p /etc/recinto/profiles && printf 'extends: dev\\n' >/etc/recinto/profiles/ours.yaml",
    );
    must("printf 'adminGroup: recinto\\nlogLevel: debug\\n' >/etc/recinto/config.yaml");
    must("systemctl reload recintod");
    await until("the reload", "journalctl -u recintod | grep -q 'are read again'");
    expect(must("recinto profile list")).toContain("ours");
    must("printf 'logLevel: loud\\n' >/etc/recinto/config.yaml; systemctl reload recintod");
    await until("the refusal", "journalctl -u recintod | grep -q 'what it said before holds'");
    must("printf 'adminGroup: recinto\\n' >/etc/recinto/config.yaml; systemctl reload recintod");
    expect(property("MainPID")).toBe(pid);
  });

  test(
    "a daemon whose loop hangs is killed by the watchdog and started again",
    async () => {
      must("mkdir -p /run/systemd/system/recintod.service.d");
      must(
        "printf '[Service]\\nWatchdogSec=3\\n' >/run/systemd/system/recintod.service.d/fast.conf",
      );
      must("systemctl daemon-reload; systemctl restart recintod");
      const pid = property("MainPID");
      // Longer than the watchdog waits: a daemon that says so lives on.
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      expect(property("MainPID")).toBe(pid);
      must(`kill -STOP ${pid}`);
      await until("the watchdog", activeAs(pid));
      expect(must("journalctl -u recintod")).toMatch(/[Ww]atchdog timeout/);
      must("rm -r /run/systemd/system/recintod.service.d; systemctl daemon-reload");
    },
    PATIENCE_MS,
  );

  test(
    "killed, it is back, with its journal whole",
    async () => {
      must("systemctl restart recintod");
      const pid = property("MainPID");
      must(`kill -KILL ${pid}`);
      await until("the restart", activeAs(pid));
      expect(on("recinto journal verify").code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "stops in good order within its limit, and says so on record",
    () => {
      const before = Date.now();
      must("systemctl stop recintod");
      expect(Date.now() - before).toBeLessThan(60_000);
      expect([property("Result"), property("ExecMainStatus")]).toEqual(["success", "0"]);
      expect(must("ls /run/recinto")).not.toContain("admin.sock");
      must("systemctl start recintod");
      expect(must("recinto events --json | tail -3")).toContain("daemon.stopped");
    },
    PATIENCE_MS,
  );

  test(
    "what an admin has to mend is not tried again and again",
    async () => {
      must("systemctl stop recintod; printf 'nonsense: 1\\n' >/etc/recinto/config.yaml");
      expect(on("systemctl start recintod").code).not.toBe(0);
      await until("it gives up", "systemctl is-failed recintod");
      expect([property("NRestarts"), property("ExecMainStatus")]).toEqual(["0", "78"]);
      expect(must("journalctl -u recintod | tail -5")).toContain("nonsense");
      must(
        "printf 'adminGroup: recinto\\n' >/etc/recinto/config.yaml; systemctl reset-failed recintod; systemctl start recintod",
      );
    },
    PATIENCE_MS,
  );

  test(
    "an upgrade restarts it, keeps state and configuration, and the program before",
    () => {
      const pid = property("MainPID");
      const entries = Number(
        must("recinto events --json | head -1 | grep -o '\"seq\":[0-9]*' | cut -d: -f2"),
      );
      must("echo other >/usr/lib/recinto/.stamp");
      const { code, err } = on(INSTALL);
      expect([code, err]).toEqual([0, expect.stringContaining("upgrading: recintod restarts")]);
      expect(property("MainPID")).not.toBe(pid);
      expect(must("cat /usr/lib/recinto.previous/.stamp")).toBe("other");
      expect(must("cat /etc/recinto/config.yaml")).toBe("adminGroup: recinto");
      expect(must("recinto events --json | head -1")).toContain(`"seq":${entries}`);
      expect(on("recinto journal verify").code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "is backed up, restored and pruned as docs/operations.md says, and goes on with the same record",
    () => {
      const page = readFileSync(join(CHECKOUT, "docs/operations.md"), "utf8");
      const [backup = "", journal = "", restore = "", prune = ""] = [
        ...page.matchAll(/^```sh service\n([\s\S]*?)^```/gm),
      ].map(([, block]) => block);
      const first = must("recinto events --json | head -1");
      must(`set -e; ${backup}`);
      expect(must(`set -e; ${journal}`)).toMatch(/ok|holds|entries/);
      // What happened since the backup is what a restore loses.
      must("printf 'extends: review\n' >/etc/recinto/profiles/late.yaml");
      must(`set -e; ${restore}`);
      expect(must("recinto events --json | head -1")).toBe(first);
      expect(must("ls /etc/recinto/profiles")).not.toContain("late");
      // Nothing here is ninety days old: what counts is that the steps work, and in this order.
      expect(prune).toContain("recinto journal prune");
      must(`set -e; ${prune}`);
      expect(must("recinto --wait events --json | head -1")).toBe(first);
    },
    PATIENCE_MS,
  );

  test(
    "with all of that in force it judges, makes a sandbox and runs a command in it",
    async () => {
      chmodSync(shared, 0o755);
      const config = ["adminGroup: recinto", "engineSocket: /engine.sock"];
      config.push(`runDir: ${shared}/run`, `stateDir: ${shared}/state`);
      must(
        `printf '%s\n' ${config.map((line) => `'${line}'`).join(" ")} >/etc/recinto/config.yaml`,
      );
      must("systemctl restart recintod");
      const root = `${shared}/shop`;
      must(`set -e; useradd agent; git init -q -b main ${root}; cd ${root}; echo hello >a.txt; git add a.txt
      git -c user.name=t -c user.email=t@example.org commit -qm first
      git worktree add -q -b dev .worktrees/dev; chown -R agent:agent ${root}`);
      const recinto = `recinto --run-dir ${shared}/run`;
      must(
        `${recinto} project add shop --root ${root} --worktrees '.worktrees/*' --profile default`,
      );
      const as = `cd /; setpriv --reuid=agent --regid=agent --init-groups ${recinto} run --project shop --worktree dev`;
      expect(must(`${as} -- 'cat a.txt && git status --short --branch'`)).toBe("hello\n## dev");
      must(`${as} -- 'touch made.txt' </dev/null >/tmp/touch 2>&1 &`);
      await until("the question", `${recinto} approvals list | grep -q 'touch made.txt'`);
      must(`${recinto} project remove shop`);
      must("printf 'adminGroup: recinto\n' >/etc/recinto/config.yaml; systemctl restart recintod");
    },
    PATIENCE_MS,
  );

  test(
    "with its socket held by systemd, a caller waits while the daemon is away",
    async () => {
      must(`${INSTALL} --with-socket`);
      expect(must("stat -c '%a %U %G' /run/recinto/admin.sock")).toBe("660 root recinto");
      must("systemctl stop recintod.service");
      // Nobody serves; the connection itself starts the daemon, and is answered.
      expect(must("recinto profile list")).toContain("default");
      expect(property("ActiveState")).toBe("active");
    },
    PATIENCE_MS,
  );

  test(
    "goes away and leaves state and configuration; purged, nothing is left",
    () => {
      const { code, err } = on(`${CHECKOUT}/scripts/uninstall.sh`);
      expect([code, err]).toEqual([0, expect.stringContaining("stay")]);
      expect(on("systemctl cat recintod").code).not.toBe(0);
      expect(must("ls /var/lib/recinto")).toContain("journal.sqlite");
      // There is no engine's client on this machine: what could not be looked for is said, with the command.
      const purged = on(`${CHECKOUT}/scripts/uninstall.sh --purge`);
      expect([purged.code, purged.err]).toEqual([
        0,
        expect.stringContaining("sandboxes stay, if there are any. Later:  docker rm -f"),
      ]);
      expect(
        must("ls -d /usr/lib/recinto* /var/lib/recinto /etc/recinto 2>/dev/null | wc -l"),
      ).toBe("0");
    },
    PATIENCE_MS,
  );
});
