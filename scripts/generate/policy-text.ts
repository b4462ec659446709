/** The written part of docs/policy.md; the tables come from the sources, and a test reads the examples as rule files. */

export const INTRODUCTION = `Every command is understood first: parsed as bash parses it, its words decoded, its folder followed through every \`cd\`.
What comes of it is a list of **segments**, one for each simple command that can run. Each segment gets a verdict of its
own; the whole command gets the strictest.

\`\`\`sh
recinto policy check --root /srv/shop -- 'git log | head'      # the verdict; no daemon needed
recinto policy explain --root /srv/shop -- 'git push'          # the walk down the ladder
\`\`\`
`;

export const LADDER: readonly (readonly [rung: string, asks: string, says: string])[] = [
  [
    "understand",
    "a parse error, a construct that is not known, a word that cannot be told from the text, hidden characters, a limit",
    "ask",
  ],
  ["absolute deny", "a deny of the profile, or of the task's contract", "deny; nothing lifts it"],
  [
    "stale authority",
    "a handle that is closed, forged or another session's",
    "deny, before any effect",
  ],
  [
    "ceilings",
    "merge into or push to a protected branch; change of a file that instructs agents or runs on the host",
    "ask, always",
  ],
  [
    "safety",
    "an operation that destroys, takes rights or gives secrets away, matched on decoded words",
    "ask, always; no rule lifts it",
  ],
  [
    "denials",
    "the class of action was refused too often in a row; the session too often in all",
    "deny; ask",
  ],
  [
    "rules",
    "of the highest source that has one, the strictest",
    "deny, ask, or a candidate to allow",
  ],
  ["grants", "a live grant covers this effect on this resource", "a candidate to allow"],
  [
    "scope",
    "every path lies in a scope root, and verb and options are in the catalogue",
    "a candidate to allow, and records the root",
  ],
  ["otherwise", "nothing allows it, or something stands against it", "ask"],
];

export const AFTER_LADDER = `Every rung is asked for every segment and nothing stops early, so the verdict holds everything that was found. A segment
is denied if anything denies it; else it asks if anything asks; else it needs a candidate to be allowed. A candidate
counts only where its effects are allowed by the profile (or named by the rule or grant) and its paths are in scope.

Scope for reading is the project's root; for writing, running and git it is the session's worktree. Out of scope is a
question, not a refusal. Scope permits, it does not excuse: the network, installation and unknown verbs ask inside the
project too.
`;

