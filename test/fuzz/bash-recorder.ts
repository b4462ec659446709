/** Runs command lines in real bash, in a throw-away container where every other program only records how it was called. */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where every command starts, and what is there. */
export const WORK = "/t/w";
export const HOME = "/home/a";
const FILES = [
  "a.txt",
  "b.c",
  "c d.txt",
  "src/x.c",
  "src/y.ts",
  "src/sub/z.c",
  "docs/r.md",
  "d1/one",
  "d2/two",
  ".hid",
];

/** Run as they are: what they run is what counts. */
const WRAPPERS = "bash sh env timeout nice nohup stdbuf setsid ionice chrt taskset xargs".split(
  " ",
);
/** Recorded, and then run all the same, since others depend on what they print or return. */
const GENUINE =
  "ls cat head tail sort uniq grep wc seq basename dirname echo true false tr sed mktemp date find pwd".split(
    " ",
  );
/** Programs only the driver uses. */
const DRIVER = "cp rm sleep timeout".split(" ");
const RECORDED =
  "v1 v2 v3 v4 git rm cp mv mkdir touch tee npm node python3 make kill chmod sudo curl awk jq diff stat rg fd test".split(
    " ",
  );

/** Writes the number of words, the folder and the words, then becomes the real program where there is one. */
const RECORDER = `#!/real/bash -p
cd -P . 2>/dev/null
name=\${0##*/}
printf '%s\\0' "$#" "$PWD" "$0" "$@" > "/log/$BASHPID.$EPOCHREALTIME"
if [[ $name == git && $1 == ls-files ]]; then exec /real/find . -type f -printf '%P\\n'; fi
if [[ -x /real/$name ]]; then exec "/real/$name" "$@"; fi
exit 0
`;

/** What bash reads first: builtins that print become programs, and a name that is no program is recorded too. */
const BASH_ENV = `enable -n echo true false kill pwd
command_not_found_handle() {
  ( cd -P . 2>/dev/null; printf '%s\\0' "$(( $# - 1 ))" "$PWD" "$@" > "/log/$BASHPID.$EPOCHREALTIME" )
  return 127
}
`;

const DRIVER_SCRIPT = `shopt -s nullglob dotglob
for file in /in/*; do
  cd /
  /real/rm -rf /t/* /log/*
  /real/cp -a /tree /t/w
  cd ${WORK}
  code=$(< "$file")
  /real/timeout -k 0.1 1 /real/env -i BASH_ENV=/etc/oracle.env PATH=/usr/bin HOME=${HOME} \\
    /usr/bin/bash --norc --noprofile -c "$code" < /dev/null > /dev/null 2>&1
  for wait in 1 2 3 4 5; do
    others=(/proc/[1-9]*)
    (( \${#others[@]} > 1 )) || break
    /real/sleep 0.02
  done
  kill -9 -1 2>/dev/null
  wait
  records=(/log/*)
  if (( \${#records[@]} )); then /real/cat "\${records[@]}" > "/out/\${file##*/}"; fi
done
`;

/** One program that was started: its words, and the folder it started in. */
export interface Recorded {
  readonly argv: readonly string[];
  readonly cwd: string;
}

function sh(command: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Why the oracle cannot run here, or null. */
export function whyNoOracle(): string | null {
  const { status } = spawnSync("docker", ["version"], { encoding: "utf8" });
  return status === 0 ? null : "no container engine answers";
}

export class BashRecorder {
  private readonly folder = mkdtempSync(join(tmpdir(), "recinto-oracle-"));
  private readonly image: string;

  constructor() {
    const root = join(this.folder, "root");
    const put = (path: string, text: string, mode = 0o755): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      chmodSync(join(root, path), mode);
    };
    for (const folder of ["in", "out", "log", "t", "usr/bin", "home/a", "dev", "proc", "tmp"]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const program of new Set([...WRAPPERS, ...GENUINE, ...DRIVER]))
      this.copyProgram(root, program);
    for (const program of WRAPPERS) symlinkSync(`/real/${program}`, join(root, "usr/bin", program));
    put("real/own/recorder", RECORDER);
    for (const program of [...GENUINE, ...RECORDED]) {
      copyFileSync(join(root, "real/own/recorder"), join(root, "usr/bin", program));
    }
    symlinkSync("usr/bin", join(root, "bin"));
    for (const file of FILES) put(`tree/${file}`, "line one\nline two\n", 0o644);
    copyFileSync(join(root, "real/own/recorder"), join(root, "tree/run.sh"));
    put("etc/oracle.env", BASH_ENV, 0o644);
    put("real/own/driver", DRIVER_SCRIPT);
    const tar = join(this.folder, "image.tar");
    sh("tar", ["-C", root, "-cf", tar, "."]);
    this.image = sh("docker", ["import", tar]).trim();
    rmSync(root, { recursive: true });
    rmSync(tar);
  }

  private copyProgram(root: string, program: string): void {
    const path = sh("sh", ["-c", `command -v -- "$1" || true`, "sh", `/usr/bin/${program}`]).trim();
    const target = join(root, "real", program);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
    chmodSync(target, 0o755);
    for (const [library] of sh("ldd", [path]).matchAll(/\/\S+/g)) {
      const copy = join(root, library);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(library, copy);
    }
    if (program !== "stdbuf") return;
    const preload = "/usr/libexec/coreutils/libstdbuf.so";
    mkdirSync(dirname(join(root, preload)), { recursive: true });
    copyFileSync(preload, join(root, preload));
  }

  /** What each command started, in no particular order. */
  run(commands: readonly string[]): Recorded[][] {
    const input = join(this.folder, "in");
    const output = join(this.folder, "out");
    for (const folder of [input, output]) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      chmodSync(folder, 0o777);
    }
    const name = (at: number): string => String(at).padStart(6, "0");
    commands.forEach((command, at) => {
      writeFileSync(join(input, name(at)), command);
    });
    sh("docker", [
      ..."run --rm --network none --cap-drop ALL --security-opt no-new-privileges --read-only".split(
        " ",
      ),
      ..."--user 1000:1000 --pids-limit 256 --memory 512m --workdir /".split(" "),
      ..."--tmpfs /t:exec,uid=1000,mode=0700 --tmpfs /log:uid=1000,mode=0700 --tmpfs /tmp:uid=1000,mode=0700".split(
        " ",
      ),
      "-v",
      `${input}:/in:ro`,
      "-v",
      `${output}:/out`,
      this.image,
      "/real/bash",
      "-p",
      "/real/own/driver",
    ]);
    return commands.map((_, at) => {
      try {
        return parse(readFileSync(join(output, name(at))));
      } catch {
        return [];
      }
    });
  }

  close(): void {
    sh("docker", ["rmi", "-f", this.image]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function parse(bytes: Buffer): Recorded[] {
  const fields = bytes.toString("utf8").split("\0");
  const records: Recorded[] = [];
  for (let at = 0; at + 2 < fields.length; ) {
    const count = Number(fields[at]);
    const argv = fields.slice(at + 2, at + 3 + count);
    records.push({ cwd: fields[at + 1] ?? "", argv });
    at += 3 + count;
  }
  return records;
}
