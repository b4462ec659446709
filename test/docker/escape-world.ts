/** What escape attacks aim at: a host with secrets, listeners and a victim, and sandboxes with one protection taken away. */
import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { createJson } from "../../daemon/sandbox/docker/create-json.ts";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import { AGENT, Rig, type Runner, SOCKET } from "./rig.ts";

type CreateJson = ReturnType<typeof createJson>;
type Loosen = (host: Record<string, unknown> & CreateJson["HostConfig"], json: CreateJson) => void;

/** What an attack prints when it got what it wanted. */
export const WON = "WON";

export interface Attack {
  readonly name: string;
  /** Prints WON when it got what it wanted, and must change nothing of the machine's when it does. */
  readonly command: (world: World) => string;
  /** The protection without which it works. */
  readonly off: keyof typeof OFF;
}

const MIB = 2 ** 20;
const PROTECTED_ENV = { RECINTO_TEST_SECRET: WON };
/** Rights of a container that people give away with `--privileged`, as far as attacks here need them. */
const RIGHTS = ["SYS_ADMIN", "SYS_PTRACE", "SYSLOG", "NET_ADMIN", "DAC_READ_SEARCH"];

function mount({ Mounts }: CreateJson["HostConfig"], Source: string, Target = Source): void {
  const like = Mounts[0] as (typeof Mounts)[0];
  Mounts.unshift({ ...like, Source, Target, ReadOnly: false });
}

const root: Loosen = (host, json) => {
  json.User = "0:0";
  host.CapDrop = [];
};

/** Each protection and how a container is made without it. `root`: the attack then comes from root inside. */
export const OFF = {
  "mounts: the worktree alone": {
    root: false,
    loosen: (host) => {
      mount(host, basePath(host));
    },
  },
  "mounts: the worktree alone, and not root": {
    root: true,
    loosen: (host, json) => {
      root(host, json);
      mount(host, basePath(host));
      mount(host, SOCKET, "/var/run/docker.sock");
    },
  },
  "mounts: read-only": {
    root: false,
    loosen: (host) => {
      for (const mount of host.Mounts) mount.ReadOnly = false;
    },
  },
  "read-only root": {
    root: true,
    loosen: (host, json) => {
      root(host, json);
      host.ReadonlyRootfs = false;
    },
  },
  "home is a skeleton": {
    root: false,
    loosen: (host) => {
      host.Tmpfs["/home/agent"] = `rw,exec,uid=${AGENT.uid},gid=${AGENT.gid},mode=755`;
    },
  },
  "not root, no rights, filtered calls, covered paths": {
    root: true,
    loosen: (host, json) => {
      root(host, json);
      host.CapAdd = RIGHTS;
      host.SecurityOpt = ["seccomp=unconfined"];
      Object.assign(host, { MaskedPaths: [], ReadonlyPaths: [] });
      Object.assign(host, { DeviceCgroupRules: ["b *:* rwm", "c *:* rwm"] });
    },
  },
  "filtered calls": {
    root: false,
    loosen: (host) => {
      host.SecurityOpt = ["no-new-privileges", "seccomp=unconfined"];
    },
  },
  "no new privileges": {
    root: false,
    loosen: (host) => {
      host.SecurityOpt = [];
    },
  },
  "network none": {
    root: false,
    loosen: (host) => {
      host.NetworkMode = "host";
    },
  },
  "processes of its own": {
    root: false,
    loosen: (host) => {
      host.PidMode = "host";
    },
  },
  "shared memory of its own": {
    root: false,
    loosen: (host) => {
      host.IpcMode = "host";
    },
  },
  "clean environment": {
    root: false,
    loosen: (_, json) => {
      json.Env.push(...Object.entries(PROTECTED_ENV).map(([name, value]) => `${name}=${value}`));
    },
  },
  limits: {
    root: false,
    loosen: (host) => {
      host.PidsLimit = 2_000;
      host.Memory = 1024 * MIB;
      host.MemorySwap = 1024 * MIB;
      host.ShmSize = 64 * MIB;
      host.Ulimits = [{ Name: "core", Soft: -1, Hard: -1 }];
      for (const [target, options] of Object.entries(host.Tmpfs)) {
        host.Tmpfs[target] = options.replace(/size=\d+/, "size=256m");
      }
    },
  },
  /** The same container; only the command comes by plain docker exec, or as root. */
  "confinement of commands": { root: false, loosen: () => {} },
  "the runner is root's": { root: true, loosen: () => {} },
} satisfies Record<string, { readonly root: boolean; readonly loosen: Loosen }>;

/** The temporary folder of the rig, from the worktree's mount below it. */
function basePath(host: CreateJson["HostConfig"]): string {
  const worktree = host.Mounts.find(({ Source }) => Source.includes("/project/.worktrees/"));
  return (worktree?.Source ?? "").split("/project/")[0] as string;
}

