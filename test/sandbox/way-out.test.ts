/** A command's way out belongs to its own processes: others that know the port are refused, and would not be without the check. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { specFrame } from "../../daemon/sandbox/runner/frames.ts";

const USER = { uid: 65_534, gid: 65_534 };
const SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];
/** Talks to the port that the environment names, and prints what comes back. */
const OPEN = "exec 3<>/dev/tcp/127.0.0.1/$(echo $http_proxy | cut -d: -f3)";
const TALK = `${OPEN}; printf 'hello\\n' >&3; cat <&3`;

describe.skipIf(process.getuid?.() !== 0)("a way out", () => {
  let folder: string;
  let server: Server;
  /** What the daemon's side was sent, one connection each, and how it answers. */
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  let answer: (socket: Socket, index: number) => void;
  const children: ChildProcess[] = [];
  const token = randomBytes(32);
  const binaries = { checked: "", unchecked: "" };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "recinto-way-out-"));
    chmodSync(folder, 0o711);
    const noCheck = join(folder, "no-check.c");
    writeFileSync(noCheck, "int __wrap_peer_is_below(void) { return 1; }\n");
    for (const [name, flags] of [
      ["checked", SANITIZED],
      ["unchecked", [noCheck, "-Wl,--wrap=peer_is_below"]],
    ] as const) {
      binaries[name] = join(folder, name);
      execFileSync("./scripts/build-runner", [binaries[name], ...flags]);
    }
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      const index = heard.push(Buffer.alloc(0)) - 1;
      socket.on("data", (chunk) => {
        heard[index] = Buffer.concat([heard[index] ?? Buffer.alloc(0), chunk]);
        answer(socket, index);
      });
    });
    await new Promise<void>((resolve) => server.listen(join(folder, "e"), resolve));
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.stdin?.destroy();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    heard.length = 0;
  });

  const polite = (socket: Socket, index: number) => {
    if (heard[index]?.includes("hello\n")) socket.end("welcome\n");
  };

  function start(
    script: string,
    binary = binaries.checked,
  ): { child: ChildProcess; output: () => string } {
    const child = spawn(binary, ["--once"], {
      env: { ASAN_OPTIONS: "exitcode=99:detect_leaks=0", UBSAN_OPTIONS: "exitcode=99" },
    });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk.toString("latin1");
      });
    }
    child.stdin.on("error", () => undefined);
    child.stdin.write(
      specFrame({
        argv: ["/bin/bash", "-c", script],
        env: { PATH: "/usr/bin:/bin", http_proxy: "http://elsewhere.example:1" },
        cwd: "/",
        user: USER,
        stdin: false,
        tty: null,
        confinement: {
          writable: ["/tmp"],
          readOnly: false,
          tcp: true,
          wayOut: { socket: join(folder, "e"), token },
        },
        openFiles: null,
        fileBytes: null,
      }),
    );
    return { child, output: () => output };
  }

  const asUser = async (script: string, env: Record<string, string>): Promise<string> => {
    const whole = `{ ${script}; } 2>&1 || true`;
    const { stdout } = await promisify(execFile)("/bin/bash", ["-c", whole], { ...USER, env });
    return stdout;
  };

  /** The port of a command that stays. */
  async function portOf(running: { output: () => string }): Promise<string> {
    await expect.poll(running.output).toMatch(/at http:\/\/127\.0\.0\.1:\d+\n/);
    return /at (http:\S+)/.exec(running.output())?.[1] ?? "";
  }

  it("carries its own processes, children's children too, with its token in front", async () => {
    answer = polite;
    const { output } = start(
      `${TALK}; bash -c "bash -c '${TALK.replaceAll("'", "'\\''")}'"; echo over`,
    );
    await expect.poll(output).toContain("over");
    expect(output().match(/welcome/g)).toHaveLength(2);
    expect(heard.map((bytes) => bytes.toString("hex"))).toEqual([
      `${token.toString("hex")}${Buffer.from("hello\n").toString("hex")}`,
      `${token.toString("hex")}${Buffer.from("hello\n").toString("hex")}`,
    ]);
  });

  it("a socket of IPv6 that speaks to 127.0.0.1 is known too", async () => {
    answer = polite;
    const { output } = start(
      `python3 -c 'import os,socket as s;c=s.socket(s.AF_INET6);c.connect(("::ffff:127.0.0.1",int(os.environ["http_proxy"].split(":")[2])));c.send(b"hello\\n");print(c.recv(99))'; echo over`,
    );
    await expect.poll(output).toContain("over");
    expect(output()).toContain("welcome");
  });

  it("is refused to another process of the same user, who reads all there is to read", async () => {
    answer = polite;
    const stays = "echo at $http_proxy; sleep 60";
    const checked = start(stays);
    const address = await portOf(checked);
    expect(await asUser(TALK, { http_proxy: address })).not.toContain("welcome");
    expect(heard).toEqual([]);
    const environment = await asUser(
      `for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' <$f; done | grep -a proxy`,
      {},
    );
    expect(environment).toContain(address);
    expect(environment).not.toContain(token.toString("hex"));

    const unchecked = start(stays, binaries.unchecked);
    expect(await asUser(TALK, { http_proxy: await portOf(unchecked) })).toContain("welcome");
  });

  it("one command's way out is not another's, though both have one", async () => {
    answer = polite;
    const first = start("echo at $http_proxy; sleep 60");
    const address = await portOf(first);
    const second = start(`http_proxy=${address}; ${TALK}; echo over`);
    await expect.poll(second.output).toContain("over");
    expect(second.output()).not.toContain("welcome");
  });

  it("ends with its command: the port is closed and what was open is cut", async () => {
    answer = () => undefined;
    const running = start(`echo at $http_proxy; ${TALK}`);
    const address = await portOf(running);
    await expect.poll(() => heard[0]?.length).toBe(38);
    const [socket] = sockets;
    const closed = new Promise((resolve) => socket?.once("end", resolve));
    running.child.stdin?.destroy();
    await closed;
    await expect.poll(() => asUser(TALK, { http_proxy: address })).toContain("refused");
  });

  it("what the daemon cuts is cut inside, also while the command waits for more", async () => {
    answer = (socket) => socket.destroy();
    const { output } = start(`${TALK}; echo over`);
    await expect.poll(output).toContain("over");
  });

  it("carries more than its buffers both ways, no faster than the other side takes it", async () => {
    answer = (socket, index) => {
      if ((heard[index]?.length ?? 0) === 32 + 3_000_000) {
        socket.write(Buffer.alloc(5_000_000, "x"));
        socket.end();
      }
    };
    const { output } = start(`${OPEN}; head -c 3000000 /dev/zero >&3; wc -c <&3; echo over`);
    await expect.poll(output, { timeout: 20_000 }).toContain("over");
    expect(output()).toContain("5000000\n");
  });

  it("more connections than it holds wait their turn", async () => {
    answer = polite;
    const { output } = start(
      `for i in $(seq 150); do (${TALK}) & done | grep -c welcome; wait; echo over`,
    );
    await expect.poll(output, { timeout: 20_000 }).toContain("over");
    expect(output()).toContain("150\n");
  });
});
