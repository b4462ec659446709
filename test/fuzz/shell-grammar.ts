/** Makes command lines up: every construct of bash that is read, in odd spellings, from a seed. */

import { readFileSync } from "node:fs";

/** A small generator of pseudo-random numbers: the same seed gives the same commands. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

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
const VARIABLES = ["X", "Y", "Z"];
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

/** Spellings that parsers get wrong and flows that are easy to misjudge, as they stand; a blank line between two. */
export const SPELLINGS = readFileSync(new URL("shell-spellings.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n\n");

export class ShellGrammar {
  private readonly random: Random;
  private depth = 0;

  constructor(random: Random) {
    this.random = random;
  }

  /** One command line. */
  line(): string {
    this.depth = 0;
    const count = 1 + this.random.below(3);
    if (this.random.chance(0.15)) return this.withSpelling();
    const statements = Array.from({ length: count }, () => this.andOr());
    return (
      statements.join(this.random.pick(["; ", "\n", ";", "\n\n", " ; "])) +
      this.random.pick(["", "", "", "\n", " # end", ";"])
    );
  }

  /** A known spelling between statements that are made up. */
  private withSpelling(): string {
    const before = this.random.chance(0.6) ? `${this.andOr()}\n` : "";
    return `${before}${this.random.pick(SPELLINGS)}\n${this.andOr()}`;
  }

  private deeper<T>(make: () => T, shallow: () => T): T {
    if (this.depth >= 3) return shallow();
    this.depth += 1;
    const made = make();
    this.depth -= 1;
    return made;
  }

  private list(): string {
    const { random } = this;
    const first = this.andOr();
    if (random.chance(0.5)) return first;
    return `${first}${random.pick(["; ", "\n", " && ", " || "])}${this.andOr()}`;
  }

  private andOr(): string {
    const { random } = this;
    let text = this.pipeline();
    while (random.chance(0.25)) text += ` ${random.pick(["&&", "||"])} ${this.pipeline()}`;
    // A line that ends in `&` is joined to others by newline only.
    return random.chance(0.04) ? `${text} &\n:` : text;
  }

  private pipeline(): string {
    const { random } = this;
    let text = random.chance(0.06) ? "! " : random.chance(0.03) ? "time " : "";
    text += this.command();
    while (random.chance(0.2)) text += ` ${random.pick(["|", "|", "|", "|&"])} ${this.stage()}`;
    return text;
  }

  private stage(): string {
    const { random } = this;
    return random.pick([
      () => this.command(),
      () =>
        `xargs ${random.pick(["", "-n1 ", "-0 ", "-r ", "-I{} ", "-P 2 ", "-d '\\n' "])}${this.verb()} ${this.word()} ${random.pick(["", "{}", "x{}"])}`,
      () =>
        `while ${random.pick(["", "IFS= "])}read ${random.pick(["-r ", ""])}X; do ${this.list()}; done`,
      () =>
        random.pick([
          "head -1",
          "sort -u",
          "grep a",
          "tail -n 2",
          "sed -n 1p",
          "wc -l",
          "bash",
          "sh",
        ]),
    ])();
  }

  private command(): string {
    const { random } = this;
    const roll = random.below(100);
    if (roll < 44) return this.simple();
    if (roll < 53) return `cd ${random.pick(["", "", "-- "])}${this.folder()}`;
    if (roll < 63) return this.assignment();
    if (roll < 70) return this.wrapped();
    return this.deeper(
      () => this.compound(),
      () => this.simple(),
    );
  }

  private folder(): string {
    const { random } = this;
    const name = random.pick(FOLDERS);
    return random.chance(0.15)
      ? `$${random.pick(VARIABLES)}`
      : random.chance(0.3)
        ? `"${name}"`
        : name;
  }

  private verb(): string {
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

  private simple(): string {
    const { random } = this;
    const words = [this.verb()];
    const count = random.below(4);
    for (let at = 0; at < count; at++) words.push(this.word());
    let text = words.join(random.chance(0.05) ? " \\\n" : " ");
    if (random.chance(0.12)) text = `${random.pick(["Q", ...VARIABLES])}=${this.value()} ${text}`;
    if (random.chance(0.2)) text += ` ${this.redirect()}`;
    if (random.chance(0.05)) text += this.heredoc();
    return text;
  }

  private heredoc(): string {
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

  private simple1(): string {
    return `${this.random.pick(["v1", "v2", "v3"])} ${this.random.pick(NAMES).replace("x y", "xy")}`;
  }

  private redirect(): string {
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

  private assignment(): string {
    const { random } = this;
    const name = random.pick(VARIABLES);
    return random.pick([
      () => `${name}=${this.value()}`,
      () => `${name}+=${this.value()}`,
      () => `${name}=${this.value()} ${random.pick(VARIABLES)}=$${name}b`,
      () => `export ${name}=${this.value()}`,
      () => `declare ${name}=${this.value()}`,
      () => `${name}=(a.txt "x y" ${this.word()})`,
      () => `read -r ${name} <<< ${this.value()}`,
      () => `printf -v ${name} %s ${this.value()}`,
      () => `set -- a.txt ${this.word()}`,
      () => `unset ${name}`,
      () => `: \${${name}:=b.c}`,
      () => `IFS=${random.pick(["/", ":", ",", "''"])}`,
      () => `((${name}=${random.below(9)}+1))`,
      () => `eval '${name}=b.c'`,
    ])();
  }

  private value(): string {
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

  private word(): string {
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

  private wrapped(): string {
    const { random } = this;
    const inner = `${this.verb()} ${this.word()}`;
    const code = this.deeper(
      () => this.list(),
      () => this.simple1(),
    );
    const quoted = `'${code.replaceAll("'", "'\\''")}'`;
    return random.pick([
      () =>
        `timeout ${random.pick(["5", "-s KILL 5", "-k 1 5", "--signal=TERM 5", "--preserve-status 5s"])} ${inner}`,
      () =>
        `env ${random.pick(["", "-i PATH=/usr/bin ", "-u X ", "A=b ", "Q=1 -- ", "-C src ", "-C nosuch ", "--chdir=d1 "])}${inner}`,
      () => `nice ${random.pick(["", "-n 5 ", "-5 ", "--adjustment=3 "])}${inner}`,
      () => `nohup ${inner}`,
      () => `${random.pick(["stdbuf -oL", "ionice -c 2", "taskset -c 0", "setsid -w"])} ${inner}`,
      () => `command ${random.pick(["", "-p ", "-- "])}${inner}`,
      () => `exec ${inner}`,
      () => `builtin cd ${this.folder()}`,
      () => `command cd ${this.folder()}`,
      () => `eval ${quoted}`,
      () =>
        `bash ${random.pick(["-c", "-ec", "-xc", "-uc", "-c --", "--norc -c"])} ${quoted}${random.pick(["", " name one two"])}`,
      () =>
        `sh ${random.pick(["-c", "-ec", "-c --"])} ${quoted}${random.pick(["", " name one two"])}`,
      () => `bash -c 'v1 "$0" "$1" $2 "$@"' ${this.word()} ${this.word()}`,
      () => `echo ${quoted} | bash`,
      () => `bash <<'E'\n${code}\nE\n:`,
      () =>
        `find ${random.pick([".", "src", "src d1", "-L ."])} ${random.pick(["-name '*.c' ", "-type f ", ""])}-exec ${this.verb()} ${random.pick(["{} \\;", "{} +", "x{}y ';'"])}`,
      () => `find src -type f -exec bash -c 'v1 "$1" "$@"' _ {} ${random.pick(["\\;", "+"])}`,
      () => `trap ${quoted} EXIT`,
    ])();
  }

  private compound(): string {
    const { random } = this;
    const name = random.pick(VARIABLES);
    const body = (): string => this.list();
    const redirected = (): string => (random.chance(0.15) ? ` ${this.redirect()}` : "");
    return random.pick([
      () => `( ${body()} )${redirected()}`,
      () => `{ ${body()}; }${redirected()}`,
      () =>
        `if ${body()}; then ${body()}; ${random.chance(0.5) ? `elif ${body()}; then ${body()}; ` : ""}${random.chance(0.5) ? `else ${body()}; ` : ""}fi`,
      () => `for ${name} in ${this.word()} ${this.word()}; do ${body()}; done${redirected()}`,
      () =>
        `for ${name} in ${random.pick(["*.c", "a.txt b.c", "$(ls)", "$(git ls-files)", "{1..3}", "$(seq 3)", "src/*", '"x y" z', '"$@"', "$X"])}; do ${this.verb()} $${name} "$${name}"; ${random.pick(["break; ", "continue; ", "", "cd $" + name + "; ", `${name}=q; `])}done`,
      () =>
        `while ${random.pick(["v1", "false", "! v2", `read -r ${name}`, "((i++<2))"])}; do ${body()}; break; done${redirected()}`,
      () =>
        `while read -r ${name}; do ${this.verb()} "$${name}"${random.pick(["", "/b.c", ".bak"])}; done < ${random.pick(["<(git ls-files)", "<(find . -name '*.c')", "a.txt", "<(ls src)"])}`,
      () => `for ((i=0;i<2;i++)); do ${this.verb()} $i; done`,
      () =>
        `case ${this.word()} in ${random.pick(["a*", "src", '"x"', "$X"])}) ${body()} ${random.pick([";;", ";&", ";;&"])} *) ${body()} ;; esac`,
      () =>
        `f() { ${body()}; ${random.pick(["", `local ${name}=loc; v2 $${name}; `, "return; "])}}; ${random.pick(["f", `f ${this.word()}`, "f; f", "X=1 f"])}; v3 $${name} $1`,
      () => `function g { v1 "$@" $1; }; g ${this.word()} | cat`,
      () =>
        `[[ ${random.pick(["-f a.txt", "$X == a*", "$X =~ ^b", "-n $(v1 t)", "a < b", "5 -gt 3"])} ]] && ${this.simple()}`,
      () => `((${random.pick(["1", "0", "X=3", "i+=1"])})) || ${this.simple()}`,
      () => `coproc ${this.simple()}`,
      () => `( cd ${this.folder()} && ${this.simple()} ); ${this.simple()}`,
      () =>
        `cd ${this.folder()} || ${random.pick(["exit", "{ v1 no; exit 1; }", "return", "true"])}\n${this.simple()}`,
      () => `pushd ${this.folder()}; ${this.simple()}; popd; ${this.simple()}`,
      () => `X=$(${this.simple()}); ${this.verb()} "$X" $X`,
      () => `mapfile -t X < <(git ls-files); v1 "\${X[@]}"`,
    ])();
  }
}
