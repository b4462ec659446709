/** Shells as commands: `bash -c code`, and code that arrives on standard input. */

import { parseOptions } from "./options.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import type { Word } from "./segment.ts";
import { ordinary } from "./segments.ts";
import { childState, type State } from "./state.ts";
import { literal, literalText, textsOf, unknown } from "./values.ts";

/** Letters that leave the reading of the code as it is. */
const SHELL = {
  flags: "abcefhlmnsuvxCET",
  values: "o",
  longFlags: ["login", "norc", "noprofile"],
};
const SAFE_O =
  /^(?:allexport|errexit|errtrace|functrace|noclobber|noglob|nounset|pipefail|verbose|xtrace)$/;
/** Alternatives of a code text that are each read. */
const CODES_MAX = 8;

export function interpreter(
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
  name: string,
): Outcome | null {
  const words = withoutPlus(command.words);
  const parsed = words === null ? null : parseOptions(words, 1, SHELL);
  if (words === null || parsed === null) {
    // Behind `-c` what is not known is the code itself.
    const code = command.words.some((word) => /^-[a-z]*c$/.test(literalText(word) ?? ""));
    const unsure = command.words.some(({ value }) => value.kind !== "literal");
    if (code && unsure) return unknownCode(run, command, state, frame);
    const message = `options of ${name} that change how it reads: ${command.text}`;
    return ordinary(run, command, state, frame, {
      problems: [{ code: "shell-option", message, at: -1 }],
    });
  }
  const option = parsed.options.get("o");
  if (
    option !== undefined &&
    !SAFE_O.test(typeof option === "object" ? (literalText(option) ?? "") : "")
  ) {
    const message = `an option of ${name} that changes how it reads: ${command.text}`;
    return ordinary(run, command, state, frame, {
      problems: [{ code: "shell-option", message, at: -1 }],
    });
  }
  const [first, ...rest] = words.slice(parsed.next);
  const arg0 = { ...(words[0] as Word), value: unknown("$0") };
  if (parsed.options.has("c")) {
    if (first === undefined) return null;
    // A lone `-` ends the options, and the code comes behind it.
    if (literalText(first) === "-") return unknownCode(run, command, state, frame);
    const codes = textsOf(first.value);
    if (codes === null || codes.length > CODES_MAX) {
      return unknownCode(run, command, state, frame);
    }
    const sure = !rest.some(({ value }) => value.kind === "unknown" && value.many);
    const args = sure ? (rest.length === 0 ? [arg0] : rest) : null;
    return runCode(run, command, state, frame, name, codes, args);
  }
  const reads = first === undefined || parsed.options.has("s");
  const { input } = command;
  if (!reads || input?.kind !== "literal") return null;
  const args = [arg0, ...(first === undefined ? [] : [first, ...rest])];
  if (!meansTheSame(name, input.value)) return null;
  ordinary(run, command, state, frame, { inner: true });
  const inside = {
    ...command,
    redirects: [],
    stdin: { kind: "file" } as const,
    input: unknown("rest of the code"),
  };
  return runCode(run, inside, state, frame, name, [input.value], args);
}

function unknownCode(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const message = `code that is not known: ${command.text}`;
  return ordinary(run, command, state, frame, { problems: [{ code: "code", message, at: -1 }] });
}

/** `bash +x`: options that are turned off; only those that change nothing are passed over. */
function withoutPlus(words: readonly Word[]): readonly Word[] | null {
  const plus = words.filter((word, at) => at > 0 && /^\+/.test(literalText(word) ?? ""));
  if (plus.length === 0) return words;
  if (!plus.every((word) => /^\+[abefhmnuvxCET]+$/.test(literalText(word) ?? ""))) return null;
  return words.filter((word) => !plus.includes(word));
}

function runCode(
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
  name: string,
  codes: readonly string[],
  args: readonly Word[] | null,
): Outcome {
  const different = codes.find((code) => !meansTheSame(name, code));
  if (different !== undefined) {
    const message = `${name} may read this otherwise than bash`;
    run.problem("dialect", message, frame);
  }
  if (command.redirects.length > 0) {
    run.emit({ ...command, words: [], env: [], redirected: true }, state.cwds, frame);
  }
  const env = new Map(
    command.env.map(({ name: key, value }) => [key, value?.value ?? literal("")]),
  );
  const begin = { ...childState(state, env), args };
  const inside: Frame = {
    ...frame,
    nested: true,
    stdin: command.stdin,
    input: command.input,
    env: [...frame.env, ...command.env],
    wrappers: [...frame.wrappers, ...command.wrappers, name],
    depth: run.deeper(frame),
    exits: null,
    call: null,
    calls: [],
  };
  const outer = run.sink;
  if (command.redirected) run.sink = [];
  const outputs = codes.map((code) => run.hooks.script(run, code, begin, inside).output);
  run.sink = outer;
  const [output = null] = outputs;
  const shown = command.redirected
    ? null
    : outputs.length === 1
      ? output
      : unknown("output of a shell");
  return { ok: state, fail: state, output: shown };
}

/** Spellings that dash or a POSIX sh takes otherwise than bash, or that only some shells have. */
const NOT_POSIX = [
  /\[\[|\(\(|\$['"[]|<<<|=\(|\+=|\*\*|;;?&/,
  // Redirects, pipes and substitutions of bash.
  /&>|>&\s*[^\d\s-]|\|&|[<>]\(|\{\w+\}[<>]/,
  // Braces, tildes and extended patterns.
  /(?<!\$)\{(?![\s}])|[^\s]=~|:~|~[+-]|[?*+@!]\(/,
  // Expansions.
  /\$\{[^}]*[[/^,@!]|\$\{\w+:[^-=?+}]|\$\{?(?:S?RANDOM|\w*SECONDS|E?UID|PIPESTATUS|BASH\w*|HISTCMD)/,
  /(?:^|[\s;&|(])(?:function|coproc|select|time|let|declare|typeset|pushd|popd|shopt|source|mapfile|readarray|enable|alias|unalias|local)(?:[\s;]|$)/,
  // A dash splits here, and its `echo` knows escapes.
  /(?:export|readonly)\s[^;&|\n]*\$|echo[\s\S]*\\|\\[\s\S]*echo/,
];
/** For zsh: also expansions, which do not split there, and everything its globs, `=` and `cd` mean. */
const NOT_ZSH =
  /[$`(^#!{[]|~(?!\/)|(?:^|[\s;&|])=|<\d|(?:^|[\s;&|])(?:-|noglob|nocorrect|repeat|foreach|end|always|print)(?:\s|$)|cd\s+(?:[-+]|\S+\s+[^\s;&|])/;

/** Whether a shell of that name surely reads `code` as bash does; when in doubt, no. */
function meansTheSame(name: string, code: string): boolean {
  if (name === "bash") return true;
  if (NOT_POSIX.some((spelling) => spelling.test(code))) return false;
  return name !== "zsh" || !NOT_ZSH.test(code);
}
