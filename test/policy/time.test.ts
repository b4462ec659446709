/** No text of the greatest length takes long to judge: the daemon judges on its only thread. */
import { describe, expect, it } from "vitest";
import { COMMAND_CHARS_MAX } from "../../daemon/limits.ts";
import { judged } from "./judged.ts";

/** Generous, since machines that run tests are slow; what is quadratic in the text takes ten times as long. */
const MS_MAX = 5_000;

/** `piece` over and over between `head` and `tail`, to the greatest length that is read. */
function long(head: string, piece: string, tail = ""): string {
  const room = COMMAND_CHARS_MAX - head.length - tail.length;
  return head + piece.repeat(Math.floor(room / piece.length)) + tail;
}

const SHAPES: Readonly<Record<string, string>> = {
  "one word": long("cat ", "a"),
  "blanks between words": long("ls ", " ", "x"),
  "many words": long("cat ", "x "),
  "many files": `cat ${Array.from({ length: 20_000 }, (_, i) => `f${i}`).join(" ")}`.slice(
    0,
    COMMAND_CHARS_MAX,
  ),
  "many files outside": `cat ${Array.from({ length: 12_000 }, (_, i) => `/etc/${i}`).join(" ")}`,
  slashes: long("rm ", "/", "x"),
  "climbing parts": long("cat ", "../"),
  "wildcards in a deletion": long("rm ", "*?", "x"),
  "wildcard folders in an edit": long("sed -i s/a/b/ ", "**/"),
  "open brackets": long("rm ", "["),
  "brackets behind dots": long("rm ", "/.["),
  "open comments of SQL": long("psql -c '", "/*", "'"),
  "open strings of SQL": long('psql -c "', "'", '"'),
  "blanks in a condition of SQL": long('psql -c "delete from t where', " ", 'x"'),
  "statements of SQL": long('psql -c "', "delete from x ", '"'),
  "blanks in a call": long('mongosh --eval "deleteMany(', " ", 'x"'),
  "letters of a mode": long("chmod ", "o", " x"),
  "clauses of a mode": long("chmod ", "u+s,", "u+s x"),
  refspecs: long("git push origin ", "x "),
  "protected parts": long("cp ", ".git/", " x"),
  "wrappers in a row": long("", "env ", "ls"),
  "wrappers with operands": long("", "timeout 5 ", "ls"),
  "wrappers behind xargs": long("ls | xargs ", "env ", "ls"),
  "open braces": long("echo ", "{a,"),
  "an array": long("a=(", "x ", "); echo $a"),
  "nested substitutions": long("", "$(", "ls"),
  "nested groups": long("", "("),
  arithmetic: long("echo $((", "1+", "1))"),
  "commands in a row": long("", "ls;", "ls"),
  "commits in a row": long("", "git commit -m x;", "ls"),
  "a pipeline": long("", "cat|", "cat"),
  quotes: long("", "'"),
  "a here-document": long("cat <<E\n", "x\n", "E"),
  "assignments that grow": long("", "a=$a$a;", "ls"),
  "functions that double": `${"abcdefghijklmno".replace(/./g, (f) => `${f}(){ ${f}x; ${f}x; };`)}a`,
  "expressions of find": long("find . ", "-name x -o ", "-name y"),
  "statements of sed": long("sed '", "s/a/b/;", "' x"),
  "parentheses in awk": long("awk '", "(", "' x"),
  redirects: long("ls ", "2>/dev/null "),
  "line ends": long("", "\n", "ls"),
  "NUL characters": long("", "\0"),
  "hidden characters": long("echo ", "\u202e"),
};

describe("time", () => {
  it.each(Object.entries(SHAPES))("%s", (_name, command) => {
    const from = performance.now();
    expect(judged(command, { profile: "dev" }).segments.length).toBeGreaterThan(0);
    expect(performance.now() - from).toBeLessThan(MS_MAX);
  });
});
