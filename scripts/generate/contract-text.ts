/** The prose of docs/authority.md, and the contracts it shows. */

export const EXAMPLE_CONTRACT = `task: propagate-timeout
phases: [implement, verify]
envelope:                       # E0: what is there from the start
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[npm, test]]}
grants:                         # Γ: what may be asked for
  serialize: {effect: write, paths: ["src/serialization/**"], phase: implement, closes: [focused-tests]}
  deps: {effect: network, hosts: [packages.example.org], ttl: 10m, uses: 3, approval: person}
closures:                       # Λ: what ends a grant; the daemon sees it, the agent does not say it
  focused-tests: {command: [npm, test, --, serialization], exit: 0}
deny:                           # G: what nothing lifts
  - {paths: ["**/.env", "**/*.pem"]}
  - {hosts: [169.254.169.254]}
`;

export const WRONG_CONTRACT = `task: tidy
grants:
  sources: {effect: write, paths: ["src/*.ts"], closes: [tests]}
  fetch: {effect: network, hosts: ["*.example.org"]}
`;

export const INTRODUCTION = `What goes beyond the standing permission of a profile is a **grant**: asked for by an agent, bound to a session, a
resource, an effect and a phase, shown in the session's interface while it lives, and gone from there *and* from running
processes when it ends. Which grants there can be, an admin writes down per task, in a **contract**. An agent chooses one
of its rules and may narrow it; it cannot invent one, widen one, or keep one.

Where there is no contract, a session has its profile's standing permission, and a person's approval that outlives one
command is such a grant too: "for two hours", "until the tests pass", "this phase".
`;

export const COMPILING = `## What is refused, and what is warned of

Any error makes the whole contract count for nothing. Paths are relative to the worktree and never leave it. For writing
there are \`dir/**\`, \`**\` and single files, since that is what the kernel can hold a command to; other globs are refused
with the nearest of these. The linter warns of rules that reach far, of grants that only the default ttl ends, of closures
that no grant names or that can never fire, of grants that the contract's own \`deny\` rules out, and of an envelope that
no profile allows. What both say of this contract,

\`\`\`yaml
${WRONG_CONTRACT.trimEnd()}
\`\`\`

is this:
`;

export const LIFE = `1. **Request.** The agent names a rule and a reason. G is looked at first, then whether what is asked lies within
   the rule, then the phase. Nothing runs. With \`approval: person\` it waits for one.
2. **Grant.** A handle, random and opaque, appears in the *next* interface: the epoch grows by one whenever a handle, the
   phase or the way back of a rule changes, and an action that names an older epoch cannot use what it had not been shown.
3. **Invoke.** The handle is checked with the verdict, and again under the lock that starts the process or opens the
   connection, where its use is counted: of two that race for the last use, one gets it.
4. **Close.** \`grant.closing\`: no new use from here on, and the interface shows it no more. Then what runs on it is killed
   and its connections are cut. \`grant.closed\`: nothing lives on it. A handle that is presented after that is refused
   before anything happens, with what closed it and how it comes back.

The last use of a counted grant may run to its end; there is no other one meanwhile. A clock that is set back prolongs
nothing, and a restart of the daemon goes on where it was.
`;

export const ENDS = `Every grant has a ttl, 30 minutes when its rule names none, whatever else ends it. What an agent says never ends,
prolongs or reopens one; giving its own handle back is all it can do. So a rule that a trusted event or a person ended is
not to be had by asking again: a person decides, or the orchestrator enters the rule's phase anew.
`;

export const RENEWALS = [
  [
    "a closure: test, file, phase",
    "the daemon; the orchestrator for phases",
    "a person, or the phase entered anew",
  ],
  ["a person's revocation", "the daemon", "a person, or the phase entered anew"],
  ["all uses of the rule", "the daemon", "a person, or the phase entered anew"],
  ["leaving the phase", "the orchestrator, on the admin socket", "the phase entered anew"],
  ["ttl", "the clock", "a new request"],
  ["release by the agent", "the daemon", "a new request"],
] as const;

