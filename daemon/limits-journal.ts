/** Bounds of the record, with the reason for each; the rest is in limits.ts. */

/** Entries one read of the journal gives unless told otherwise, and at most: an answer of some megabytes. */
export const JOURNAL_READ_DEFAULT = 1_000;
export const JOURNAL_READ_MAX = 10_000;
/** Rows held in memory at a time when the chain is verified, and the rows checked at the end of the chain on opening. */
export const JOURNAL_VERIFY_BATCH = 2_000;
/** How often the daemon looks for entries that the config says are not kept any more. */
export const JOURNAL_PRUNE_EVERY_MS = 60 * 60_000;
/** Largest entry, bytes of JSON: a command of COMMAND_CHARS_MAX with its verdict fits several times. */
export const JOURNAL_ENTRY_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Pages of 4 KiB in the write-ahead file before they are brought into the database, which stops the daemon for two
 * syncs: 16 MB, some hundred commands, read again in a moment after a crash. SQLite's own is a quarter of that.
 */
export const JOURNAL_LOG_PAGES = 4_000;