/** A host with something to steal at every place that attacks look at, and the sandbox of one profile on it. */
export class World {
  readonly rig: Rig;
  readonly worktree: string;
  readonly hostFile: string;
  readonly otherWorktree: string;
  readonly otherProject: string;
  readonly commonDir: string;
  /** Name of a file in the host's shared memory, of an abstract socket, and of a process's marker. */
  readonly mark: string;
  port = 0;
  udpPort = 0;
  handle: SandboxHandle | null = null;
  readonly #closers: (() => void)[] = [];
  readonly #loose = new Map<string, Promise<Runner>>();

  private constructor(rig: Rig, worktree: string) {
    this.rig = rig;
    this.worktree = worktree;
    this.hostFile = join(rig.base, "host-file");
    this.otherWorktree = join(rig.project.root, ".worktrees/theirs");
    this.otherProject = join(rig.base, "other-project");
    this.commonDir = join(rig.project.root, ".git");
    this.mark = rig.owner;
  }

  /** Limits are made small, so that hitting them costs the machine little; everything else is the profile's. */
  static async make(name: string): Promise<World> {
    const shipped = loadProfile(name, [SHIPPED_PROFILES_DIR]);
    const small = {
      memoryBytes: 128 * MIB,
      pids: 64,
      openFiles: 256,
      tmpBytes: 4 * MIB,
      cacheBytes: 4 * MIB,
      shmBytes: 2 * MIB,
      fileBytes: 8 * MIB,
    };
    const rig = await Rig.make({ ...shipped, limits: { ...shipped.limits, ...small } });
    const world = new World(rig, rig.gitWorktree("mine"));
    await world.#prepare();
    world.handle = await rig.daemon().ensure(rig.project, rig.profile, world.worktree);
    return world;
  }

  async #prepare(): Promise<void> {
    const { rig } = this;
    Object.assign(process.env, PROTECTED_ENV);
    rig.folder("theirs");
    mkdirSync(this.otherProject);
    for (const file of [
      this.hostFile,
      join(this.otherWorktree, "file"),
      join(this.otherProject, "file"),
      `/dev/shm/${this.mark}`,
    ]) {
      writeFileSync(file, WON, { mode: 0o666 });
      chmodSync(file, 0o666);
    }
    this.#closers.push(() => rmSync(`/dev/shm/${this.mark}`));
    // As on a machine where agent and owner are the same user: the worst case for the repository.
    execFileSync("chown", ["-R", `${AGENT.uid}:${AGENT.gid}`, this.commonDir, this.otherWorktree]);
    const setuid = join(this.worktree, "root-sh");
    copyFileSync("/bin/cat", setuid);
    chmodSync(setuid, 0o4755);
    const secret = join(this.worktree, "root-only");
    writeFileSync(secret, WON, { mode: 0o600 });

    const listen = (on: (server: Server) => void) =>
      new Promise<Server>((resolve) => {
        const server = createServer((socket) => socket.end(WON));
        server.once("listening", () => resolve(server));
        on(server);
        this.#closers.push(() => server.close());
      });
    const four = await listen((server) => server.listen(0, "127.0.0.1"));
    this.port = (four.address() as AddressInfo).port;
    await listen((server) => server.listen(this.port, "::1"));
    await listen((server) => server.listen(`\0${this.mark}`));
    const udp = createSocket("udp4", (_, { port, address }) => udp.send(WON, port, address));
    await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
    this.udpPort = udp.address().port;
    this.#closers.push(() => udp.close());
    const victim = spawn("/bin/sleep", ["1234567"], {
      argv0: `host-${this.mark}`,
      uid: AGENT.uid,
      gid: AGENT.gid,
      stdio: "ignore",
    });
    this.#closers.push(() => victim.kill("SIGKILL"));
  }

  /** The sandbox without one protection, made once for all attacks on it. */
  loose(off: keyof typeof OFF): Promise<Runner> {
    const { root, loosen } = OFF[off] as { root: boolean; loosen: Loosen };
    const spec = (this.handle as SandboxHandle).spec;
    const known = this.#loose.get(off) ?? this.rig.loosened(spec, loosen as never);
    this.#loose.set(off, known);
    return known.then((run) => (command) => run(command, { root }));
  }

  async close(): Promise<void> {
    for (const close of this.#closers) close();
    await this.rig.close();
  }
}

/** A Python program as a command; `call` makes a system call, and `reached` tells whether the kernel let it in. */
export function python(program: string): string {
  return `python3 - <<'PROGRAM'
import ctypes, os, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(number, *args)
    return result, ctypes.get_errno() if result < 0 else 0
def reached(number, *args):
    result, error = call(number, *args)
    if error not in (1, 13, 38): print("${WON}")
${program}
PROGRAM`;
}
