/** Every bound in Recinto, with the reason for it. Units are last in the names. */

/** Longest command text judged, UTF-16 units. Real agent commands with heredocs reach about 60,000. */
export const COMMAND_CHARS_MAX = 131_072;
/** Deepest nesting of substitutions, groups and wrappers that is followed; beyond it the command asks. */
export const NESTING_DEPTH_MAX = 32;
/** Most simple commands in one line that are judged; the largest real one seen had about 60. */
export const SEGMENTS_MAX = 512;
/** Most simple commands looked at while reading one line: loops and functions inside each other are read again. */
export const UNDERSTAND_STEPS_MAX = 8_192;
/** Most variables and functions one line may set; each change of one copies the others. */
export const SHELL_NAMES_MAX = 512;
/** Most words that all braces of one line may make; each is read again. */
export const BRACE_WORDS_MAX = 4_096;
/** Most `<<` in one command: the parser takes time in the square of their number. */
export const HERE_DOCUMENTS_MAX = 4_096;
/** Reasons of one kind that a verdict gives for a segment: a line that names 20,000 outside files is told once, not so often. */
export const REASONS_PER_RULE_MAX = 32;
/** Deepest nesting of lists and maps in YAML and JSON that people write; ours go three deep. */
export const YAML_NESTING_MAX = 64;
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

/** How often connections are looked at for that, so that a half-open one lasts this much longer at most. */
export const CONNECTIONS_CHECK_MS = 5_000;
/** An idle kept-alive connection is closed after this; longer than the pause between an agent's two commands in a row. */
export const KEEP_ALIVE_MS = 30_000;
/** Request bodies being read at one moment, all sockets together, bytes: 512 callers cannot fill the memory with them. */
export const REQUEST_BODIES_BYTES_MAX = 64 * 1024 * 1024;
/** Values and messages of a caller that an error repeats, UTF-16 units: enough to recognise, too short to flood a log. */
export const ERROR_ECHO_CHARS_MAX = 200;
/** Entries in one answer of the journal; more are read page by page. */
export const EVENTS_PAGE_MAX = 1_000;
/** A client told to wait for the daemon tries this long, and this often; one whose question is open longer: an upgrade. */
export const CLIENT_START_WAIT_MS = 5_000;
export const CLIENT_START_RETRY_MS = 100;
export const CLIENT_DAEMON_BACK_MS = 60_000;

/** Standard input from a file up to this size goes with the request, where an approver sees it; a larger one is streamed. */
export const STDIN_INLINE_BYTES_MAX = 256 * 1024;

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

/** Longest that one request waits for a question to be over; a client that waits on asks again. */
export const APPROVAL_POLL_WAIT_MAX_MS = 60_000;

/** How often the engine is asked whether it is there, so that its going and coming is known without a command. */
export const ENGINE_POLL_MS = 5_000;
/** What is still being read when the daemon stops, or after the last word on an upgraded connection, gets this long. */
export const SOCKET_CLOSE_GRACE_MS = 1_000;
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

/** Folders looked at when a project's worktrees are listed: a glob must not turn into a walk of a whole disk. */
export const WORKTREE_LIST_FOLDERS_MAX = 20_000;
/** Depth below the project root at which worktrees are looked for when the glob has `**`. */
export const WORKTREE_LIST_DEPTH_MAX = 8;
/** After a change of an admin's file, wait this long for more before reading: editors save in several steps. */
export const ADMIN_RELOAD_DELAY_MS = 100;

/** Longest command text in bytes: Linux takes 128 KiB in one argument, its closing NUL included (MAX_ARG_STRLEN). */
export const COMMAND_BYTES_MAX = 131_071;
/** Output of one command that waits in the daemon for a slow reader, bytes a stream; beyond it the engine is not read. */
export const EXEC_BUFFER_BYTES = 256 * 1024;
/** Longest pause between two looks at whether a command, whose output has ended, is gone. */
export const EXEC_POLL_MAX_MS = 250;
/** Looks for an out-of-memory event after a command ended with 137, and the pause between them: the event may come later. */
export const OOM_LOOKS = 20;
export const OOM_LOOK_PAUSE_MS = 40;
/** Passes over the processes of a command that is being killed before the whole sandbox is killed instead. */
export const KILL_ROUNDS_MAX = 50;
/** One pass may take this long in all: a full process table makes the kernel slow. */
export const KILL_TIMEOUT_MS = 15_000;

