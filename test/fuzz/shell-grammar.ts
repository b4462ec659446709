/** Makes command lines up: every construct of bash that is read, in odd spellings, from a seed. */

import { readFileSync } from "node:fs";
import { ShellWords, VARIABLES } from "./shell-words.ts";

/** Spellings that parsers get wrong and flows that are easy to misjudge, as they stand; a blank line between two. */
export const SPELLINGS = readFileSync(new URL("shell-spellings.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n\n");

export class ShellGrammar extends ShellWords {
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

  protected list(): string {
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
        `for ${name} in ${random.pick(["*.c", "a.txt b.c", "$(ls)", "$(git ls-files)", "{1..3}", "$(seq 3)", "src/*", '"x y" z', '"$@"', "$X"])}; do ${this.verb()} $${name} "$${name}"; ${random.pick(["break; ", "continue; ", "", `cd $${name}; `, `${name}=q; `])}done`,
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
