/**
 * Read-only means read-only: every example that the catalogue calls a read is run for real under strace, in namespaces
 * of its own without a network and on a root that cannot be written. What it tried to write, start or open counts,
 * not whether it succeeded.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { catalogue } from "../../daemon/policy/catalogue/registry.ts";
import { describeWords, wordsOf } from "../policy/catalogue/told.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/** Programs that some verbs are made of: scripts around others, or what their description says they start. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  find: ["grep"],
  zgrep: ["sh", "gzip", "grep", "sed", "cat", "zcat", "expr"],
  zcat: ["gzip"],
  gunzip: ["gzip"],
  which: ["sh"],
  yq: ["jq", "python3"],
  npm: ["node"],
  npx: ["node"],
  dpkg: ["dpkg-query"],
};

/** What programs open for themselves: libraries, locales, names of users and hosts, the kernel's own tables. */
const OWN = [
  /^\/(usr|lib|lib64|bin|sbin|proc|sys)(\/|$)/,
  /^\/etc\/(ld\.so\.|locale|nsswitch\.conf|passwd|group|localtime|magic|mtab|fstab|terminfo|inputrc|gai\.conf|host|resolv\.conf|networks|protocols|services|mime|os-release|lsb|debian_version|timezone|alternatives|gitconfig|python|xml|shells|sysless|toprc|topdefaultrc|gitattributes|mailname|ssl|(xdg\/)?pip|wgetrc|ldap|dpkg|netsvc\.conf|svc\.conf)/,
  /^\/(run|var\/run|var\/log|etc)\/((systemd\/)?userdb|utmp|wtmp|nscd|udev|mount|host)/,
  /^\/dev\/(null|tty|stdin|stdout|stderr|fd|pts|urandom)/,
  /^\/nonexistent\//,
  // Some look up the home of their user by its number; in a sandbox it is the read-only skeleton.
  /^\/root\/\.\w+rc$/,
  /^\/var\/lib\/dpkg(\/|$)/,
  /^\/opt(\/|$)/,
  // Verbs about processes and disks list devices and folders of the root by name.
  /^\/(dev|etc|run)?$/,
];

/** Attempts that are known and that the sandbox stops: its home is a read-only skeleton. */
const KNOWN: Readonly<Record<string, RegExp>> = {
  top: /^calls mkdir "\/nonexistent\/\.config/,
  npm: /^calls mkdir "\/nonexistent[/"]/,
  terraform: /^calls mkdirat \S+ "\/nonexistent"/,
};

const CHANGES =
  "creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,utime,utimes,utimensat,futimesat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,mknod,mknodat,settimeofday,clock_settime,sethostname";
const TRACED = `execve,execveat,open,openat,openat2,connect,kill,${CHANGES}`;

const SCRIPT = `
set -eu
work=$1
mount --make-rprivate /
mount -t tmpfs tmpfs "$work/tree"
cd "$work/tree"
mkdir -p src docs .github empty
printf 'a word\\nTODO: x\\n1 2\\n' > README.md
cp README.md docs/README.md
printf 'export const a = 1;\\nTODO\\n' > src/a.ts
printf '{"name":"p","version":"1.0.0","scripts":{}}\\n' > package.json
printf '<a><b>c</b></a>\\n' > a.xml
printf 'a b\\nb c\\n' > pairs
tar -cf a.tar README.md src
gzip -c README.md > log.gz
if command -v zip >/dev/null; then zip -q a.zip README.md; fi
if command -v git >/dev/null; then
  git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b.invalid commit -qm first
  git tag v1
  echo more >> README.md
fi
awk '{print $2}' /proc/self/mounts | sort -r | while read -r mount; do
  case $mount in "$work/tree"|/proc*|/dev*|/sys*) ;; *) mount -o remount,bind,ro "$mount" ;; esac
done
listing() { find . -printf '%p %y %s %m %U %G %T@ %C@\\n' | sort; }
before=$(listing)
mount -t tmpfs tmpfs "$work/out"
index=0
while IFS= read -r example; do
  set +e
  strace -f -y -qq -s 4096 -e "trace=${TRACED}" -o "$work/out/trace" \\
    timeout -s KILL 10 bash --norc --noprofile -c "$example" </dev/null >/dev/null 2>"$work/out/error"
  echo "### $index $?"
  set -e
  index=$((index + 1))
  cat "$work/out/trace"
  echo "### errors"
  head -c 300 "$work/out/error"
  echo
  after=$(listing)
  if [ "$before" != "$after" ]; then echo "### changed"; before=$after; fi
done < "$work/examples"
`;

const reading = [...new Set(catalogue.values())].flatMap((spec) =>
  spec.examples.flatMap((example) => {
    const { uses, lifts } = describeWords(wordsOf(example));
    return lifts.length === 0 && uses.every((use) => use.class === "read") ? [example] : [];
  }),
);

function verbOf(example: string): string {
  return example.split(" ")[0] as string;
}

function installed(verb: string): boolean {
  const found = spawnSync("bash", ["--norc", "-c", 'type -t "$1"', "bash", verb], {
    env: { PATH },
  });
  return found.status === 0 && found.stdout.toString().trim() !== "keyword";
}

