/** Every error Recinto gives to people and programs: code, HTTP status, exit code of the CLI, and the next step. */

interface ErrorKind {
  readonly status: number;
  readonly exit: number;
  readonly hint: string;
}

/**
 * The catalogue. Exit codes follow sysexits where one fits: 64 usage, 65 bad data, 69 unavailable, 70 bug, 75 try again,
 * 77 permission, 78 configuration; 126 is "refused by policy" as a shell says "cannot execute".
 */
export const ERROR_KINDS = {
  "bad-request": {
    status: 400,
    exit: 65,
    hint: "GET /openapi.json shows the shape of this request",
  },
  "bad-json": { status: 400, exit: 65, hint: "send one JSON object, UTF-8, as the request body" },
  "bad-utf8": { status: 400, exit: 65, hint: "send text as UTF-8 without NUL bytes" },
  "body-too-large": { status: 413, exit: 65, hint: "send large input as a file in the worktree" },
  "bad-http": {
    status: 400,
    exit: 65,
    hint: "speak HTTP/1.1 over this socket; GET /openapi.json describes it",
  },
  "bad-usage": { status: 400, exit: 64, hint: "recinto help COMMAND shows how it is called" },
  "head-too-large": { status: 431, exit: 65, hint: "send fewer and shorter headers" },
  "request-timeout": {
    status: 408,
    exit: 75,
    hint: "send the whole request at once; stdin that comes later goes as NDJSON",
  },
  "not-found": { status: 404, exit: 66, hint: "list what there is and name one of those" },
  "method-not-allowed": {
    status: 405,
    exit: 65,
    hint: "GET /openapi.json lists the methods of this path",
  },
  "bad-upgrade": {
    status: 426,
    exit: 65,
    hint: "send Connection: Upgrade and the Upgrade that GET /openapi.json names for this path",
  },
  "browser-refused": {
    status: 403,
    exit: 77,
    hint: "requests with Origin or Referer are not served: use a program, not a browser",
  },
  "not-permitted": { status: 403, exit: 77, hint: "use a socket or a user that may do this" },
  "approver-cannot-be-agent": {
    status: 403,
    exit: 77,
    hint: "run the agent under its own user (recinto agent --project P --worktree W -- CMD), or set agentsShareApproverUid: true in the config",
  },
  "agent-cannot-approve": {
    status: 403,
    exit: 77,
    hint: "approve from a user that no agent runs as",
  },
  "unknown-project": { status: 404, exit: 66, hint: "recinto project list shows the projects" },
  "project-exists": {
    status: 409,
    exit: 65,
    hint: "choose another id, or remove that project first: recinto project remove ID",
  },
  "project-refused": {
    status: 400,
    exit: 65,
    hint: "name the real folder of the project, an absolute path without links",
  },
  "unknown-worktree": {
    status: 404,
    exit: 66,
    hint: "name a folder that matches the project's worktrees pattern",
  },
  "unknown-session": { status: 404, exit: 66, hint: "open a new session" },
  "session-busy": {
    status: 409,
    exit: 75,
    hint: "this worktree has a live session of another user; end it or wait",
  },
  "worktree-refused": {
    status: 409,
    exit: 78,
    hint: "give the worktree to an unprivileged user (chown -R agent WORKTREE)",
  },
  "unknown-job": { status: 404, exit: 66, hint: "list the session's jobs to see what there is" },
  "job-over": { status: 409, exit: 66, hint: "its output can still be read" },
  "input-closed": {
    status: 409,
    exit: 65,
    hint: 'start it with stdin "open" or with tty, and write before you end it',
  },
  "not-available": {
    status: 409,
    exit: 69,
    hint: "let the profile say executor: auto; recinto doctor says why the runner cannot run here",
  },
  "unknown-approval": { status: 404, exit: 66, hint: "recinto approvals list shows what waits" },
  "approval-over": { status: 409, exit: 66, hint: "it was answered or timed out already" },
  "bad-contract": {
    status: 422,
    exit: 78,
    hint: "mend the contract at the line and column named; recinto contract check FILE tries it",
  },
  "unknown-grant": {
    status: 404,
    exit: 66,
    hint: "recinto grants list shows those there are; an agent sees its own in the session's interface",
  },
  "grant-refused": {
    status: 409,
    exit: 126,
    hint: "the session's interface shows what can be requested now",
  },
  "facts-changed": { status: 409, exit: 75, hint: "look at what changed and approve again" },
  "too-many-pending": {
    status: 429,
    exit: 75,
    hint: "wait for an answer to one of the open questions",
  },
  busy: { status: 429, exit: 75, hint: "try again in a moment" },
  "queue-full": {
    status: 429,
    exit: 75,
    hint: "wait for some of the commands to end, then send it again",
  },
  "engine-unreachable": {
    status: 503,
    exit: 69,
    hint: "start the Docker engine (./scripts/engine start on Debian); recintod goes on by itself once it answers",
  },
  "engine-failed": {
    status: 502,
    exit: 69,
    hint: "see the daemon's log for the engine's own words",
  },
  "import-refused": {
    status: 422,
    exit: 65,
    hint: "the commits stay in the sandbox; git fsck there names what is wrong",
  },
  "import-over": {
    status: 409,
    exit: 66,
    hint: "the branch moved on since: change it with git on the host",
  },
  "exec-failed": {
    status: 422,
    exit: 126,
    hint: "check that program and folder exist in the sandbox",
  },
  "kernel-unfit": {
    status: 500,
    exit: 69,
    hint: "recintod needs Linux 5.6 or later, and a seccomp profile that lets openat2 pass",
  },
  "image-missing": { status: 409, exit: 69, hint: "build it with: recinto image build NAME" },
  "runtime-missing": {
    status: 409,
    exit: 69,
    hint: "make it known to the engine: ./scripts/engine runsc (Debian), or let the profile say runtime: runc",
  },
  "image-build-failed": { status: 500, exit: 70, hint: "see the build output above" },
  "bad-config": { status: 500, exit: 78, hint: "mend the file at the line and column named" },
  "bad-profile": {
    status: 400,
    exit: 78,
    hint: "mend the profile at the line and column named; recinto profile check FILE tries it",
  },
  "bad-rules": {
    status: 422,
    exit: 78,
    hint: "mend the rule file at the line and column named",
  },
  "unsafe-admin-file": { status: 500, exit: 78, hint: "chown root FILE && chmod go-w FILE" },
  "socket-in-use": {
    status: 500,
    exit: 69,
    hint: "another recintod answers on this socket: stop it, or use another run directory",
  },
  "daemon-unreachable": {
    status: 503,
    exit: 69,
    hint: "start recintod, or name its run directory with --run-dir",
  },
  "journal-failed": {
    status: 500,
    exit: 70,
    hint: "nothing runs that cannot be recorded: check disk and permissions of the state directory",
  },
  "journal-broken": {
    status: 500,
    exit: 70,
    hint: "recinto journal verify names the first broken entry",
  },
  "journal-in-use": {
    status: 500,
    exit: 69,
    hint: "another recintod has this journal open: stop it, or use another state directory",
  },
  refused: {
    status: 403,
    exit: 126,
    hint: "see the reason; details say who refused, and what would pass",
  },
  "file-not-found": { status: 404, exit: 66, hint: "list the folder to see what is there" },
  "file-exists": { status: 409, exit: 73, hint: "choose another name, or say that it is replaced" },
  "file-kind": { status: 409, exit: 65, hint: "stat shows what it is" },
  "file-changed": { status: 409, exit: 75, hint: "read it again and send the change anew" },
  "file-denied": {
    status: 403,
    exit: 77,
    hint: "the file API has the rights of the worktree's owner and no more: see owner and mode with stat",
  },
  "file-too-large": {
    status: 413,
    exit: 65,
    hint: "split it, or make it with a command in the sandbox",
  },
  "file-failed": { status: 500, exit: 74, hint: "see the reason of the file system" },
  unhealthy: {
    status: 503,
    exit: 69,
    hint: "recinto doctor says what is wrong, and the fix",
  },
  "not-served": {
    status: 409,
    exit: 66,
    hint: "the file API reaches the worktree and the profile's readable folders; use a command for what only the sandbox has",
  },
  "bad-patch": { status: 422, exit: 65, hint: "send a unified diff as git diff makes it" },
  "patch-conflict": {
    status: 409,
    exit: 65,
    hint: "nothing was changed: read the file again and make the diff anew",
  },
  "archive-refused": {
    status: 422,
    exit: 65,
    hint: "what stood before the refused entry was written (details); mend the archive and send it again",
  },
  internal: {
    status: 500,
    exit: 70,
    hint: "this is a bug in recinto: the daemon's log has the details under this request id",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

/** An error that a person or program is told about. `message` is lower case, names the value. */
export class RecintoError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "RecintoError";
    this.code = code;
    this.hint = options.hint ?? ERROR_KINDS[code].hint;
    this.details = options.details ?? {};
  }

  get status(): number {
    return ERROR_KINDS[this.code].status;
  }

  get exitCode(): number {
    return ERROR_KINDS[this.code].exit;
  }

  toJSON(): {
    error: {
      code: ErrorCode;
      message: string;
      hint: string;
      details?: Readonly<Record<string, unknown>>;
    };
  } {
    const details = Object.keys(this.details).length > 0 ? { details: this.details } : {};
    return { error: { code: this.code, message: this.message, hint: this.hint, ...details } };
  }
}
