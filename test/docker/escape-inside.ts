/** Attacks that stay inside: on limits, on the runner, on later commands and on other commands' authority. */
import { type Attack, python, WON } from "./escape-world.ts";

const LIMITS: readonly Attack[] = [
  {
    name: "a fork bomb",
    command: () =>
      python(`
for _ in range(200):
    if os.fork() == 0: time.sleep(1); os._exit(0)
print("${WON}")`),
    off: "limits",
  },
  {
    name: "a bomb of threads",
    command: () =>
      python(`
import threading
for _ in range(200): threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
print("${WON}", flush=True); os._exit(0)`),
    off: "limits",
  },
  {
    name: "a memory bomb",
    command: () => python(`x = bytearray(300 << 20); print("${WON}")`),
    off: "limits",
  },
  {
    name: "memory by anonymous files",
    command: () =>
      python(`
fds = [os.memfd_create("x") for _ in range(30)]
for fd in fds: os.write(fd, bytes(7 << 20))
print("${WON}")`),
    off: "limits",
  },
  ...["/tmp", "/home/agent/.cache", "/dev/shm"].map((folder) => ({
    name: `${folder}, filled`,
    command: () =>
      `for i in $(seq 8); do head -c 6M /dev/zero >${folder}/fill$i || full=1; done; rm -f ${folder}/fill*; [ -z "$full" ] && echo ${WON}`,
    off: "limits" as const,
  })),
  {
    name: "a file of any size",
    command: () =>
      python(`
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fd = os.open("big", os.O_CREAT | os.O_WRONLY); os.unlink("big")
os.ftruncate(fd, 100 << 20); print("${WON}")`),
    off: "limits",
  },
  {
    name: "files without end, open",
    command: () => python(`x = [os.open("/dev/null", 0) for _ in range(600)]; print("${WON}")`),
    off: "limits",
  },
  {
    name: "a core dump",
    command: () =>
      python(`
import resource
resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)); print("${WON}")`),
    off: "limits",
  },
];

const later = (name: string, plant: string, use: string): Attack => ({
  name: `planted for a later command: ${name}`,
  command: () => `(${plant}); (${use})`,
  off: "home is a skeleton",
});

const PLANTED: readonly Attack[] = [
  later("~/.bash_profile", `echo echo ${WON} >~/.bash_profile`, "bash -lc true"),
  later("~/.bashrc", `echo echo ${WON} >~/.bashrc`, `bash -ic true`),
  later("~/.profile", `echo echo ${WON} >~/.profile`, "sh -l -c true"),
  later("~/.inputrc", `echo '"x": "${WON}"' >~/.inputrc`, "cat ~/.inputrc"),
  later(
    "Python's usercustomize",
    `d=$(python3 -m site --user-site); mkdir -p $d; echo 'print("${WON}")' >$d/usercustomize.py`,
    "python3 -c pass",
  ),
  later(
    "~/.curlrc",
    `echo 'url = "file:///proc/version"' >~/.curlrc`,
    `curl -s | grep -q Linux && echo ${WON}`,
  ),
  later(
    "~/.local/bin",
    `mkdir -p ~/.local/bin && echo ${WON} >~/.local/bin/git`,
    "cat ~/.local/bin/git",
  ),
  later("~/.npmrc", `echo x=${WON} >~/.npmrc`, "cat ~/.npmrc"),
  later(
    "~/.gitconfig",
    `printf '[alias]\\n\\tx = !echo ${WON}\\n' >~/.gitconfig`,
    "env -u GIT_CONFIG_GLOBAL git x",
  ),
  later("~/.ssh", `mkdir ~/.ssh && echo ${WON} >~/.ssh/config`, "cat ~/.ssh/config"),
];

const SYSTEM: readonly Attack[] = [
  {
    name: "a program of the system, replaced",
    command: () => `cp /bin/true /usr/bin/planted && rm /usr/bin/planted && echo ${WON}`,
    off: "read-only root",
  },
  {
    name: "the user table",
    command: () => `: >>/etc/group- && echo ${WON}`,
    off: "read-only root",
  },
  {
    name: "the preload list of the linker",
    command: () => `: >>/etc/ld.so.preload && echo ${WON}`,
    off: "read-only root",
  },
  {
    name: "a setuid program of root's in the worktree",
    command: (w) => `./root-sh root-only; : ${w.mark}`,
    off: "no new privileges",
  },
];

const RUNNER = "the runner is root's";
const AUTHORITY = "confinement of commands";
const other = `$(pgrep -f '[v]ictim-of-others' | head -1)`;

const OTHERS: readonly Attack[] = [
  {
    name: "the runner's socket, listed",
    command: () => `ls /run/recinto/runner >/dev/null && echo ${WON}`,
    off: RUNNER,
  },
  {
    name: "process 1, signalled",
    command: () => `kill -0 1 && echo ${WON}`,
    off: RUNNER,
  },
  {
    name: "what process 1 has open",
    command: () => `ls /proc/1/fd >/dev/null && echo ${WON}`,
    off: "not root, no rights, filtered calls, covered paths",
  },
  {
    name: "another command's environment",
    command: () => `tr '\\0' '\\n' </proc/${other}/environ | grep WON_SECRET`,
    off: AUTHORITY,
  },
  {
    name: "another command's memory",
    command: () => `head -c0 /proc/${other}/mem && echo ${WON}`,
    off: AUTHORITY,
  },
  {
    name: "another command's open files",
    command: () => `readlink /proc/${other}/fd/1 >/dev/null && echo ${WON}`,
    off: AUTHORITY,
  },
  {
    name: "another command, signalled",
    command: () => `kill -CONT ${other} && echo ${WON}`,
    off: AUTHORITY,
  },
  {
    name: "another command, traced",
    command: () =>
      `${python(`
import subprocess
pid = int(subprocess.check_output(["pgrep", "-f", "[v]ictim-of-others"]).split()[0])
result, _ = call(101, 0x4206, pid, 0, 0)
if result == 0: print("${WON}")`)}`,
    off: AUTHORITY,
  },
  {
    name: "another command's abstract socket",
    command: () =>
      python(`
s = socket.socket(socket.AF_UNIX); s.connect("\\0victim-of-others"); print("${WON}")`),
    off: AUTHORITY,
  },
];

export const INSIDE_ATTACKS = [...LIMITS, ...PLANTED, ...SYSTEM, ...OTHERS];