/** A connection to a runner's socket must show the secret within this: a hostile container may open many. */
export const RUNNER_HELLO_TIMEOUT_MS = 5_000;
/** Connections to one runner's socket that have not shown the secret yet. */
export const RUNNER_UNKNOWN_CONNECTIONS_MAX = 64;
/** How long a command waits for a minder: forking one takes a millisecond, a full process table takes longer. */
export const RUNNER_WAIT_MS = 10_000;
/** How long the record of a command without effect may wait for a sync, milliseconds: until then others share it. */
export const JOURNAL_SYNC_SOON_MS = 100;
/** Minders that wait for commands in one sandbox: as many as an agent starts at once; each is a process of some 100 kB. */
export const RUNNER_SPARE_MINDERS = 4;
/** Minders without a command that one sandbox may offer at once: the runner has RUNNER_SPARE_MINDERS, who imitates it gets no more of the daemon's descriptors than this. */
export const RUNNER_FRESH_MINDERS_MAX = 16;
/**
 * Minders that had a command and are kept for another: as many at any time, and only RUNNER_SPARE_MINDERS after a while
 * of milliseconds. They count as processes of the sandbox.
 */
export const RUNNER_USED_MINDERS_MAX = 32;
export const RUNNER_TRIM_MS = 1_000;
/** Last words of a runner that ended, UTF-16 units: one error message of it. */
export const RUNNER_STDERR_CHARS_MAX = 1_000;
/** Bytes of a framed stream that wait for the connection before the command's output is not taken any more. */
export const STREAM_AHEAD_BYTES = 512 * 1024;
/** How long an event that is no output waits for what follows it, milliseconds: less than a person or a program notices. */
export const STREAM_HOLD_MS = 5;
/** Largest event in a framed stream that is not output, bytes: a verdict on COMMAND_CHARS_MAX fits several times. */
export const STREAM_FRAME_JSON_BYTES_MAX = 16 * 1024 * 1024;
/** End of a failed command's error output in which words of refusal are looked for, characters. */
export const CONFINED_STDERR_CHARS = 4_096;
/** While a sandbox's runner answers, image, repository and folders are looked at again after this. */
export const SANDBOX_FRESH_MS = 10_000;