const NAMESPACES = ["--mount", "--net", "--pid", "--fork", "--mount-proc"];

/** Why this machine cannot run the proof; null when it can. */
function obstacle(): string | null {
  if (process.getuid?.() !== 0) return "not root";
  if (!["/usr/bin/strace", "/usr/bin/unshare"].every((path) => existsSync(path)))
    return "strace or unshare is not installed";
  const probe = spawnSync("unshare", [...NAMESPACES, "strace", "-qq", "-o", "/dev/null", "true"]);
  return probe.status === 0 ? null : "namespaces or tracing are not permitted";
}

/** What one trace shows that a read must not do, each as a line. */
function offences(example: string, trace: readonly string[], tree: string): string[] {
  const verb = verbOf(example);
  const parts = new Set(["bash", "timeout", verb, ...(PARTS[verb] ?? [])]);
  return trace.flatMap((line) => {
    const [, call = "", args = ""] = /^\d+\s+(\w+)\((.*)/.exec(line) ?? [];
    if (call === "execve") {
      const program = /^"([^"]*)"/.exec(args)?.[1]?.split("/").at(-1) ?? "";
      return parts.has(program) ? [] : [`starts ${program}`];
    }
    if (call === "connect")
      return /AF_UNIX.*nscd/.test(args) ? [] : [`connects ${args.slice(0, 80)}`];
    if (call === "open" || call === "openat" || call === "openat2") {
      const [, folder = "", name = ""] =
        /^(?:\w+<([^>]*)>, |AT_FDCWD(?:<[^>]*>)?, )?"([^"]*)"/.exec(args) ?? [];
      const path = name.startsWith("/") ? name : join(folder || tree, name);
      const stream = /^\/dev\/(null|tty)$/.test(path);
      if (/O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)/.test(args) && !stream) return [`writes ${path}`];
      const inside = path === tree || path.startsWith(`${tree}/`);
      return inside || OWN.some((own) => own.test(path)) ? [] : [`opens ${path}`];
    }
    return CHANGES.split(",").includes(call) || call === "kill"
      ? [`calls ${call} ${args.slice(0, 80)}`]
      : [];
  });
}

const why = obstacle();
if (why !== null) console.log(`read-only forms: skipped, ${why}`);

/** Runs the examples and tells what each did that a read must not do; no entry where there was nothing. */
function proof(work: string, examples: readonly string[]): Record<string, string[]> {
  for (const folder of ["tree", "out"]) mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, "examples"), `${examples.join("\n")}\n`);
  writeFileSync(join(work, "script"), SCRIPT);
  const run = spawnSync("unshare", [...NAMESPACES, "bash", join(work, "script"), work], {
    env: {
      PATH,
      HOME: "/nonexistent",
      LC_ALL: "C",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_CONFIG_GLOBAL: "/dev/null",
      npm_config_update_notifier: "false",
      npm_config_logs_max: "0",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b.invalid",
    },
    maxBuffer: 512 * 1024 * 1024,
    encoding: "utf8",
  });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });

  const found: Record<string, string[]> = {};
  const ran = run.stdout.split(/^### (?=\d)/m).slice(1);
  expect(ran).toHaveLength(examples.length);
  for (const report of ran) {
    const [head = "", ...lines] = report.split("\n");
    const [index, status] = head.split(" ").map(Number) as [number, number];
    const example = examples[index] as string;
    const end = lines.indexOf("### errors");
    const errors = lines.slice(end + 1).filter((line) => line !== "" && !line.startsWith("### "));
    const bad = offences(example, lines.slice(0, end), join(work, "tree"));
    if (lines.includes("### changed")) bad.push("changed the tree");
    if (status >= 126) bad.push(`exit ${status}: ${errors[0] ?? ""}`);
    if (errors.some((line) => /(invalid|unrecognized|unknown|illegal) option/i.test(line)))
      bad.push(`has no such option: ${errors[0]}`);
    const known = KNOWN[verbOf(example)];
    const told = [...new Set(bad)].filter((line) => known?.test(line) !== true);
    if (told.length > 0) found[example] = told;
  }
  return found;
}

describe.skipIf(why !== null)("every read form of the catalogue, for real", () => {
  const work = mkdtempSync(join(tmpdir(), "recinto-read-only-"));
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  test("writes nothing, starts nothing else and opens nothing outside", () => {
    const missing = [...new Set(reading.map(verbOf))].filter((verb) => !installed(verb));
    const examples = reading.filter((example) => !missing.includes(verbOf(example)));
    console.log(
      `read-only forms: ${examples.length} of ${reading.length} run; not installed (${missing.length}): ${missing.join(" ")}`,
    );
    expect(proof(work, examples)).toEqual({});
  });

  test("the proof sees what writes, starts another program, opens elsewhere or has no such option", () => {
    const examples = ["tee new", "find . -name src -exec id {} +", "ls /home", "cat --nope"];
    expect(proof(work, examples)).toEqual({
      "tee new": [`writes ${join(work, "tree", "new")}`, "changed the tree"],
      "find . -name src -exec id {} +": ["starts id"],
      "ls /home": ["opens /home"],
      "cat --nope": ["has no such option: cat: unrecognized option '--nope'"],
    });
  });
});
