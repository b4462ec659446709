/** Commands that run without bash, beside bash with the same text: what their program sees, what they print, how they end. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandArgv } from "../../daemon/sandbox/command.ts";
import { plainWords } from "../../daemon/sandbox/plain-words.ts";
import { RunnerServer } from "../../daemon/sandbox/runner/runner-server.ts";
import { CORPUS, corpusLines } from "../fuzz/parsers.ts";

describe("which command lines are plain", () => {
  it.each<[string, readonly string[]]>([
    ["true", ["true"]],
    ["  ls   -la src  ", ["ls", "-la", "src"]],
    ["grep -rn 'a  $b `c`' \"d e\"f'g'", ["grep", "-rn", "a  $b `c`", "d efg"]],
    ["sort -k1,2 --key=a ''", ["sort", "-k1,2", "--key=a", ""]],
    ["git show HEAD:a+b@c%d", ["git", "show", "HEAD:a+b@c%d"]],
    ["sed -n '1,5p\n6q' x", ["sed", "-n", "1,5p\n6q", "x"]],
  ])("%j is", (command, words) => {
    expect(plainWords(command)).toEqual(words);
  });

  it.each([
    "",
    "ls\n",
    "ls\tx",
    "ls; ls",
    "ls &",
    "ls | cat",
    "ls > x",
    "ls *",
    "ls a?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "ls a~",
    "ls $HOME",
    'ls "$HOME"',
    'ls "`id`"',
    'ls "a!b"',
    'ls "a\\b"',
    "ls a\\ b",
    "ls $'a'",
    "ls 'a",
    "ls #x",
    "ls 'a\u0001b'",
    "ls \u00a0",
    "A=1 ls",
    "./x",
    "/bin/ls",
    "(ls)",
    "! ls",
    "[ a ]",
    ":",
    "true x",
    "echo a",
    "cd x",
    "exec ls",
    "command ls",
    "time ls",
    "kill 1",
    "env",
    "printenv PATH",
  ])("%j is not", (command) => {
    expect(plainWords(command)).toBeNull();
  });
});

/** Prints everything that a program is started with. Its variables sorted: bash has an order of its own. */
const WITNESS = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
extern char **environ;
static int by_text(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
int main(int argc, char **argv) {
  char line[4096];
  size_t variables = 0;
  for (int i = 0; i < argc; i++) printf("arg %zu %s\\n", strlen(argv[i]), argv[i]);
  while (environ[variables]) variables++;
  qsort(environ, variables, sizeof *environ, by_text);
  for (size_t i = 0; i < variables; i++) printf("env %s\\n", environ[i]);
  printf("cwd %s\\n", getcwd(line, sizeof line));
  for (int fd = 0; fd < 64; fd++) if (readlink((snprintf(line, 64, "/proc/self/fd/%d", fd), line), line + 64, 1000) > 0) printf("fd %d\\n", fd);
  for (int kind = 0; kind < RLIM_NLIMITS; kind++) { struct rlimit l; getrlimit(kind, &l); printf("limit %d %lu %lu\\n", kind, l.rlim_cur, l.rlim_max); }
  printf("group %d session %d\\n", getpgrp() == getpid(), getsid(0) == getpid());
  FILE *status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, "Sig", 3) || !strncmp(line, "Umask", 5) || !strncmp(line, "Name", 4) || !strncmp(line, "NoNew", 5)) if (strncmp(line, "SigQ", 4)) fputs(line, stdout);
}
`;

/** Builtins that run as the program of the same name. */
const TWINS = ["true", "false"];
const NOBODY = { uid: 65_534, gid: 65_534 };

async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

describe.skipIf(process.getuid?.() !== 0)("with bash and without", () => {
  let folder: string;
  let server: RunnerServer;
  let runner: ChildProcess;
  let bins: string;
  let path: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "recinto-plain-"));
    chmodSync(folder, 0o755);
    const binary = join(folder, "recinto-runner");
    execFileSync("./scripts/build-runner", [binary]);
    mkdirSync(join(folder, "socket"), { mode: 0o700 });
    const secret = randomBytes(32);
    server = await RunnerServer.listen(join(folder, "socket", "s"), secret);
    runner = spawn(binary, ["--socket", join(folder, "socket", "s"), "2"], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    runner.stdin?.write(secret);

    bins = join(folder, "bin");
    path = `${join(folder, "odd")}:${bins}:/usr/bin:/bin`;
    mkdirSync(join(folder, "odd"));
    mkdirSync(bins);
    writeFileSync(join(folder, "witness.c"), WITNESS);
    execFileSync("cc", ["-O1", "-o", join(bins, "witness"), join(folder, "witness.c")]);
    const script = (name: string, body: string, mode = 0o755) =>
      writeFileSync(join(folder, "odd", name), body, { mode });
    script("no-line", "echo no line: $0 $1\n");
    script("no-interpreter", "#!/no/such/interpreter\n");
    script("not-executable", "#!/bin/sh\n", 0o644);
    script("hidden", "#!/bin/sh\necho the wrong one\n", 0o644);
    script("ends-9", "#!/bin/sh\nexit 9\n");
    script("crashes", "#!/bin/sh\nkill -SEGV $$\n");
    script("prints", "#!/bin/sh\necho out; echo err >&2; cat; exit 3\n");
    script("empty", "");
    mkdirSync(join(folder, "odd", "a-folder"));
    symlinkSync("loop", join(folder, "odd", "loop"));
    symlinkSync(join(bins, "witness"), join(bins, "hidden"));
    mkdirSync(join(folder, "work/src"), { recursive: true });
    writeFileSync(join(folder, "work/a.txt"), "one\ntwo\nthree\n");
    writeFileSync(join(folder, "work/src/b c.txt"), "two\n");
  });
  afterAll(async () => {
    runner.stdin?.end();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(command: string, direct: readonly string[] | null) {
    const child = await server.run({
      argv: commandArgv(command),
      ...(direct === null ? {} : { direct }),
      env: { PATH: path, HOME: "/home/x", LANG: "C.UTF-8" },
      cwd: join(folder, "work"),
      user: NOBODY,
      stdin: false,
      tty: null,
      confinement: { writable: [], readOnly: true, tcp: false },
      openFiles: null,
      fileBytes: null,
    });
    const [stdout, stderr, exit] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exited,
    ]);
    // Whether bash or what it became has ended is the one difference that there is to be; the folder is the same.
    return { stdout, stderr, ...exit, folder: exit.folder?.path };
  }

  async function differs(command: string): Promise<object | null> {
    const words = plainWords(command);
    if (words === null) throw new Error(`${command} is not plain`);
    const [bash, direct] = await Promise.all([run(command, null), run(command, words)]);
    return JSON.stringify(bash) === JSON.stringify(direct) ? null : { command, bash, direct };
  }

  it("the difference would be seen: another word, and no shell at all", async () => {
    const { stdout } = await run("witness a", ["witness", "b"]);
    expect(stdout).not.toBe((await run("witness a", null)).stdout);
    // Bash exports these three; a program that is started without it must see them too.
    expect(stdout).toMatch(/^env PWD=.*\nenv SHLVL=0\nenv _=.*\/bin\/witness$/m);
  });

  it.each([
    "true",
    "false",
    "ls",
    "ls -la src",
    "cat a.txt src/'b c.txt' no-such-file",
    "grep -n two a.txt",
    "grep -rn 'no such' .",
    "wc -l a.txt",
    "sort -r a.txt",
    "head -c 5 a.txt",
    "stat --format=%n a.txt",
    "find . -name '*.txt'",
    "date -u -d @0 '+%Y %s'",
    "touch new",
    "ls --no-such-option",
    "no-such-program",
    "no-such-program a 'b c'",
    "no-line x",
    "no-interpreter",
    "not-executable",
    "a-folder",
    "..",
    "loop",
    "empty",
    "hidden x",
    "ends-9",
    "crashes",
    "prints",
  ])("%s", async (command) => {
    expect(await differs(command)).toBeNull();
  });

  const lines = [...(corpusLines() ?? []), ...realLines()];
  it.skipIf(lines.length === 0)(
    "every plain command of the corpora",
    { timeout: 180_000 },
    async () => {
      const plain = [...new Set(lines)].filter((line) => plainWords(line) !== null);
      // Each name is the witness: it says what it was started with, and does nothing. What bash does itself keeps its own.
      for (const name of new Set(plain.map((line) => plainWords(line)?.[0] as string))) {
        const place = join(bins, name);
        if (!TWINS.includes(name) && !existsSync(place)) symlinkSync("witness", place);
      }
      const found: object[] = [];
      const waiting = plain.filter((_, index) => index % 3 === 0);
      const ran = waiting.length;
      const worker = async () => {
        for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
          const difference = await differs(line);
          if (difference !== null) found.push(difference);
        }
      };
      await Promise.all([worker(), worker(), worker()]);
      expect(found).toEqual([]);
      expect(ran).toBeGreaterThan(1_000);
    },
  );
});

function realLines(): string[] {
  const file = join(dirname(CORPUS), "real.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { command: string }).command);
}