/** Live sessions in all: each holds counters, a sandbox and maybe running commands. */
export const SESSIONS_MAX = 1_024;
/** A session that nothing used for this long gives its worktree up to another user. */
export const SESSION_IDLE_MAX_MS = 12 * 60 * 60_000;
/** Answered questions that can still be looked at. */
export const APPROVALS_KEPT_MAX = 500;
/** An approval whose command is not waiting any more can be taken up by sending it again within this. */
export const APPROVAL_UNUSED_MAX_MS = 10 * 60_000;
/** Times one command is asked again because what was shown had changed; then it is refused. */
export const APPROVAL_REASKS_MAX = 3;
/** Standard input shown to an approver, bytes: enough to read a script, little enough for an inbox. */
export const APPROVAL_STDIN_BYTES_SHOWN = 16_384;
/** Saved rules of one project, so that judging stays fast and a person can still read them. */
export const SAVED_RULES_MAX = 1_000;
/** Folders of local programs whose names are remembered until they change, in all worktrees. */
export const LOCAL_BIN_FOLDERS_MAX = 256;
/** Names of local programs (node_modules/.bin) that are looked at for one command. */
export const LOCAL_BINS_MAX = 10_000;
/** A git pointer, HEAD or commondir file is a line; anything longer is not one. */
export const GIT_POINTER_BYTES_MAX = 4_096;
/** Largest script or program hashed whole for an approval; beyond it size and times stand for the content. */
export const BOUND_CONTENT_BYTES_MAX = 64 * 1024 * 1024;
/** Rounds of looking up real paths for one command: a link may lead to names that were not looked up yet. */
export const FACT_ROUNDS_MAX = 4;
/** Output of one command held for a slow reader, bytes; then the command waits. */
export const EXEC_BUFFER_BYTES_MAX = 1024 * 1024;
/** After KILL, how long until a command whose end cannot be seen is recorded as lost. */
export const EXEC_LOST_AFTER_MS = 10_000;
/** Changes held for one slow watcher of approvals before it is cut off. */
export const WATCH_BACKLOG_MAX = 4_096;
/** Paths of one command whose links are followed: as many as its segments can name, many times over. */
export const REAL_PATHS_MAX = 8_192;
/** A sandbox that is stopped gets this long: nothing of value runs in it then. */
export const SANDBOX_STOP_GRACE_MS = 2_000;
/** What the doctor wants of inotify: a large project has 13,000 folders, and others on the machine watch too. */
export const WATCHES_ADVISED_MIN = 65_536;
/** The free space below a worktree is looked at this often while a command runs: microseconds, and a disk fills slower. */
export const GROWTH_LOOK_MS = 1_000;
/** Hazards kept for one worktree; ten thousand links at once must fit, a disk full of them must not fill the daemon. */
export const HAZARDS_MAX = 50_000;
/** Folders of one worktree that are walked and watched; the largest monorepos have a few hundred thousand. */
export const WATCH_FOLDERS_MAX = 500_000;
/** After an event in a worktree, wait this long for more before looking: one look for a burst, alerts still prompt. */
export const WATCH_SETTLE_MS = 10;
/** Longest stretch of looking at a worktree before other work of the daemon gets its turn. */
export const WATCH_SLICE_MS = 8;
/** Between two scans of folders that cannot be watched; more when a scan takes long. */
export const WATCH_SCAN_INTERVAL_MS = 2_000;
/** Config of a nested repository that is read to tell whether it runs something; a longer one counts as running. */
export const GIT_CONFIG_BYTES_MAX = 65_536;

/** One git that the daemon runs on the host: indexing a large import takes minutes, nothing else comes near. */
export const GIT_HOST_TIMEOUT_MS = 10 * 60_000;
/** Most that such a git may print: references of the largest repositories reach some tens of megabytes. */
export const GIT_OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Largest pack that is brought out of a sandbox at once, bytes. */
export const GIT_IMPORT_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/** One git in a sandbox that is waited for before the command's answer: more than a slow disk needs, for an honest one. */
export const GIT_SANDBOX_TIMEOUT_MS = 60_000;
/** Object folders of the host that one repository builds on, and how far they lead to further ones (git's own limit). */
export const GIT_ALTERNATES_MAX = 16;
export const GIT_ALTERNATES_DEPTH_MAX = 5;
/** Largest protected file that is kept to be put back; instructions and settings are a few kilobytes. */
export const PROTECTED_FILE_BYTES_MAX = 1024 * 1024;
/** A file changed within this may change again and keep its times: file systems' clocks tick in steps of up to 10 ms. */
export const STAMP_TICK_MS = 50;
/** Protected files of one worktree that are kept, and folders deep that a protected folder is looked into. */
export const PROTECTED_FILES_MAX = 5_000;
export const PROTECTED_DEPTH_MAX = 16;
/** Changes of protected files that are put aside and still kept, the newest, and the largest of them. */
export const ASIDE_KEPT_MAX = 200;
export const ASIDE_BYTES_MAX = 64 * 1024 * 1024;
/** A program that swaps a file again and again while it is put back gets this many answers at once; the next look goes on. */
export const PUT_BACK_TRIES_MAX = 5;
/** After news of a protected file while a command runs, wait this long for more: editors and git save in several steps. */
export const PROTECTED_SETTLE_MS = 100;
/** Commits of the host at which a sandbox's branch may have begun, each looked at for what a protected file was there. */
export const TRUSTED_COMMITS_MAX = 8;
/** How long judging waits for the first walk of a worktree: a tree of a million files takes some seconds. */
export const WATCHER_READY_WAIT_MS = 10_000;
/** Links accepted in one project: each was looked at by a person, so more is a script gone wrong. */
export const ACCEPTED_LINKS_MAX = 1_000;
/** Hazards are journalled together this often, so that a loop that makes links cannot make the disk sync for each. */
export const HAZARD_FLUSH_MS = 50;
/** Hazards journalled one by one in a flush; what is over is counted. */
export const HAZARD_FLUSH_MAX = 200;
/**
 * Commands one session may have in any state, asked about and waiting ones included: the most that a profile may let run
 * and wait; each may hold a request body.
 */