export const RULES = `Rules come from four sources; the highest that has a matching rule decides, and within a source the strictest match.

| source | where it is | who writes it |
|---|---|---|
| session | \`recinto session rules --project P --worktree W FILE\`, \`recinto agent --rules FILE\` | whoever starts the session from the admin side, never the agent; kept until cleared or until \`--for\` ends |
| project | \`/etc/recinto/projects/ID.rules.yaml\` (or \`.json\`), and the file that the project names as \`rules:\` | an admin; saved *always* rules and trusted worktree files belong here too |
| user | \`/etc/recinto/rules/users/NAME.yaml\` (or \`.json\`), by name or number of the agent's user | an admin |
| built-in | in the program: publishing, deploying and writing to a forge ask, and say why | — |

Above all of them stands the profile: its denies are absolute, and its other rules outrank every source.

Admin files must belong to root or to the daemon's user, in folders that nobody else can write. They are read again when
they change. A broken edit changes nothing: what the file said before holds, and the daemon's log and
\`recinto policy files PROJECT\` name line and column. A file that was never understood may have held a deny, so everything
of its owner asks until it is mended.

### Our format

\`\`\`yaml
rules:
  - pattern: terraform plan *
    action: allow
    justification: a plan changes nothing
    match: [terraform plan, terraform plan -out=x]
    not_match: [terraform apply]
  - id: no-deploy
    pattern: make deploy *
    action: deny
    justification: the pipeline deploys
  - pattern: docs/**
    tool: write
    action: allow
  - pattern: ["git", "commit", "-m", "*"]
    action: ask
\`\`\`

A pattern is words. \`*\` inside a word stands for any text in it, a last \`*\` for any rest. With \`tool: read\` or
\`tool: write\` it is a path glob, relative to the worktree; \`dir/**\` covers the folder and all below it. \`match\` and
\`not_match\` are tried when the file is read, and a rule that does not do what its examples say makes the file broken.
An allow covers what is in scope; outside it covers only paths below an absolute prefix that it spells out.

### ChatCLI's format

Read as it is, with or without \`@coder\`; there a pattern is a prefix.

\`\`\`json
{
  "rules": [
    {"pattern": "@coder exec rm *", "action": "deny"},
    {"pattern": "@coder exec go test", "action": "allow"},
    {"pattern": "@coder read", "action": "allow"}
  ],
  "merge": true
}
\`\`\`

\`merge: false\` drops the rules of lower sources. It never drops the profile's denies, ceilings or safety patterns.

### Policy files in the worktree

\`.recinto/policy.yaml\` or \`coder_policy.json\`, at the worktree or at the project's root, can be written by agents. Such a
file counts for nothing until a person has read it and trusted exactly this content:

\`\`\`sh
recinto policy files shop                                      # what there is, and whether it counts
recinto policy trust shop .worktrees/dev/.recinto/policy.yaml  # shows rules and SHA-256, then asks; Enter is no
recinto policy distrust shop .recinto/policy.yaml
\`\`\`

Changed content is trusted no more; the agent is told once, and the journal has it. Trusted or not, the file never lifts
the admin's denies, safety patterns or ceilings, its \`merge: false\` is not heeded, and links to it are not followed.

### From other tools

\`\`\`sh
recinto policy import .claude/settings.json --out shop.rules.yaml   # also Codex prefix_rule files, and ChatCLI's
\`\`\`

Every line that cannot be carried over is listed with its number and the reason: a rule that would allow whatever an
interpreter runs, or the network, becomes a grant with an end or a verb of the catalogue instead.
`;

export const ALWAYS = `An approval with *always* stores a rule: the words that name the action, not the line, together with its effects and the
paths it was asked for. A later match with another effect, or outside those paths, asks. Up to three widths are offered,
and each is tried on the project's past questions before anything is stored:

\`\`\`sh
recinto approvals show q-7                                 # the rules, and what each would have allowed before
recinto approvals approve q-7 --always --width 1 --for 2h  # shows the rule, then asks
recinto rules list shop
recinto rules revoke shop r-3
\`\`\`

It is never offered for interpreters and wrappers, for what ceilings or safety patterns asked about, for the network,
installation, container engines, rights or processes, nor where a rule that outranks it asked.
`;

export const DENIALS = `Refusals are counted by class of action (\`safety/recursive-delete\`, \`network:example.org\`, \`write:touch\`), so that a
reworded command counts too and one noisy verb blocks no other. A class that was refused three times in a row is blocked;
an approval of it starts the row again. After 20 refusals in all everything asks. The profile (\`policy.denials\`), the config
and \`RECINTO_MAX_CONSECUTIVE_DENIALS\`, \`RECINTO_MAX_TOTAL_DENIALS\` set the limits. The counters belong to project, worktree
and user: neither a new session nor a restart resets them, only \`recinto denials reset\` does. The refusal that blocks a
class says so, and every later one says what is still possible. A question that nobody answered is no refusal.
`;

export const LOOKING_BACK = `\`\`\`sh
recinto policy replay --profile dev --since 7d     # every verdict of the journal that this profile would change
recinto policy replay --profile ./strict.yaml      # a profile that is not installed yet
recinto stats --since 7d                           # questions per 100 actions, waits, passes by root, rules that ask
\`\`\`

Actions are recorded with what was known when they were judged, so that judging them again means the same.
`;
