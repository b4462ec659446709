/** `set` and `shopt`: options that only report are fine; what changes the language itself is a problem. */

import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import { ordinary } from "./segments.ts";
import type { State } from "./state.ts";
import { literalText } from "./values.ts";

/** Letters of `set` that leave the reading of what follows as it is. */
const SAFE_LETTERS = /^[abeflmnuvxCETto]*$/;
const SAFE_NAMES = new Set(
  "allexport errexit errtrace functrace monitor noclobber noexec noglob notify nounset onecmd pipefail verbose xtrace".split(
    " ",
  ),
);
/** Options of `shopt` that change neither the grammar nor where a pattern may lead. */
const SAFE_SHOPT = new Set(
  "nullglob failglob dotglob globstar nocaseglob nocasematch checkwinsize cmdhist histappend lithist huponexit checkjobs globasciiranges".split(
    " ",
  ),
);

export function setOptions(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const outcome = ordinary(run, command, state, frame);
  const { words } = command;
  run.mayStop = true;
  let after = state;
  let at = 1;
  for (; at < words.length; at++) {
    const text = literalText(words[at]);
    if (text === null) {
      run.problem("shell-option", `an option that is not known: ${words[at]?.text}`, frame);
      break;
    }
    if (text === "--" || text === "-" || !/^[-+]/.test(text)) break;
    const letters = text.slice(1);
    const named = letters.endsWith("o") ? literalText(words[at + 1]) : undefined;
    const on = text.startsWith("-");
    if (!SAFE_LETTERS.test(letters) || (named && !SAFE_NAMES.has(named)) || named === null) {
      const bare = letters === "o" && words[at + 1] === undefined;
      if (!bare) run.problem("shell-option", `changes how the rest is read: set ${text}`, frame);
    }
    if (on && (letters.includes("a") || named === "allexport"))
      after = { ...after, exportAll: true };
    if (named !== undefined) at += 1;
  }
  if (at < words.length) {
    const [zero] = state.args ?? [];
    const from = /^--?$/.test(literalText(words[at]) ?? "") ? at + 1 : at;
    const sure = zero !== undefined && !words.some(({ value }) => "many" in value && value.many);
    after = { ...after, args: sure ? [zero, ...words.slice(from)] : null };
  }
  return { ...outcome, ok: after, fail: after };
}

export function shopt(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const texts = command.words.slice(1).map(literalText);
  const options = texts.filter((text) => text === null || text.startsWith("-")).join(" ");
  const names = texts.filter((text) => text !== null && !text.startsWith("-"));
  const sets = !/^(?:-[pq]+ ?)*$/.test(options) && names.length > 0;
  const known = options.includes("o") ? SAFE_NAMES : SAFE_SHOPT;
  if (texts.includes(null) || (sets && !names.every((name) => known.has(name ?? "")))) {
    run.problem("shell-option", `changes how the rest is read: ${command.text}`, frame);
  }
  return ordinary(run, command, state, frame);
}