export const RUNS_PER_SESSION_MAX = 256;
/** Commands of one session that run at once when the profile says nothing: an agent with a dozen helpers stays below. */
export const COMMANDS_PER_SESSION_DEFAULT = 32;
/** Commands of one session that wait when the profile says nothing: as many again, twice. */
export const COMMANDS_QUEUED_DEFAULT = 64;
/** Most that a profile may say for either: together RUNS_PER_SESSION_MAX. */
export const COMMANDS_PER_SESSION_MAX = 128;
/** Commands of one project that run at once when the profile says nothing, and the most that it may say. */
export const COMMANDS_PER_PROJECT_DEFAULT = 128;
export const COMMANDS_PER_PROJECT_MAX = 512;
/** Commands of one project that wait: with those that run they leave connections of its socket for other calls. */
export const COMMANDS_PER_PROJECT_QUEUED_MAX = 256;
/** Commands that run at once in all: each is some processes, and EXEC_BUFFER_BYTES_MAX of the daemon's memory. */
export const COMMANDS_RUNNING_MAX = 512;
/** Commands that wait in all: a few projects with full queues. */
export const COMMANDS_QUEUED_MAX = 1_024;
/** What an answer of 429 says about trying again, seconds: most commands end within that. */
export const RETRY_AFTER_S = 2;
/** Files whose content one approval is bound to: each is read twice. */
export const BOUND_FILES_MAX = 64;

/** Rules in one rule file: each is held against every segment, and a person should still be able to read them. */
export const RULE_FILE_RULES_MAX = 1_000;
/** Policy file of a worktree that is read at all: anyone who can write there can make it as large as the disk. */
export const WORKTREE_POLICY_BYTES_MAX = 256 * 1024;
/** Past commands that a rule is tried on before it is stored: some tens of milliseconds of judging. */
export const RULE_PREVIEW_ACTIONS_MAX = 500;
/** Of those it would have allowed, the ones that are shown. */
export const RULE_PREVIEW_EXAMPLES_MAX = 5;
/** Entries of the journal read at a time when the past is judged again or counted, between which other work goes on. */
export const HISTORY_PAGE = 500;
/** Escaping links recorded with an action, so that it can be judged again: any one of them is enough to ask. */
export const RECORDED_LINKS_MAX = 64;
/** Trusted contents of policy files in one project: a person has read each of them. */
export const TRUSTED_CONTENTS_MAX = 1_000;

