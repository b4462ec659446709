/** The journal's SQLite file: how it is opened, locked and laid out. */
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { RecintoError } from "../errors.ts";
import { JOURNAL_LOG_PAGES } from "../limits-journal.ts";
import { rebuildStanding } from "./standing-table.ts";

/** Marks the file as ours ("RCNT") and says which layout it has. */
const APPLICATION_ID = 0x52434e54;
const SCHEMA_VERSION = 2;

/** What stands (standing.ts): `entry` is the row as JSON, so that it outlives the row. */
const STANDING = `
CREATE TABLE standing (
  kind  TEXT NOT NULL,
  id    TEXT NOT NULL,
  seq   INTEGER NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT;
`;

const SCHEMA = `
CREATE TABLE entries (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  event   TEXT NOT NULL,
  project TEXT,
  session TEXT,
  uid     INTEGER,
  data    TEXT NOT NULL,
  hash    TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_event   ON entries (event, seq);
CREATE INDEX entries_by_project ON entries (project, seq);
CREATE INDEX entries_by_session ON entries (session, seq) WHERE session IS NOT NULL;
CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER entries_are_not_replaced BEFORE INSERT ON entries
  WHEN EXISTS (SELECT 1 FROM entries WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
`;

/** Only what a newer entry says is not kept any more may go. */
const NOT_DELETED = `
DROP TRIGGER IF EXISTS entries_are_not_deleted;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
  WHEN OLD.seq > coalesce((SELECT json_extract(data, '$.through') FROM entries
    WHERE event = 'journal.pruned' ORDER BY seq DESC LIMIT 1), 0)
  BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
`;

export const INSERT_ROW =
  "INSERT INTO entries VALUES (@seq, @at, @event, @project, @session, @uid, @data, @hash)";

/** Opens or makes the file, mode 0600, and holds it alone until it is closed. */
export function openDatabase(path: string): Database.Database {
  ownFile(path);
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: 0 });
    // EXCLUSIVE before anything else: the lock of the first transaction is then kept, so a second daemon cannot open it.
    db.pragma("locking_mode = EXCLUSIVE");
    db.pragma("journal_mode = WAL");
    db.pragma(`wal_autocheckpoint = ${JOURNAL_LOG_PAGES}`);
    db.pragma("synchronous = FULL");
    db.transaction(migrate).immediate(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw openError(path, error);
  }
}

/**
 * SQLite gives its side files the mode of the main file, so that one is made first and never through a link.
 * A file that is there is not opened here: closing it would drop this process's own locks on it (POSIX).
 */
function ownFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) closeSync(openSync(path, "wx", 0o600));
    else if (!found.isFile()) throw new Error("it is not a regular file");
    else if ((found.mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  } catch (cause) {
    throw new RecintoError("journal-failed", `cannot open journal ${path}: ${String(cause)}`, {
      cause,
    });
  }
}

function migrate(db: Database.Database, path: string): void {
  const version = db.pragma("user_version", { simple: true });
  const application = db.pragma("application_id", { simple: true });
  const tables = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get();
  if (version === 0 && application === 0 && tables === 0) {
    db.exec(SCHEMA + STANDING + NOT_DELETED);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  } else if (application !== APPLICATION_ID) {
    throw new RecintoError("journal-broken", `${path} is a database, but not a recinto journal`, {
      hint: "name another state directory, or move the file away",
    });
  } else if (version === 1) {
    db.exec(STANDING + NOT_DELETED);
    rebuildStanding(db);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  } else if (version !== SCHEMA_VERSION) {
    throw new RecintoError(
      "journal-broken",
      `journal ${path} has layout ${version}, this recintod writes ${SCHEMA_VERSION}`,
      { hint: "use the recintod that wrote it, or a newer one" },
    );
  }
}

export function openError(path: string, cause: unknown): unknown {
  if (cause instanceof RecintoError) return cause;
  const code = cause instanceof Database.SqliteError ? cause.code : "";
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new RecintoError("journal-in-use", `journal ${path} is open in another process`, {
      cause,
    });
  }
  if (isCorruption(cause)) {
    return new RecintoError(
      "journal-broken",
      `journal ${path} is damaged: ${(cause as Error).message}`,
      { hint: `recinto journal repair --file ${path} --dry-run says what can be kept`, cause },
    );
  }
  return new RecintoError("journal-failed", `cannot open journal ${path}: ${String(cause)}`, {
    cause,
  });
}

export function isCorruption(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    (error.code.startsWith("SQLITE_CORRUPT") || error.code.startsWith("SQLITE_NOTADB"))
  );
}