export const UNDER_A_CONTRACT = `A rule with \`uses\` is held once at a time, and its count goes on over releases and requests until a person or the phase
renews it. A rule with \`approval: person\` takes a person each time.

## What a contract leaves of a verdict

The policy judges a command as always, with the contract's \`deny\` among the absolute denies and the live grants on their
rung. What it allows is then held against the envelope: each effect of each segment must be in it, or in a grant, on these
paths, by this command; else it asks, and the answer names the rules that could be requested. The envelope narrows what
the profile allows and never adds to it; the sandbox's own \`/tmp\`, cache and loopback stay the profile's matter. Rules of
sessions, projects and users stay within it too.

What a command may write, the kernel is told from the same contract: the folders and files that the envelope's and the
used grants' \`write\` entries name. Where there are none of these, a test run can write to \`/tmp\` and its cache only.
`;

export const WALK = `A real daemon's answers, with ids, times and folders in one spelling (\`npx tsx scripts/authority-walk.ts --write\`). What
begins with \`recinto run\` or \`grants request\` is the agent, the rest is the admin; project and worktree of the agent come
from its environment.
`;

export const IN_THE_DAEMON = `A handle that is presented is acted on whether it is needed or not: \`bash generate.sh\` may write what its grant names
only when it is sent with that handle. A command that a person approved runs by that word, not by the contract's folders;
\`deny\` holds for it too.

## In the daemon

**Whose it is.** A contract belongs to a worktree and is set, cleared and moved on from the admin socket alone, never by a
uid that agents use. Every session on the worktree is under it. Grants belong to the session that got them and end with
it; counts, the phase and what takes a person stay for the next one.

**What is presented.** \`exec\`, \`check\` and the file routes take \`handle\` and \`epoch\`. Without a handle the daemon picks the
one live grant that covers the action and refuses, with their names, where there are several; a profile with
\`grants: present\` wants a handle always. With \`epoch\`, nothing that came into the interface later carries the action.

**Uses.** One command or file operation is one use, however many connections it opens; they live on its use and are cut
with it. A profile with \`network: none\` lets nothing out under any grant; under a contract the profile's own hosts and
saved rules reach nothing, only grants and what a person approved do, and \`deny\` hosts are refused by the proxy on every port.

**What the daemon looks at.** A \`command\` is run in the sandbox, on record as \`exec.started\` with the closure's name, held
by the kernel to scratch and the envelope's own folders, without network, for ten minutes at most: soon after each command
or file operation that did more than read, when the agent asks (\`POST …/closures/NAME/check\`), and once a minute besides.
One runs at a time, and by itself it rests four times as long as it ran. A \`file\` is opened without following links, after
each command and once a second. What cannot be run or read fires nothing; the ttl still ends the grant.

**Closing.** \`grant.closing\` is on record, then every process of every command that runs on the grant gets SIGKILL, what
it left in the background too, and its connections are cut; when none is left, \`grant.closed\` says how long it took. In
[the test of every kind of end](../test/docker/authority.test.ts) that is printed; \`npm run bench -- grants\` ends 200 with
processes deaf to signals: p50 4 ms, p95 6 ms, the longest 8 ms on two cores.

**A contract that is set while something runs.** It binds that too: commands, what they left in the background and file
operations that were begun under another contract, or under none, are ended like those of a closed grant before
\`contract set\` answers. Clearing a contract ends its grants and nothing else.

**Approvals that end.** A person may answer any question that a grant can settle with a right that has an end:
\`recinto approvals approve ID --for 2h\`, \`--phase\`, \`--until tests\` (a closure of the contract), \`--until 'npm test'\` (a
command that ends it once it succeeds). Safety patterns and ceilings are answered once, as always.

**A restart.** Each step of a ledger is in the journal, with the command that made it, before anything comes of it; the
file \`authority.json\` in the state folder only saves reading all of it. A daemon that was killed finds grants, counts,
phases and epochs as they were, and the clock goes on.

**What the kernel holds, and what it does not.** Writing and the network are held by the kernel for whatever a command
turns out to do. Reading is not: what a test run reads inside the sandbox is the policy's matter only where the command
names it, and so is \`deny\` for reading; keep out of a worktree what agents must not read. \`deny\` for writing inside a
folder that a grant names is held by the policy and the file API, not against project code. A single file in \`paths\` has
to be there for a command to write it, and is written in place (\`>>\`, not \`sed -i\`, which makes a second file beside it);
the file API makes and replaces it. Where no kernel holds commands (\`mounts-only\`), what runs project code under a contract
asks: nothing but a person's word would keep it to the named folders.
`;
