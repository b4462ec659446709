/** The runner's C code, built with sanitizers, under frames that no daemon would send. Seed printed on failure. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { frame, specFrame, TO_RUNNER, u32 } from "../../daemon/sandbox/runner/frames.ts";

const RUNS = Number(process.env.RECINTO_FUZZ_RUNS ?? 150);

describe.skipIf(process.getuid?.() !== 0)("the runner's protocol under attack", () => {
  let folder: string;
  let binary: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "recinto-protocol-"));
    chmodSync(folder, 0o711);
    binary = join(folder, "runner");
    execFileSync("./scripts/build-runner", [
      binary,
      "-fsanitize=address,undefined",
      "-fno-sanitize-recover=all",
      "-g",
    ]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Feeds bytes to one minder; a sanitizer's finding ends it with code 99 and a report. */
  function feed(
    bytes: Uint8Array,
    until?: string,
  ): Promise<{ code: number | null; stderr: string; stdout: Buffer }> {
    return new Promise((resolve) => {
      const child = spawn(binary, ["--once"], {
        env: { ASAN_OPTIONS: "exitcode=99:detect_leaks=0", UBSAN_OPTIONS: "exitcode=99" },
      });
      const out: Buffer[] = [];
      let stderr = "";
      child.stdout.on("data", (chunk) => {
        out.push(chunk);
        // An end of its input means that the daemon is gone, and ends the command.
        if (until !== undefined && Buffer.concat(out).includes(until)) child.stdin.end();
      });
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
      });
      child.stdin.on("error", () => {});
      child.on("close", (code) => resolve({ code, stderr, stdout: Buffer.concat(out) }));
      child.stdin.write(bytes);
      if (until === undefined) child.stdin.end();
    });
  }

  const command = (script: string) =>
    specFrame({
      argv: ["/bin/sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      user: { uid: 65_534, gid: 65_534 },
      stdin: true,
      tty: null,
      confinement: { writable: ["/tmp"], readOnly: false, tcp: true },
      openFiles: 256,
      fileBytes: null,
    });

  it("serves one command on its own stdin and stdout", async () => {
    const { stdout, stderr } = await feed(
      Buffer.concat([command("echo out"), frame(TO_RUNNER.stdinEnd)]),
      "out\n",
    );
    expect(stderr).toBe("");
    expect(stdout.includes("out\n")).toBe(true);
  });

  it("arbitrary bytes, and arbitrary fields in a specification, never break its memory", async () => {
    const field = fc
      .tuple(
        fc.constantFrom(..."apewduticlnx"),
        fc.uint8Array({ maxLength: 24 }),
        fc.integer({ min: -2, max: 2 }),
      )
      .map(([tag, value, lie]) =>
        Buffer.concat([Buffer.from(tag), u32(Math.max(0, value.length + lie)), value]),
      );
    const spec = fc
      .array(field, { maxLength: 12 })
      .map((fields) => frame(TO_RUNNER.spec, Buffer.concat(fields)));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
      spec,
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (input) => {
        const { code, stderr } = await feed(input);
        expect({ code, stderr }).toEqual({
          code: expect.toSatisfy((value) => value !== 99 && value !== null),
          stderr: "",
        });
      }),
      { numRuns: RUNS },
    );
  });

  it("arbitrary frames to a running command end it, at worst", async () => {
    const kind = fc.constantFrom(...Object.values(TO_RUNNER), 0, 1, 255);
    const any = fc
      .tuple(kind, fc.uint8Array({ maxLength: 300 }))
      .map(([type, payload]) => frame(type, payload));
    await fc.assert(
      fc.asyncProperty(fc.array(any, { maxLength: 8 }), async (frames) => {
        const { code, stderr } = await feed(Buffer.concat([command("cat >/dev/null"), ...frames]));
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      }),
      { numRuns: RUNS },
    );
  });

  it("an input frame beyond the window ends the command instead of growing", async () => {
    const flood = Buffer.concat(
      Array.from({ length: 8 }, () => frame(TO_RUNNER.stdin, Buffer.alloc(65_536))),
    );
    const { code } = await feed(Buffer.concat([command("sleep 1000"), flood]));
    expect(code).toBe(0);
  });
});