/** Bytes of one file written through the file API: more than any source or asset, less than fills a small disk at once. */
export const FILE_WRITE_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/** Content that must be there whole before a person is asked: kept in memory up to here, then in the daemon's state. */
export const FILE_STAGE_MEMORY_BYTES_MAX = 1024 * 1024;
export const FILE_STAGE_BYTES_MAX = 256 * 1024 * 1024;
/** Staged content of all requests at one moment: questions stay open for minutes, and the state's disk is the journal's. */
export const FILE_STAGES_BYTES_MAX = 1024 * 1024 * 1024;
/** A client that sends a file must send some of it within this, so that half-sent ones do not pile up. */
export const FILE_BODY_IDLE_MS = 60_000;
/** What is left of a body after a refusal is read up to here, so that the client reads the refusal and not a reset. */
export const FILE_DRAIN_BYTES_MAX = 16 * 1024 * 1024;
/** Piece in which files are read, bytes. */
export const FILE_CHUNK_BYTES = 128 * 1024;
/** Entries of one page of a folder unless asked for another number, and at most: an answer of some megabytes. */
export const FILE_LIST_DEFAULT = 1_000;
export const FILE_LIST_MAX = 10_000;
/** Names of one folder that are read to be sorted; a larger folder is no source tree. */
export const FILE_FOLDER_NAMES_MAX = 200_000;
/** Entries that one recursive removal, archive in or archive out touches. */
export const FILE_TREE_ENTRIES_MAX = 100_000;
/** Folders inside each other that are walked: each holds a descriptor open. */
export const FILE_TREE_DEPTH_MAX = 64;
/** Entries of a tree that are worked on before other work of the daemon gets its turn. */
export const FILE_TREE_SLICE = 64;
/** A patch is read whole, and so is each file that it changes. */
export const PATCH_CHARS_MAX = 2 * 1024 * 1024;
export const PATCH_FILES_MAX = 500;
export const PATCH_FILE_BYTES_MAX = 32 * 1024 * 1024;
export const PATCH_FILES_BYTES_MAX = 128 * 1024 * 1024;
/** Data in one archive, after decompression. */
export const ARCHIVE_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** Bytes that one byte of a compressed archive may become (deflate can do 1,032), once more than the slack came out. */
export const ARCHIVE_RATIO_MAX = 200;
export const ARCHIVE_RATIO_SLACK_BYTES = 16 * 1024 * 1024;
/** Extension records and long names of one entry: a hostile archive could declare gigabytes of them. */
export const ARCHIVE_EXTENSION_BYTES_MAX = 64 * 1024;
/** Longest path of an entry in an archive, bytes: Linux's PATH_MAX. */
export const ARCHIVE_NAME_BYTES_MAX = 4_096;
/** Names in an error or a journal entry that says what was written before it. */
export const FILE_NAMES_TOLD_MAX = 50;

/** Connections one way out of a sandbox may have at once: parallel downloads of a package manager are some dozens. */
export const EGRESS_CONNECTIONS_MAX = 64;
/** Bytes that may leave and enter by one way out in its whole life; far over any install, far under filling a link for days. */
export const EGRESS_SENT_BYTES_MAX = 1024 * 1024 * 1024;
export const EGRESS_RECEIVED_BYTES_MAX = 16 * 1024 * 1024 * 1024;
/** Head of a proxied request, bytes: what common servers take too. */
export const EGRESS_HEAD_BYTES_MAX = 16_384;
/** A head must be there within this, and a connection may be silent for so long. */
export const EGRESS_HEAD_TIMEOUT_MS = 30_000;
export const EGRESS_IDLE_MS = 5 * 60_000;
/** Looking up a name, and each attempt to connect. */
export const EGRESS_RESOLVE_TIMEOUT_MS = 10_000;
export const EGRESS_CONNECT_TIMEOUT_MS = 10_000;
/** Addresses of one name that are tried, one after the other. */
export const EGRESS_ADDRESSES_TRIED_MAX = 4;
/** Refusals of one way out that are journalled one by one: a loop of them must not fill the disk. */
export const EGRESS_REFUSALS_RECORDED_MAX = 100;
/** A connection to a host that a person has to allow first waits so long; clients themselves give up after some minutes. */
export const EGRESS_ASK_WAIT_MAX_MS = 5 * 60_000;
/** Certificates made for hosts that are looked into, kept for their next connection: a few kilobytes each. */
export const EGRESS_LEAVES_KEPT_MAX = 256;
/** Longest path in the config: far below what the kernel takes, and a socket's must be shorter still. */
export const CONFIG_PATH_CHARS_MAX = 1_024;
/** Roles in the config, and users, groups or projects of one: looked through with each connection of a person. */
export const CONFIG_ROLES_MAX = 64;
export const CONFIG_ROLE_NAMES_MAX = 256;
/** A project's socket that could not be opened to its agents is tried again this often: a group or an owner was mended. */
export const AGENT_SOCKET_RETRY_MS = 5_000;
/** Output of a command that one MCP result carries unless asked for more, and at most: a model reads all of it, and pays. */
export const MCP_OUTPUT_BYTES_DEFAULT = 32_768;
export const MCP_OUTPUT_BYTES_MAX = 262_144;
/** Bytes of a file in one MCP result; the result says where the next part begins. */
export const MCP_READ_BYTES_DEFAULT = 65_536;
/** Standard input and file content in one MCP call, UTF-16 units: they come in one message. */
export const MCP_STDIN_CHARS_MAX = 1024 * 1024;
/** Entries of a folder in one MCP result. */
export const MCP_LIST_DEFAULT = 200;
/** Largest message from an MCP client, bytes: a file of MCP_STDIN_CHARS_MAX in JSON's longest spelling. */
export const MCP_MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
/** Between two lines of output told as progress: a person reads no faster, and a client may show each. */
export const MCP_PROGRESS_EVERY_MS = 1_000;
/** Progress is repeated this often while nothing happens: shorter than any client's time-out, which it resets. */
export const MCP_HEARTBEAT_MS = 15_000;
/** One line of progress, UTF-16 units. */
export const MCP_PROGRESS_CHARS_MAX = 200;

