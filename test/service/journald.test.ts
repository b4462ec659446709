/** Log lines as systemd's journal reads them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOG_FIELD_CHARS_MAX } from "../../daemon/limits-observing.ts";
import { isJournalStream, journaldSink, journalEntry } from "../../daemon/service/journald.ts";
import { Receiver } from "./receiver.ts";

/** An entry's fields, by the journal's rule: name, newline, eight bytes of length, that many bytes, newline. */
function fields(entry: Buffer): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = 0; at < entry.length; ) {
    const end = entry.indexOf("\n", at);
    const size = Number(entry.readBigUInt64LE(end + 1));
    const from = end + 9;
    found[entry.toString("utf8", at, end)] = entry.toString("utf8", from, from + size);
    at = from + size + 1;
  }
  return found;
}

test("a line becomes message, priority and a field for each value", () => {
  const line = { level: 40, time: 1, msg: "the engine is away", reason: "no socket", code: 7 };
  expect(fields(journalEntry(line))).toEqual({
    MESSAGE: "the engine is away",
    PRIORITY: "4",
    SYSLOG_IDENTIFIER: "recintod",
    RECINTO_REASON: "no socket",
    RECINTO_CODE: "7",
  });
});

test.each([
  [20, "7"],
  [30, "6"],
  [40, "4"],
  [50, "3"],
  [60, "2"],
])("level %i is priority %s", (level, priority) => {
  expect(fields(journalEntry({ level, msg: "" })).PRIORITY).toBe(priority);
});

test("a value with newlines stays one value: no agent writes a field of its own into the log", () => {
  const command = "echo\nPRIORITY=0\nMESSAGE=all is well";
  expect(fields(journalEntry({ level: 30, msg: "ran", command }))).toEqual({
    MESSAGE: "ran",
    PRIORITY: "6",
    SYSLOG_IDENTIFIER: "recintod",
    RECINTO_COMMAND: command,
  });
});

test("a key is a name the journal takes, and a long value is cut", () => {
  const line = { level: 30, msg: "m", "a=b\nc": { d: 1 }, long: "x".repeat(1e6) };
  const entry = fields(journalEntry(line));
  expect(entry.RECINTO_A_B_C).toBe('{"d":1}');
  expect(entry.RECINTO_LONG?.length).toBe(LOG_FIELD_CHARS_MAX);
});

describe("the sink", () => {
  let journal: Receiver;
  beforeEach(() => {
    journal = new Receiver();
  });
  afterEach(() => journal.close());

  test("sends what the journal takes there and nowhere else", () => {
    const rest: string[] = [];
    const sink = journaldSink({ write: (line) => void rest.push(line) }, journal.path);
    sink.write('{"level":30,"msg":"hello"}\n');
    expect(journal.all().map(fields)).toMatchObject([{ MESSAGE: "hello" }]);
    expect(rest).toEqual([]);
  });

  test("loses nothing: a line that is no JSON, or that nobody takes, goes the other way", () => {
    const rest: string[] = [];
    const otherwise = { write: (line: string) => void rest.push(line) };
    journaldSink(otherwise, journal.path).write("not JSON\n");
    journaldSink(otherwise, "/nonexistent/socket").write('{"level":30,"msg":"x"}\n');
    expect(rest).toEqual(["not JSON\n", '{"level":30,"msg":"x"}\n']);
  });
});

test("a stream counts as the journal's only if it is the very one that systemd made", () => {
  expect(isJournalStream({}, 1)).toBe(false);
  expect(isJournalStream({ JOURNAL_STREAM: "1:1" }, 1)).toBe(false);
});
