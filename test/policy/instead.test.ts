/** What an agent is told when it is asked about or denied: the sentence for typical asks, and that it is true (issue 3, item 10). */
import { describe, expect, it } from "vitest";
import { BUILTIN_RULES } from "../../daemon/policy/builtin-rules.ts";
import { judged } from "./judged.ts";

type Profile = "review" | "default" | "dev";

const said = (command: string, profile: Profile) =>
  judged(command, { profile, rules: BUILTIN_RULES, facts: { branch: "feature" } });

const DIFF = "put the change into your answer as a diff, or ask for a grant to write";
const LEAVE_COMMIT = "`git status`, `git diff` and `git log` pass; leave the commit to the person";
const TESTS =
  "declared builds and tests pass (`npm test`, `pytest`); to look at data use `jq`, `grep` or `sed -n 1,40p FILE`";
const REMOTE =
  "nothing in the sandbox reaches the network: ask for a grant on the host, with an end";
const INSTALLED =
  "use what is installed (`ls node_modules`), or ask for a grant on the package registry, with an end";
const ENGINE =
  "there is no engine, cluster or cloud in the sandbox: read the files that describe it";
const SECRET = "do without the secret: work with made-up values, and say which setting you need";
const PLAIN = "write it as plain commands, one after another, with names spelled out";
const ENDS = "let it end by itself: `timeout 60 npm test` passes";
const RELEASE = "build it and say that it is ready; a person releases it";
const REMOVE = "name the files: `rm -f NAME` passes";

const ASKS: readonly (readonly [Profile, string, string])[] = [
  ["default", "git push", "commit locally; a person pushes"],
  ["dev", "git push origin main", "commit locally; a person pushes"],
  ["dev", "git push --force origin feature", "commit locally; a person pushes"],
  ["default", "git commit -m x", LEAVE_COMMIT],
  ["default", "git add -A", LEAVE_COMMIT],
  ["dev", "git reset --hard HEAD~1", "`git stash push` puts the work aside and loses nothing"],
  [
    "default",
    "git reset --hard HEAD~1",
    "`git diff` shows what would be lost; say what should be undone",
  ],
  ["dev", "git checkout -- src/a.ts", "`git stash push` puts the work aside and loses nothing"],
  ["dev", "git clean -fd", "`git clean -n` lists what would go"],
  [
    "dev",
    "git branch -D old",
    "leave the branch: `git branch --merged` tells a person which may go",
  ],
  ["dev", "git stash drop", "leave it: what is put aside harms nobody (`git stash list`)"],
  ["dev", "git config user.name x", "`git config --get KEY` reads it"],
  ["dev", "git fetch origin", REMOTE],
  ["dev", "rm -rf build", REMOVE],
  ["default", "rm -rf build", "say which files should go, and why"],
  ["dev", "find . -name '*.tmp' -delete", REMOVE],
  ["default", "rm -f a.txt", DIFF],
  ["default", "mkdir -p src/new", DIFF],
  ["default", "sed -i 's/a/b/' src/a.ts", DIFF],
  ["default", "echo x > notes.txt", DIFF],
  ["default", "mv a b", DIFF],
  [
    "dev",
    "echo x >> CLAUDE.md",
    "put your proposal into your answer: a person changes files that instruct agents or run on the host",
  ],
  ["dev", "npm install left-pad", INSTALLED],
  ["dev", "pip install requests", INSTALLED],
  ["dev", "npx -y create-x", "`npx tsc` passes: build and test programs that are installed here"],
  ["dev", "curl https://example.org/x", REMOTE],
  ["dev", "ssh host ls", REMOTE],
  ["dev", "docker ps", ENGINE],
  ["dev", "kubectl get pods", ENGINE],
  ["default", "python3 scripts/x.py", TESTS],
  ["default", "python3 -c 'print(1)'", TESTS],
  ["default", "bash deploy.sh", TESTS],
  ["default", "npm start", TESTS],
  ["review", "node a.js", "read the code instead: this profile neither builds nor runs"],
  ["review", "npm test", "read the code; this profile does not build"],
  ["dev", "cat ~/.ssh/id_rsa", SECRET],
  ["dev", "cat ~/.aws/credentials", SECRET],
  ["dev", "cat /etc/passwd", "read inside the project, or ask for the file to be copied in"],
  ["dev", "cp a /srv/other/b", "write inside your worktree"],
  ["dev", "cat $FILE", "write the path out, without variables or substitutions"],
  ["dev", 'eval "$CMD"', PLAIN],
  ["dev", "cat 'open", PLAIN],
  [
    "dev",
    "sudo apt-get install jq",
    "run it without the rights of another user; what the image lacks, an admin adds to it",
  ],
  ["dev", "chmod -R 777 .", "`ls -l` shows the rights; name the one that is missing and for whom"],
  ["dev", "kill -9 123", ENDS],
  ["dev", "pkill node", ENDS],
  [
    "dev",
    "mytool sync",
    "use a verb of the catalogue, or have the project name this one in its profile (verbs:)",
  ],
  [
    "dev",
    "psql -c 'DROP TABLE users'",
    "look with a query that only reads, in a test of the project; a person changes data",
  ],
  ["dev", "npm publish", RELEASE],
  ["dev", "gh pr create", "write the text into your answer; a person sends it"],
  ["default", "tail -f log", "`tail -n 100 FILE` ends by itself"],
  ["default", "mkdir /tmp/x", "do it in one pipe, without a file in between"],
  ["default", "curl http://localhost:3000", "let a test start and call the server itself"],
];

describe("instead (issue 3, item 10)", () => {
  it.each(ASKS)("%s: %s", (profile, command, instead) => {
    const verdict = said(command, profile);
    expect([verdict.verdict, verdict.instead]).toEqual(["ask", instead]);
    // One or two sentences: segment, reason and rule in the first.
    expect(verdict.reason).toMatch(/^`.+` .+ \([a-z]+\/[\w/-]+\)$/);
  });

  it("whatever it names as passing passes, under the profile that was asked about", () => {
    const wrong = ASKS.flatMap(([profile, , instead]) =>
      [...instead.matchAll(/`([^`]+)`/g)]
        .map(([, named]) => named as string)
        .filter((named) => said(named, profile).verdict !== "allow")
        .map((named) => `${profile}: ${named}`),
    );
    expect([...new Set(wrong)]).toEqual([]);
  });

  it("a rule's own deny says so, and a rule that asks says whose wish it is", () => {
    const rule = (action: "ask" | "deny") =>
      judged("ls", {
        rules: [
          { id: "project/p/1", source: "project", action, tool: "exec", pattern: ["ls", "*"] },
        ],
      }).instead;
    expect([rule("deny"), rule("ask")]).toEqual([
      "leave it: a rule of this project denies it",
      "a rule of this project asks here: do without it, or wait for the answer",
    ]);
  });
});
