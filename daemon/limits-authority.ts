/** The bounds of contracts, grants and closures, each with its reason; the others are in limits.ts. */

/** A grant whose rule names no ttl ends after this: an agent can keep its tests red, so no other closure is enough. */
export const GRANT_TTL_DEFAULT_MS = 30 * 60_000;
/** Shortest and longest ttl a rule may name: a working day with reserve is still an end. */
export const GRANT_TTL_MIN_MS = 1_000;
export const GRANT_TTL_MAX_MS = 24 * 60 * 60_000;
/** Most uses a rule may count: whoever needs more means a ttl. */
export const GRANT_USES_MAX = 10_000;
/** Grants one session may hold at once, those that are closing included: a person must be able to read the list. */
export const GRANTS_LIVE_MAX = 64;
/** Requests for a person one session may have open at once, like other questions. */
export const GRANTS_PENDING_MAX = 16;
/** Commands and file operations on the grants of one worktree at once: COMMANDS_PER_SESSION_MAX, and as many again. */
export const GRANT_INVOCATIONS_MAX = 256;
/** Closed handles a session remembers to say what closed them; an older one is refused as unknown. */
export const GRANTS_CLOSED_KEPT_MAX = 1_000;
/** Entries of the audit kept in a session's state; the journal has all of them. */
export const GRANT_AUDIT_KEPT_MAX = 1_000;
/** Text a request, a person or a closing check gives as reason, UTF-16 units: some sentences. */
export const GRANT_REASON_CHARS_MAX = 1_000;
/** Opaque handle or id, characters: 256 bits in hex with a prefix fit. */
export const GRANT_HANDLE_CHARS_MAX = 128;
/** Steps of ledgers on record before they are saved as a whole: how many a start plays again at most. */
export const LEDGER_STEPS_PER_SAVE = 256;
/** After a command that could have changed something, the checks that end grants wait so long for more of the kind. */
export const CLOSURE_DEBOUNCE_MS = 300;
/** A check of a test that ran for a second rests for so many: checks take a fifth of the time at most. */
export const CLOSURE_CHECK_REST = 4;
/** Checks go on so often where the agent does nothing: what else changes files is a person, and no hurry. */
export const CLOSURE_CHECK_EVERY_MS = 60_000;
/** Longest run of one check; a test that takes longer is none to hang a grant on. */
export const CLOSURE_CHECK_TIMEOUT_MS = 10 * 60_000;
/** A file that ends a grant is looked at so often besides after every command: one open and one stat. */
export const CLOSURE_FILE_POLL_MS = 1_000;
/** Largest file that is read for a closure: a marker or a lock file, not a data set. */
export const CLOSURE_FILE_BYTES_MAX = 4 * 2 ** 20;
/** Contract: text, rules, closures, phases and the items of one list. Admins write them by hand and read them whole. */
export const CONTRACT_CHARS_MAX = 256 * 1024;
export const CONTRACT_RULES_MAX = 256;
export const CONTRACT_LIST_MAX = 64;