/** Output of one job that is kept for who looks later, bytes: some thousand lines; and its pieces, each an object. */
export const JOB_HISTORY_BYTES = 1024 * 1024;
export const JOB_HISTORY_PIECES = 4_096;
/** Output smaller than this is gathered into blocks of twice that, so that a byte at a time is not an object a byte. */
export const JOB_GATHER_BYTES = 2_048;
/** Kept output of ended jobs of all sessions together; then the longest ended ones lose theirs. */
export const JOB_HISTORIES_BYTES_MAX = 64 * 1024 * 1024;
/** Ended jobs that one session still lists, and for how long: an agent looks within its next few turns. */
export const JOBS_ENDED_KEPT_MAX = 64;
export const JOB_ENDED_KEPT_MS = 60 * 60_000;
/** Jobs of one session that outlive their command at once: some servers and watchers; more is a leak. */
export const JOBS_BACKGROUND_MAX = 16;
/** A detached job, and what a command left running, is ended after this when the profile says nothing: a working day. */
export const JOB_LIFE_DEFAULT_MS = 12 * 60 * 60_000;
/** Bytes one reader of a job is given at a time. */
export const JOB_READ_BYTES = 256 * 1024;
/** Who reads one job at the same moment. */
export const JOB_READERS_MAX = 16;
/** What is told about one job besides its output. */
export const JOB_NOTES_MAX = 32;
/** Input that waits for a job that does not read it, bytes; one more request of that size may be on its way. */
export const JOB_INPUT_WAITING_BYTES_MAX = 1024 * 1024;
/** Input on an upgraded connection that waits for its command, bytes; then the connection is not read. */
export const TWO_WAY_AHEAD_BYTES = 64 * 1024;
/** Rules that the description of one MCP tool lists; status has all of them. */
export const MCP_RULES_TOLD_MAX = 24;
/** Between two tries to follow a session's interface while the daemon is away. */
export const MCP_WATCH_RETRY_MS = 2_000;
/** How often such a connection is tried by a frame of nothing: who is gone is noticed then at the latest. */
export const TWO_WAY_KEEPALIVE_MS = 5_000;
/** Named shells of one session, and what one remembers: variables and their bytes. */
export const SHELLS_PER_SESSION_MAX = 8;
export const SHELL_VARIABLES_MAX = 128;
export const SHELL_STATE_BYTES_MAX = 64 * 1024;
/** Reading what a command has left there takes milliseconds; a pipe put in its place would take for ever. */
export const SHELL_READ_MS = 5_000;
/** Rows or columns of a terminal: wide log viewers use some hundred. */
export const TERMINAL_SIDE_MAX = 10_000;
/** A hook has judged within this or says that it could not: agents give one half a minute or more, and then go on without. */
export const HOOK_ANSWER_MS = 20_000;
/** What an agent hands to a hook, bytes: a file of MCP_STDIN_CHARS_MAX and what is told about the call. */
export const HOOK_INPUT_BYTES_MAX = 16 * 1024 * 1024;
