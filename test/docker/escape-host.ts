/** Attacks on what is the host's: files, other worktrees and projects, the engine, its processes, network and memory. */
import { type Attack, python, WON, type World } from "./escape-world.ts";

const read = (path: string) => `cat ${path}`;
const write = (path: string) => `: >>${path} && echo ${WON}`;
const MOUNTS = "mounts: the worktree alone";
const FOR_ROOT = "mounts: the worktree alone, and not root";

const FILES: readonly Attack[] = [
  { name: "a file of the host, read", command: (w) => read(w.hostFile), off: MOUNTS },
  { name: "a file of the host, written", command: (w) => write(w.hostFile), off: MOUNTS },
  {
    name: "a file of the host through a link in the worktree",
    command: (w) => `ln -sf ${w.hostFile} escape-link; cat escape-link; rm escape-link`,
    off: MOUNTS,
  },
  {
    name: "a file of the host through a relative link",
    command: (w) => `ln -sf ../../../host-file up; cat up; rm up; : ${w.mark}`,
    off: MOUNTS,
  },
  {
    name: "a file of the host through a chain of links to its folder",
    command: (w) => `ln -sfn ${w.rig.base} a1; ln -sfn a1 a2; cat a2/host-file; rm a1 a2`,
    off: MOUNTS,
  },
  {
    name: "a file of the host through /proc/self/root",
    command: (w) => read(`/proc/self/root${w.hostFile}`),
    off: MOUNTS,
  },
  {
    name: "a file of the host through the parent of the working folder",
    command: () => "cd ../../.. && cat host-file",
    off: MOUNTS,
  },
  {
    name: "the names of other worktrees",
    command: (w) => `ls ${w.otherWorktree}/.. | grep -q theirs && echo ${WON}`,
    off: MOUNTS,
  },
  { name: "another worktree, read", command: (w) => read(`${w.otherWorktree}/file`), off: MOUNTS },
  {
    name: "another worktree, written",
    command: (w) => write(`${w.otherWorktree}/planted`),
    off: MOUNTS,
  },
  { name: "another project, read", command: (w) => read(`${w.otherProject}/file`), off: MOUNTS },
  {
    name: "another project, written",
    command: (w) => write(`${w.otherProject}/file`),
    off: MOUNTS,
  },
  {
    name: "the daemon's own state",
    command: (w) => `ls ${w.rig.base}/state >/dev/null && echo ${WON}`,
    off: FOR_ROOT,
  },
  {
    name: "the engine's socket",
    command: () =>
      python(`
s = socket.socket(socket.AF_UNIX); s.connect("/var/run/docker.sock")
s.sendall(b"GET /_ping HTTP/1.0\\r\\n\\r\\n")
print("${WON}" if b"200" in s.recv(100) else "")`),
    off: FOR_ROOT,
  },
];

const git = (what: string, path: string): Attack => ({
  name: `the host's repository: ${what}`,
  command: (w: World) => `: >>${w.commonDir}/${path} && echo ${WON}`,
  off: MOUNTS,
});

/** That each of these is an escape, and 16 more ways, git-attacks.test.ts shows with the owner's git. */
const GIT: readonly Attack[] = [
  git("its config", "config"),
  git("a hook", "hooks/post-checkout"),
  git("a commondir", "commondir"),
  git("a config of the worktree's own", "config.worktree"),
  git("a branch", "refs/heads/planted"),
  {
    ...git("alternates, which name folders of objects", "objects/info/alternates"),
    off: "mounts: read-only",
  },
  {
    name: "the host's repository: a worktree's folder moved away",
    command: (w) =>
      `mv ${w.commonDir}/worktrees ${w.commonDir}/w2 && mv ${w.commonDir}/w2 ${w.commonDir}/worktrees && echo ${WON}`,
    off: MOUNTS,
  },
];

const NET = "network none";
const NETWORK: readonly Attack[] = [
  { name: "a port of the host", command: (w) => `cat </dev/tcp/127.0.0.1/${w.port}`, off: NET },
  { name: "a port of the host by IPv6", command: (w) => `cat </dev/tcp/::1/${w.port}`, off: NET },
  {
    name: "a UDP service of the host, as DNS is",
    command: (w) =>
      python(`
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5)
s.sendto(b"?", ("127.0.0.1", ${w.udpPort})); print(s.recv(10).decode())`),
    off: NET,
  },
  {
    name: "an abstract socket of the host",
    command: (w) =>
      python(`
s = socket.socket(socket.AF_UNIX)
s.connect(b"\\0${w.mark}".ljust(108, b"\\0")); print(s.recv(10).decode())`),
    off: NET,
  },
  {
    name: "a way to other networks",
    command: () => `tail -n +2 /proc/net/route | grep -q . && echo ${WON}`,
    off: NET,
  },
  {
    name: "a network interface",
    command: () => `ls /sys/class/net | grep -qvx lo && echo ${WON}`,
    off: NET,
  },
];

const PIDS = "processes of its own";
const victim = (what: string) => (w: World) =>
  `for p in /proc/[0-9]*; do grep -aqs "^host-${w.mark}" $p/cmdline && ${what}; done`;
const PROCESSES: readonly Attack[] = [
  { name: "a process of the host, seen", command: victim(`echo ${WON}`), off: PIDS },
  {
    name: "a process of the host, signalled",
    command: victim(`kill -CONT \${p#/proc/} && echo ${WON}`),
    off: PIDS,
  },
  {
    name: "a process of the host as a waiting target",
    command: victim(`python3 -c "import os; os.pidfd_open(\${p#/proc/}); print('${WON}')"`),
    off: PIDS,
  },
  {
    name: "shared memory of the host",
    command: (w) => read(`/dev/shm/${w.mark}`),
    off: "shared memory of its own",
  },
  {
    name: "shared memory of the host, written",
    command: (w) => `[ -e /dev/shm/${w.mark} ] && ${write(`/dev/shm/${w.mark}`)}`,
    off: "shared memory of its own",
  },
  {
    name: "a secret in the environment of what starts sandboxes",
    command: () => "env | grep ^RECINTO_TEST_SECRET=",
    off: "clean environment",
  },
];

export const HOST_ATTACKS = [...FILES, ...GIT, ...NETWORK, ...PROCESSES];
