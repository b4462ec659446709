/** Words, values and redirects of made-up command lines, in odd spellings. */

import type { Random } from "./random.ts";

const VERBS = [
  "v1",
  "v2",
  "v3",
  "v4",
  "ls",
  "cat",
  "echo",
  "git",
  "rm",
  "./run.sh",
  "touch",
  "grep",
];
const NAMES = [
  "a.txt",
  "b.c",
  "src",
  "src/x.c",
  "d1",
  "nosuch",
  "docs",
  "x y",
  "-n",
  "--opt=v",
  ".",
  "..",
  "src/..",
  "HEAD",
];
const FOLDERS = ["src", "src/sub", "d1", "d2", "nosuch", "..", ".", "/t/w/docs", "src/..", "-", ""];
export const VARIABLES = ["X", "Y", "Z"];
const PATTERNS = [
  "*.c",
  "*",
  "src/*",
  "./*.txt",
  "s?c",
  "[ab]*",
  "*/*.c",
  "nomatch*",
  ".*",
  "d[12]/*",
  "src/../*.c",
];

export abstract class ShellWords {
  protected readonly random: Random;
  protected depth = 0;

  constructor(random: Random) {
    this.random = random;
  }

  /** Commands that may stand in a substitution. */
  protected abstract list(): string;

  protected deeper<T>(make: () => T, shallow: () => T): T {
    if (this.depth >= 3) return shallow();
    this.depth += 1;
    const made = make();
    this.depth -= 1;
    return made;
  }

  protected verb(): string {
    const { random } = this;
    const name = random.pick(VERBS);
    if (random.chance(0.85)) return name;
    const middle = 1 + random.below(name.length - 1);
    return random.pick([
      () => `"${name}"`,
      () => `\\${name}`,
      () => `${name.slice(0, middle)}'${name.slice(middle)}'`,
      () => `${name.slice(0, middle)}\\\n${name.slice(middle)}`,
      () => `$'\\x${name.charCodeAt(0).toString(16)}'${name.slice(1)}`,
      () => `${name.slice(0, middle)}$@${name.slice(middle)}`,
      () => `/usr/bin/${name.replace("./run.sh", "v1")}`,
      () => `$(echo ${name})`,
      () => `{${name},a.txt}`,
    ])();
  }

  protected folder(): string {
    const { random } = this;
    const name = random.pick(FOLDERS);
    return random.chance(0.15)
      ? `$${random.pick(VARIABLES)}`
      : random.chance(0.3)
        ? `"${name}"`
        : name;
  }

  protected value(): string {
    const { random } = this;
    return random.pick([
      () =>
        random.pick([
          "a.txt",
          "src",
          "b.c",
          "5",
          '"x y"',
          "''",
          "'*.c'",
          "d1",
          "-n",
          "/t/w/src",
          "'v1 a.txt'",
          "~",
          "a:~",
          "'a\\b'",
          "*",
        ]),
      () =>
        `$(${random.pick(["echo b.c", "pwd", "basename src/x.c", "dirname src/x.c", "ls d1", "echo a b", "seq 2", "git ls-files | head -1", "find src -name '*.c'", "wc -l < a.txt", "true"])})`,
      () => `"$${random.pick(VARIABLES)}/x"`,
      () => `$${random.pick(VARIABLES)}`,
      () => `$((${random.below(9)}+2))`,
      () => `\${${random.pick(VARIABLES)}:-$(v2 dflt)}`,
    ])();
  }

  protected word(): string {
    const { random } = this;
    const name = random.pick(NAMES);
    const plain = name.replace(" ", "");
    const variable = random.pick(VARIABLES);
    return random.pick([
      () => plain,
      () => plain,
      () => `'${name}'`,
      () => `"${name}"`,
      () => name.replace(" ", "\\ "),
      () => `$'${plain}\\t\\x41\\101\\u0042'`,
      () => random.pick(PATTERNS),
      () => random.pick(PATTERNS),
      () => `"$${variable}"`,
      () => `$${variable}`,
      () => `pre$${variable}post`,
      () => `"$${variable}"/b.c`,
      () => `$${variable}/*`,
      () => `{a,b}${random.pick(["", ".c", "{1..3}", "{x,y}"])}`,
      () =>
        random.pick([
          "{1..4}",
          "{a..c}",
          "{01..3}",
          "{a,b{c,d}}",
          "x{,y}",
          "{a}",
          "{}",
          "{a,b",
          "a{b,c}}",
          "{'a,b',c}",
          '"{a,b}"',
          "{$X,b}",
          "{a,\\,}",
          "{1..9..4}",
          "{3..1}",
          "${X}{p,q}",
          "{{a,b}",
          "{a..}",
          "{,}",
        ]),
      () => random.pick(["~", "~/f", "'~'", "x=~/f", "--o=~/f", "~+", "a~b", '~"/x"', '~/"x y"']),
      () =>
        random.pick([
          "\\*",
          "'*'",
          "a\\ b",
          "\\\\",
          '"a\\\\b\\$c\\`"',
          "''",
          '""',
          "a''b",
          "\"\"''",
          "a#b",
          "\\#c",
          "=",
          "[",
          "]",
          "!",
          "%",
        ]),
      () => `$(${this.simple1()})`,
      () => `\`${this.simple1()}\``,
      () =>
        `"$(${this.deeper(
          () => this.list(),
          () => this.simple1(),
        )})"`,
      () =>
        `$(${this.deeper(
          () => this.list(),
          () => this.simple1(),
        )})`,
      () => `<(${this.simple1()})`,
      () =>
        `\${${variable}${random.pick([":-dflt", "-dflt", ":+alt", "%.c", "##*/", "%/*", "/a/b", "//a/b", "^^", ":0:1", "#a", "%%.*", ":=asg", "@Q"])}}`,
      () => `"\${${variable}${random.pick([":-d e", "%.c", "##*/", "%/*", "/a/b", ":1"])}}"`,
      () => `$((${random.pick(["1+2", "X", "Y+1", "Z*2", "i++", "$X+1", "3>2?1:0"])}))`,
      () =>
        random.pick([
          "$?",
          "$#",
          "$$",
          "$!",
          "$0",
          "$1",
          "$@",
          '"$@"',
          '"$*"',
          "${#X}",
          "${!X}",
          '"${X[@]}"',
          "${X[0]}",
          "${X[*]}",
          "$-",
          "$PWD",
          '"$HOME"/f',
          "$OLDPWD",
          "$RANDOM",
        ]),
    ])();
  }

  protected redirect(): string {
    const { random } = this;
    return random.pick([
      "2>/dev/null",
      "2>&1",
      "> out",
      ">> out",
      "&> out",
      "< a.txt",
      "<> out2",
      ">| out",
      "3< a.txt",
      "< <(ls)",
      "> >(v3 w)",
      `< $(echo ${random.pick(["a.txt", "b.c"])})`,
      "<&-",
      "2> $X",
    ]);
  }

  protected heredoc(): string {
    const { random } = this;
    const body = random.pick([
      "plain text",
      `$(${this.simple1()})`,
      `\`${this.simple1()}\``,
      "$X \\$(v4 no)",
      "a\\\nb",
    ]);
    return random.pick([
      ` <<E\n${body}\nE\n:`,
      ` <<'E'\n${body}\nE\n:`,
      ` <<-E\n\t${body}\n\tE\n:`,
      ` <<< "${body.replaceAll('"', "")}"`,
    ]);
  }

  protected simple1(): string {
    return `${this.random.pick(["v1", "v2", "v3"])} ${this.random.pick(NAMES).replace("x y", "xy")}`;
  }
}
