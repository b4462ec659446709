/** The runner's program on kernels that lack what it uses: played by a filter that answers as they do. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FROM_RUNNER, specFrame } from "../../daemon/sandbox/runner/frames.ts";

const EINVAL = 22;
const ENOSYS = 38;
/** Of x86_64. */
const CLOSE_RANGE = 436;
const PRCTL = 157;
const SET_CHILD_SUBREAPER = 36;
const LANDLOCK_CREATE_RULESET = 444;

/**
 * Starts the program of its last words with descriptor 9 open and one call refused: by its number, its first argument
 * (-1: any) and the error.
 */
const KERNEL = `
import ctypes, os, struct, sys
call, argument, error = map(int, sys.argv[1:4])
step = lambda code, yes, no, k: struct.pack("<HBBI", code, yes, no, k)
steps = [step(0x20, 0, 0, 0), step(0x15, 0, 1 if argument < 0 else 3, call)]
if argument >= 0: steps += [step(0x20, 0, 0, 16), step(0x15, 0, 1, argument)]
steps += [step(0x06, 0, 0, 0x50000 | error), step(0x06, 0, 0, 0x7fff0000)]
filter = ctypes.create_string_buffer(b"".join(steps))
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(filter)))
os.dup2(os.open("/dev/zero", os.O_RDONLY), 9)
if ctypes.CDLL(None).prctl(22, 2, program, 0, 0) != 0: sys.exit("no filter")
os.execv(sys.argv[4], sys.argv[4:])`;

const usable = process.getuid?.() === 0 && process.arch === "x64";

describe.skipIf(!usable)("the runner's program where the kernel lacks", () => {
  let folder: string;
  let binary: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "recinto-kernels-"));
    chmodSync(folder, 0o711);
    binary = join(folder, "recinto-runner");
    execFileSync("./scripts/build-runner", [binary]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Frames of one command, output put together. */
  async function run(script: string, refused: readonly [number, number, number]) {
    const args = ["-c", KERNEL, ...refused.map(String), binary, "--once"];
    const child = spawn("python3", args, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.on("error", () => {});
    child.stdin.write(
      specFrame({
        argv: ["bash", "-c", script],
        env: { PATH: "/usr/bin:/bin" },
        cwd: "/",
        user: { uid: 65_534, gid: 65_534 },
        stdin: false,
        tty: null,
        confinement: { writable: [], readOnly: true, tcp: false },
        openFiles: null,
        fileBytes: null,
      }),
    );
    let bytes = Buffer.alloc(0);
    const said = { landlock: -1, failed: "", output: "", status: -1 };
    for await (const chunk of child.stdout) {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32LE(0)) {
        const payload = bytes.subarray(5, 5 + bytes.readUInt32LE(0));
        const type = bytes[4];
        bytes = bytes.subarray(5 + payload.length);
        if (type === FROM_RUNNER.started) said.landlock = payload.readUInt32LE(4);
        if (type === FROM_RUNNER.failed)
          said.failed = `${payload.subarray(4)} ${payload.readUInt32LE(0)}`;
        if (type === FROM_RUNNER.stdout || type === FROM_RUNNER.stderr) said.output += payload;
        if (type === FROM_RUNNER.exited) said.status = payload.readUInt32LE(0);
        if (type === FROM_RUNNER.gone) child.stdin.end();
      }
    }
    return said;
  }
  const landlock = () => Number(execFileSync(binary, ["--abi"]));
  const look = "cd /proc/self/fd; echo *";

  test.each([
    ["the call that closes many descriptors", ENOSYS],
    ["its flag", EINVAL],
  ])("%s: a command still inherits none", async (_, error) => {
    const expected = { landlock: landlock(), failed: "", output: "0 1 2 3\n", status: 0 };
    expect(await run(look, [CLOSE_RANGE, -1, error])).toEqual(expected);
  });

  test("child subreapers: it starts nothing whose end it could not know", async () => {
    expect(await run("echo ran", [PRCTL, SET_CHILD_SUBREAPER, EINVAL])).toEqual({
      landlock: -1,
      failed: `child subreaper ${EINVAL}`,
      output: "",
      status: -1,
    });
  });

  test("Landlock: it says so, and refuses what the filter of calls can refuse", async () => {
    const script = "cd /tmp && mkdir kernels-$$ && rmdir kernels-$$ && chmod 700 /tmp";
    expect(await run(script, [LANDLOCK_CREATE_RULESET, -1, ENOSYS])).toMatchObject({
      landlock: 0,
      output: expect.stringContaining(
        "chmod: changing permissions of '/tmp': Operation not permitted",
      ),
      status: 256,
    });
  });

  test("nothing: the filter itself changes nothing", async () => {
    expect((await run(look, [100_000, -1, ENOSYS])).output).toBe("0 1 2 3\n");
  });
});
