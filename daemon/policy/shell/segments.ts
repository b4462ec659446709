/** How a decoded command becomes a segment, and what the shell is left with after it. */

import { outputOf } from "./outputs.ts";
import type { Frame, Outcome, Output, Run, SimpleCommand } from "./run.ts";
import type { Problem, Word } from "./segment.ts";
import { type State, withUnknownVariables } from "./state.ts";
import { literalText, perhaps, unknown } from "./values.ts";

/** `/usr/bin/env` is env; `./env` is not. */
export function programName(name: string): string {
  return name.startsWith("/")
    ? name.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\/(?=[^/]+$)/, "")
    : name;
}

/** A segment that leaves the shell as it was. */
export function ordinary(
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
  extra?: Parameters<Run["emit"]>[3],
): Outcome {
  run.emit(command, state.cwds, frame, extra);
  const output = command.redirected
    ? null
    : (withMessages(command.redirects) ?? outputOf(run, command, state));
  return {
    ok: state,
    fail: state,
    output: mayFail(command.redirects) ? perhaps(output) : output,
  };
}

/** With `2>&1` an output holds messages too, which may be anything. */
export function withMessages(redirects: SimpleCommand["redirects"]): Output {
  const mixed = redirects.some(({ fd, kind }) => fd === 2 && kind === "dup");
  return mixed ? unknown("output and messages") : null;
}

/** A redirect that cannot be made keeps the command from running. */
export function mayFail(redirects: SimpleCommand["redirects"]): boolean {
  return redirects.some(({ target }) => {
    if (target === undefined || target.process !== undefined) return false;
    return !/^(?:\/dev\/null|[012]|-)$/.test(literalText(target) ?? "");
  });
}

/** A segment of which so little is known that it may have changed anything in the shell. */
export function doubtful(
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
  problem: Problem,
): Outcome {
  run.emit(command, state.cwds, frame, { problems: [problem] });
  const after = command.shellLevel
    ? {
        ...withUnknownVariables(state, "anything may have run"),
        cwds: null,
        previous: null,
        stack: null,
      }
    : state;
  return { ok: after, fail: after, output: unknown("output of an unknown command") };
}

/** The command behind a wrapper: the rest of the words, in a process of its own unless the wrapper is the shell's. */
export function unwrapped(
  command: SimpleCommand,
  wrapper: string,
  words: readonly Word[],
  changes: Partial<SimpleCommand> = {},
): SimpleCommand {
  return {
    ...command,
    text: words.map(({ text }) => text).join(" "),
    words,
    wrappers: [...command.wrappers, wrapper],
    shellLevel: false,
    ...changes,
  };
}
