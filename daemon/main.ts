/** recintod: starts the daemon, keeps an eye on the engine, and stops in good order. */
import { parseArgs } from "node:util";
import type { Logger } from "pino";
import { ERROR_KINDS, RecintoError } from "./errors.ts";
import { ENGINE_POLL_MS, SOCKET_CLOSE_GRACE_MS } from "./limits.ts";
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
  const daemon = await startDaemon(config, configFile, log);
  const stopWatching = watchEngine(daemon, log);
  stopOnSignals(daemon, stopWatching, log);
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
function watchEngine({ engine }: Daemon, log: Logger): () => void {
  let away: boolean | undefined;
  let timer: NodeJS.Timeout;
  const look = async () => {
    try {
      const info = await engine.info();
      if (away !== false) log.info(info, away ? "the engine is back" : "the engine answers");
      away = false;
    } catch (error) {
      const { message, hint } = error as RecintoError;
      if (away !== true)
        log.warn({ reason: message, hint }, "the engine is away: commands must wait");
      away = true;
    }
    timer = setTimeout(look, ENGINE_POLL_MS).unref();
  };
  void look();
  return () => clearTimeout(timer);
}

function stopOnSignals(daemon: Daemon, stopWatching: () => void, log: Logger): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) {
      log.warn({ signal }, "told to stop twice: leaving at once");
      process.exit(ERROR_KINDS.internal.exit);
    }
    stopping = true;
    log.info({ signal }, "stopping");
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
  process.on("SIGHUP", () => log.info("profiles and projects are read again whenever they change"));
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
