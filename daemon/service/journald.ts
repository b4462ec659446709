/** Log lines as entries of systemd's journal, each value a field of its own (systemd.io/JOURNAL_NATIVE_PROTOCOL). */
import { fstatSync } from "node:fs";
import { LOG_FIELD_CHARS_MAX } from "../limits-observing.ts";
import { Datagrams } from "./datagram.ts";

const SOCKET = "/run/systemd/journal/socket";

/** pino's levels as syslog(3) priorities. */
const PRIORITIES: readonly (readonly [level: number, priority: number])[] = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
  [0, 7],
];

export interface LineSink {
  write(line: string): void;
}

/** Whether `fd` is the stream that systemd made for the log, and not a pipe or file put in its place since. */
export function isJournalStream(
  environment: Readonly<Record<string, string | undefined>>,
  fd: number,
): boolean {
  const { JOURNAL_STREAM } = environment;
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(fd);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}

/** What the journal does not take goes to `otherwise` as it came, so that no line is lost. */
export function journaldSink(otherwise: LineSink, path = SOCKET): LineSink {
  let datagrams: Datagrams | null = null;
  return {
    write(line) {
      try {
        datagrams ??= new Datagrams(path);
        if (datagrams.send(journalEntry(JSON.parse(line)))) return;
      } catch {
        // Said in the other way, below.
      }
      otherwise.write(line);
    },
  };
}

/** One log line as the journal wants it. A value with a newline cannot forge a field: its length goes before it. */
export function journalEntry(line: Readonly<Record<string, unknown>>): Buffer {
  const { level, time: _, msg, ...rest } = line;
  const priority = PRIORITIES.find(([from]) => Number(level) >= from)?.[1] ?? 6;
  const fields: [string, string][] = [
    ["MESSAGE", String(msg ?? "")],
    ["PRIORITY", String(priority)],
    ["SYSLOG_IDENTIFIER", "recintod"],
    ...Object.entries(rest).map(([key, value]): [string, string] => [
      `RECINTO_${key.replace(/[^A-Za-z0-9]/g, "_").toUpperCase()}`.slice(0, 64),
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  ];
  return Buffer.concat(fields.map(([name, value]) => field(name, value)));
}

function field(name: string, value: string): Buffer {
  const text = Buffer.from(value.slice(0, LOG_FIELD_CHARS_MAX));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([Buffer.from(`${name}\n`), size, text, Buffer.from("\n")]);
}
