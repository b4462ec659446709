/** Tells systemd how the daemon fares: ready, reloading, stopping, and that its loop still turns (sd_notify(3)). */
import { RecintoError } from "../errors.ts";
import { Datagrams } from "./datagram.ts";

export interface ServiceNotices {
  ready(): void;
  /** `now` in microseconds of the monotonic clock. */
  reloading(nowUs: bigint): void;
  stopping(): void;
  /** A line that `systemctl status` shows. */
  status(text: string): void;
}

const NOBODY: ServiceNotices = {
  ready() {},
  reloading() {},
  stopping() {},
  status() {},
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Notices to the service manager that started this process, or to nobody. The variable is taken out of `environment`,
 * so that no program this one starts can speak in its name. `onProblem` hears why notices do not arrive.
 */
export function serviceNotices(
  environment: Record<string, string | undefined>,
  onProblem: (reason: string) => void,
): ServiceNotices {
  const path = environment.NOTIFY_SOCKET;
  delete environment.NOTIFY_SOCKET;
  if (path === undefined || path === "") return NOBODY;
  let datagrams: Datagrams;
  try {
    datagrams = new Datagrams(path);
  } catch (error) {
    onProblem((error as Error).message);
    return NOBODY;
  }
  const say = (...lines: string[]) => {
    if (!datagrams.send(Buffer.from(`${lines.join("\n")}\n`))) onProblem(`nobody takes ${path}`);
  };
  const watchdogMs = watchdogIntervalMs(environment, process.pid);
  if (watchdogMs !== null) setInterval(() => say("WATCHDOG=1"), watchdogMs).unref();
  return {
    ready: () => say("READY=1"),
    reloading: (nowUs) => say("RELOADING=1", `MONOTONIC_USEC=${nowUs}`),
    stopping: () => say("STOPPING=1"),
    status: (text) => say(`STATUS=${text.replaceAll("\n", " ")}`),
  };
}

/** How often to say that the loop turns: half of what the manager waits, as sd_watchdog_enabled(3) advises; null: it does not. */
export function watchdogIntervalMs(environment: Environment, pid: number): number | null {
  const { WATCHDOG_USEC: usec = "", WATCHDOG_PID: meant } = environment;
  if (meant !== undefined && meant !== "" && meant !== String(pid)) return null;
  if (!/^[1-9]\d{0,15}$/.test(usec)) return null;
  return Math.max(1, Math.floor(Number(usec) / 2000));
}

/**
 * The descriptor of the socket that the manager holds open for the daemon (sd_listen_fds(3)), so that callers wait while
 * it restarts; null: it made none. The variables are taken away, as above. Throws `bad-config` for several.
 */
export function inheritedSocket(
  environment: Record<string, string | undefined>,
  pid: number,
): number | null {
  const { LISTEN_PID, LISTEN_FDS } = environment;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete environment[name];
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return null;
  if (LISTEN_FDS !== "1") {
    throw new RecintoError("bad-config", `${LISTEN_FDS} sockets were handed over, 1 is used`, {
      hint: "let recintod.socket name one ListenStream",
    });
  }
  return FIRST_INHERITED;
}

/** SD_LISTEN_FDS_START. */
const FIRST_INHERITED = 3;
