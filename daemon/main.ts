/** recintod: starts the daemon, keeps an eye on the engine, and stops in good order. */
import { parseArgs } from "node:util";
import type { Logger } from "pino";
import { ERROR_KINDS, RecintoError } from "./errors.ts";
import { ENGINE_POLL_MS, SOCKET_CLOSE_GRACE_MS } from "./limits.ts";
import { inheritedSocket, type ServiceNotices, serviceNotices } from "./service/notify.ts";
import { configFileOf, loadConfig } from "./settings/config.ts";
import { createLog, type Daemon, startDaemon, VERSION } from "./wiring.ts";

const USAGE = `recintod ${VERSION}: a sandbox supervisor for coding agents

usage: recintod [--config FILE]      (/etc/recinto/config.yaml where it exists, else the defaults)
       recintod --version | --help
`;

async function main(words: readonly string[]): Promise<void> {
  const options = optionsOf(words);
  if (options.help) return void process.stdout.write(USAGE);
  if (options.version) return void process.stdout.write(`${VERSION}\n`);
  // State and sockets get their rights on purpose; whatever else is made is the daemon's alone.
  process.umask(0o077);
  const configFile = configFileOf(options.config);
  const config = loadConfig(options.config);
  const log = createLog(config);
  const adminFd = inheritedSocket(process.env, process.pid);
  const notices = serviceNotices(process.env, (reason) =>
    log.warn({ reason }, "the service manager does not hear us"),
  );
  const daemon = await startDaemon(config, configFile, log, adminFd);
  const stopWatching = watchEngine(daemon, notices, log);
  reloadOnSignal(daemon, notices, log, options.config);
  stopOnSignals(daemon, stopWatching, notices, log);
  notices.ready();
  log.info({ version: VERSION, pid: process.pid, runDir: config.runDir }, "recintod is ready");
}

function optionsOf(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        config: { type: "string" },
        version: { type: "boolean", short: "V" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new RecintoError("bad-usage", (cause as Error).message, {
      hint: "recintod --help",
      cause,
    });
  }
}

/** One line when the engine goes away and one when it is back; commands meanwhile are answered engine-unreachable. */
function watchEngine({ engine }: Daemon, notices: ServiceNotices, log: Logger): () => void {
  let away: boolean | undefined;
  let timer: NodeJS.Timeout;
  const look = async () => {
    try {
      const info = await engine.info();
      if (away !== false) {
        log.info(info, away ? "the engine is back" : "the engine answers");
        notices.status(`${info.name} ${info.version} answers`);
      }
      away = false;
    } catch (error) {
      const { message, hint } = error as RecintoError;
      if (away !== true) {
        log.warn({ reason: message, hint }, "the engine is away: commands must wait");
        notices.status(`the engine is away, commands must wait: ${message}`);
      }
      away = true;
    }
    timer = setTimeout(look, ENGINE_POLL_MS).unref();
  };
  void look();
  return () => clearTimeout(timer);
}

/** SIGHUP: all settings that can change in a running daemon are read again, whatever the watching of files saw. */
function reloadOnSignal(
  daemon: Daemon,
  notices: ServiceNotices,
  log: Logger,
  configFile: string | undefined,
): void {
  process.on("SIGHUP", () => {
    notices.reloading(process.hrtime.bigint() / 1000n);
    daemon.reload();
    try {
      log.level = loadConfig(configFile).logLevel;
      log.info(
        "profiles, projects, rules and the log level are read again; the rest of the config needs a restart",
      );
    } catch (error) {
      log.error({ error }, "the config cannot be used: what it said before holds");
    }
    notices.ready();
  });
}

function stopOnSignals(
  daemon: Daemon,
  stopWatching: () => void,
  notices: ServiceNotices,
  log: Logger,
): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) {
      log.warn({ signal }, "told to stop twice: leaving at once");
      process.exit(ERROR_KINDS.internal.exit);
    }
    stopping = true;
    log.info({ signal }, "stopping");
    notices.stopping();
    stopWatching();
    try {
      await daemon.supervisor.shutdown();
      await daemon.listeners.close(SOCKET_CLOSE_GRACE_MS);
      log.info("stopped");
      // Lines written in one turn of the loop come out in order only when the turn ends.
      setImmediate(() => process.exit(0));
    } catch (err) {
      log.fatal({ err }, "could not stop in good order");
      process.exit(ERROR_KINDS.internal.exit);
    }
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // A promise nobody waited for is a bug, but not one that may take every agent down.
  process.on("unhandledRejection", (err) => log.error({ err }, "unhandled rejection"));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof RecintoError) {
    process.stderr.write(`recintod: ${error.message} (${error.hint})\n`);
    process.exit(error.exitCode);
  }
  process.stderr.write(`recintod: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(ERROR_KINDS.internal.exit);
});
