/** A sandbox in the words of the Docker Engine API: pure, and compared with golden files. */
import { CLEARED_ENV } from "../command.ts";
import type { SandboxSpec, SandboxTmpfs } from "../engine.ts";

/** What the runner needs to become a command's user and to end what it started; commands are left none of it. */
const RUNNER_CAPABILITIES = ["KILL", "SETGID", "SETUID"];

/** Body of `POST /containers/create`. Everything that confines is spelled out, also where it is Docker's default. */
export function createJson(spec: SandboxSpec) {
  const { limits } = spec;
  return {
    Image: spec.image,
    Hostname: spec.hostname,
    // Commands name their own user. Process 1 is out of their reach where it is root's.
    User: spec.runner ? "0:0" : `${spec.user.uid}:${spec.user.gid}`,
    // Nothing but waiting: commands come by exec. init reaps what they leave behind.
    Entrypoint: ["/bin/sleep"],
    Cmd: ["infinity"],
    // Its root could not even enter a folder that the owner keeps to himself; commands name their own folder.
    WorkingDir: spec.runner ? "/" : spec.workdir,
    Env: envList(spec.env),
    Labels: sorted(spec.labels),
    Healthcheck: { Test: ["NONE"] },
    NetworkDisabled: true,
    HostConfig: {
      Runtime: spec.runtime,
      Init: true,
      NetworkMode: "none",
      IpcMode: "private",
      CgroupnsMode: "private",
      PidMode: "",
      UTSMode: "",
      Privileged: false,
      ReadonlyRootfs: true,
      CapAdd: spec.runner ? [...RUNNER_CAPABILITIES] : [],
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      GroupAdd: [],
      Devices: [],
      Mounts: spec.mounts.map(({ source, target, readOnly }) => ({
        Type: "bind",
        Source: source,
        Target: target,
        ReadOnly: readOnly,
        // What is mounted below the folder on the host is not part of it, and would not be read-only with it.
        BindOptions: { Propagation: "rprivate", NonRecursive: true },
      })),
      Tmpfs: Object.fromEntries(spec.tmpfs.map((tmpfs) => [tmpfs.target, tmpfsOptions(tmpfs)])),
      ShmSize: limits.shmBytes,
      Memory: limits.memoryBytes,
      // The sum with swap: no swap, else the limit would be twice as much.
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        ...(limits.fileBytes === null
          ? []
          : [{ Name: "fsize", Soft: limits.fileBytes, Hard: limits.fileBytes }]),
        { Name: "nofile", Soft: limits.openFiles, Hard: limits.openFiles },
      ],
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
    },
  };
}

/** `NAME=value`, and `NAME` alone for what an image must not bring along. */
export function envList(env: Readonly<Record<string, string>>): string[] {
  const set = Object.entries(sorted(env)).map(([name, value]) => `${name}=${value}`);
  return [...set, ...CLEARED_ENV.filter((name) => !Object.hasOwn(env, name))];
}

function tmpfsOptions({ sizeBytes, exec, uid, gid, mode }: SandboxTmpfs): string {
  const options = ["rw", exec ? "exec" : "noexec", "nosuid", "nodev", `size=${sizeBytes}`];
  return [...options, `mode=${mode.toString(8)}`, `uid=${uid}`, `gid=${gid}`].join(",");
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
