/** Every bound in Recinto, with the reason for it. Units are last in the names. */

/** Longest command text judged, UTF-16 units. Real agent commands with heredocs reach about 60,000. */
export const COMMAND_CHARS_MAX = 131_072;
/** Deepest nesting of substitutions, groups and wrappers that is followed; beyond it the command asks. */
export const NESTING_DEPTH_MAX = 32;
/** Most simple commands in one line that are judged; the largest real one seen had about 60. */
export const SEGMENTS_MAX = 512;
/** Most values one word may have (loop lists, braces) before it counts as unknown. */
export const WORD_VALUES_MAX = 256;

/** Largest request body on any socket, bytes: a command, its stdin text and environment. */
export const REQUEST_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Longest request head, bytes (node's own default is 16 KiB, said here so that it is ours). */
export const REQUEST_HEAD_BYTES_MAX = 16_384;
/** A client must have sent its head and body within this, so that half-open ones do not pile up. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Open connections on one socket. */
export const CONNECTIONS_MAX = 512;

/** Default wall-clock limit of one command when profile and request name none. */
export const EXEC_TIMEOUT_DEFAULT_MS = 10 * 60_000;
/** Longest wall-clock limit anyone may ask for. */
export const EXEC_TIMEOUT_MAX_MS = 24 * 60 * 60_000;
/** Output of one command that is passed on before it is cut with a marker, bytes, unless the profile says otherwise. */
export const EXEC_OUTPUT_BYTES_DEFAULT = 64 * 1024 * 1024;
/** Between TERM and KILL of a command that is cancelled or over its time. */
export const EXEC_TERM_GRACE_MS = 2_000;
/** Environment variables a request may set, and the size of one value. */
export const EXEC_ENV_COUNT_MAX = 256;
export const EXEC_ENV_VALUE_CHARS_MAX = 32_768;

/** How long an ask holds the request open when the profile says nothing. */
export const APPROVAL_WAIT_DEFAULT_MS = 10 * 60_000;
/** Asks one session may have open at once; more are refused so that one agent cannot flood the inbox. */
export const PENDING_PER_SESSION_MAX = 16;
/** Asks open in all. */
export const PENDING_MAX = 1_024;
/** Between two `pending` lines of a held-open request, so that clients and proxies see life. */
export const PENDING_KEEPALIVE_MS = 15_000;

/** Stop of the daemon: running commands get this long. */
export const SHUTDOWN_GRACE_MS = 10_000;
/** A sandbox without a command for this long is stopped, unless the profile says otherwise. */
export const SANDBOX_IDLE_DEFAULT_MS = 30 * 60_000;
/** Longest answer of the engine to one request before it counts as unreachable (image builds excepted). */
export const ENGINE_TIMEOUT_MS = 60_000;

/** Largest admin file (config, profile, project, rules) that is read, bytes. */
export const ADMIN_FILE_BYTES_MAX = 1024 * 1024;
/** Longest chain of `extends`. */
export const PROFILE_EXTENDS_MAX = 8;

/** Entries one read of the journal gives unless told otherwise, and at most: an answer of some megabytes. */
export const JOURNAL_READ_DEFAULT = 1_000;
export const JOURNAL_READ_MAX = 10_000;
/** Rows held in memory at a time when the chain is verified, and the rows checked at the end of the chain on opening. */
export const JOURNAL_VERIFY_BATCH = 2_000;
/** Largest entry, bytes of JSON: a command of COMMAND_CHARS_MAX with its verdict fits several times. */
export const JOURNAL_ENTRY_BYTES_MAX = 4 * 1024 * 1024;
/** Folders looked at when a project's worktrees are listed: a glob must not turn into a walk of a whole disk. */
export const WORKTREE_LIST_FOLDERS_MAX = 20_000;
/** Depth below the project root at which worktrees are looked for when the glob has `**`. */
export const WORKTREE_LIST_DEPTH_MAX = 8;
/** After a change of an admin's file, wait this long for more before reading: editors save in several steps. */
export const ADMIN_RELOAD_DELAY_MS = 100;
