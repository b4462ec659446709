/** One reading of one command line: what has been found so far, and the bounds it must keep. */

import {
  type ArithmeticCommandExpansion,
  type CommandExpansionPart,
  type ParsedScript,
  type ProcessSubstitutionPart,
  parse,
  type Word as WordNode,
  type WordPart,
} from "unbash";
import {
  BRACE_WORDS_MAX,
  NESTING_DEPTH_MAX,
  SEGMENTS_MAX,
  SHELL_NAMES_MAX,
  UNDERSTAND_STEPS_MAX,
} from "../../limits.ts";
import type {
  EnvAssignment,
  Problem,
  Redirect,
  Segment,
  Stdin,
  UnderstandContext,
  Word,
  WordValue,
} from "./segment.ts";
import { TELLING } from "./special-names.ts";
import {
  type Folders,
  type FunctionBody,
  type FunctionDefinition,
  joinFolders,
  type State,
  withVariable,
} from "./state.ts";
import { joinValues } from "./values.ts";

/** A command of so many words counts as one step more. */
const WORDS_A_STEP = 64;

/** One problem makes the command ask; more than this tell nobody anything. */
const PROBLEMS_MAX = 64;

export type ContextLabel = Segment["context"][number];

/** Where in the structure of the script a command stands: what it inherits from what is around it. */
export interface Frame {
  /** The text that node positions index. */
  readonly source: string;
  /** Inside text that is not the command line itself, so that positions mean nothing to a reader of it. */
  readonly nested: boolean;
  readonly stdin: Stdin;
  /** What is known of the text that arrives on standard input. */
  readonly input: Output;
  readonly context: readonly ContextLabel[];
  readonly wrappers: readonly string[];
  /** Assignments of wrappers around: `FOO=1 bash -c '…'` gives FOO to everything inside. */
  readonly env: readonly EnvAssignment[];
  readonly depth: number;
  /** States in which the loop around was left by `break` or `continue`; null when this shell is in none. */
  readonly exits: State[] | null;
  /** The function around, if any: states at its `return`s and the names it made local. */
  readonly call: { readonly exits: State[]; readonly locals: Set<string> } | null;
  /** Names of the functions whose bodies are being read. */
  readonly calls: readonly string[];
}

/** Text a command prints, as far as it is known; null when it prints nothing. */
export type Output = WordValue | null;

/** What a command leaves behind when it succeeds and when it fails. Undefined: that does not happen. */
export interface Outcome {
  readonly ok: State | undefined;
  readonly fail: State | undefined;
  readonly output: Output;
}

/** One simple command, decoded, on its way to become a segment. */
export interface SimpleCommand {
  readonly text: string;
  readonly words: readonly Word[];
  readonly env: readonly EnvAssignment[];
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin;
  readonly input: Output;
  /** Standard output does not go where the surrounding one goes. */
  readonly redirected: boolean;
  readonly wrappers: readonly string[];
  /** Still the shell itself: only `command` and `builtin` stood before it. */
  readonly shellLevel: boolean;
}

/** A bound was passed: what is left of the text was not read. Thrown and caught inside this folder only. */
export class Overrun extends Error {
  readonly problem: Problem;
  constructor(code: string, message: string) {
    super(message);
    this.problem = { code, message, at: -1 };
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What the walker offers to the code that decodes words, so that imports run one way. */
export interface Hooks {
  /** Reads the script of `$(…)` and says what it is replaced by. */
  substitute(
    run: Run,
    part: CommandExpansionPart | ArithmeticCommandExpansion,
    state: State,
    frame: Frame,
  ): WordValue;
  processSubstitution(run: Run, part: ProcessSubstitutionPart, state: State, frame: Frame): Word;
  /** What a word is when nothing in it splits or globs, as between double quotes. */
  unsplit(run: Run, word: WordNode, state: State, frame: Frame): WordValue;
  /** The same of one part of a word. */
  part(run: Run, part: WordPart, state: State, frame: Frame): WordValue;
  /** Reads text as a script in `state`. */
  script(run: Run, text: string, state: State, frame: Frame): Outcome;
  /** Reads one decoded simple command. */
  dispatch(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome;
  /** Reads the body of a function. */
  body(run: Run, node: FunctionBody["node"], state: State, frame: Frame): Outcome;
}

export class Run {
  readonly context: UnderstandContext;
  readonly hooks: Hooks;
  readonly segments: Writable<Segment>[] = [];
  readonly problems: Problem[] = [];
  /** Something was read that may end the shell it is in before all of its commands have run. */
  mayStop = false;
  /** A here-document was read. */
  hereDocuments = false;
  /** Above zero while a loop body is read only to learn what it changes. */
  dry = 0;
  /** Segments whose output goes where the current command's output goes. */
  sink: number[] = [];
  /** What the latest process substitution prints, for `done < <(…)`. */
  lastSubstitution: { from: readonly number[]; output: Output } = { from: [], output: null };
  /** Variables that expansions assigned (`${x:=y}`, `$((x=1))`), to be applied when the command is read. */
  readonly assigned: [string, WordValue][] = [];
  /** Every value a variable had anywhere, and every folder: what a trap may find. */
  readonly everValues = new Map<string, WordValue>();
  everFolders: Folders;
  everPlainIfs = true;
  readonly traps: {
    readonly code: string;
    readonly frame: Frame;
    readonly atEnd: boolean;
    readonly state: State;
  }[] = [];
  unsetFunctions = false;
  /** Every function by name, and whether its body has been read through a call. */
  readonly functions = new Map<FunctionBody["node"], { body: FunctionBody; called: boolean }>();
  /**
   * An expansion was read that may fail, such as a division by zero: bash then skips the rest of the line, and goes on
   * with the next one. `touched` is what the line may have changed, or not.
   */
  erring = false;
  touched = new Set<string>();
  touchedFolders = false;
  readonly everFunctions = new Map<string, FunctionDefinition>();
  private readonly scripts = new Map<string, ParsedScript>();
  private steps = 0;
  private braceWords = 0;

  constructor(context: UnderstandContext, hooks: Hooks) {
    this.context = context;
    this.hooks = hooks;
    this.everFolders = [context.cwd];
  }

  /** Counts work, so that loops and functions inside each other cannot take for ever. */
  step(words = 0): void {
    this.steps += 1 + Math.floor(words / WORDS_A_STEP);
    if (this.steps > UNDERSTAND_STEPS_MAX) {
      throw new Overrun("too-complex", `more than ${UNDERSTAND_STEPS_MAX} steps to read it`);
    }
  }

  deeper(frame: Frame): number {
    if (frame.depth >= NESTING_DEPTH_MAX) {
      throw new Overrun("too-deep", `nested deeper than ${NESTING_DEPTH_MAX}`);
    }
    return frame.depth + 1;
  }

  problem(code: string, message: string, frame?: Frame, at = -1): void {
    if (this.dry > 0) return;
    if (this.problems.length >= PROBLEMS_MAX) return;
    const place = frame === undefined || frame.nested ? -1 : at;
    if (this.problems.some((one) => one.code === code && one.message === message)) return;
    this.problems.push({ code, message, at: place });
  }

  /** A problem even of a reading that only prepares another. */
  problemAnyway(code: string, message: string): void {
    const { dry } = this;
    this.dry = 0;
    this.problem(code, message);
    this.dry = dry;
  }

  /** A state copies its variables when one changes, so that their number is bounded too. */
  room(count: number): void {
    if (count > SHELL_NAMES_MAX) {
      throw new Overrun("too-complex", `more than ${SHELL_NAMES_MAX} variables or functions`);
    }
  }

  /** Whether braces may still make `count` words more. */
  braces(count: number): boolean {
    this.braceWords += count;
    return this.braceWords <= BRACE_WORDS_MAX;
  }

  /** What the expansions of a command assigned, now that the command has been read. */
  applyAssigned(state: State): State {
    if (this.assigned.length === 0) return state;
    let after = state;
    for (const [name, value] of this.assigned) after = this.setVariable(after, name, value);
    this.assigned.length = 0;
    return after;
  }

  /** Gives a variable a value, as its attributes allow. */
  setVariable(state: State, name: string, value: WordValue, items?: readonly Word[]): State {
    const before = state.variables.get(name);
    const { items: _, ...rest } = before ?? { exported: false };
    if (before?.integer && value.kind !== "number") {
      this.problem("arithmetic", `evaluated as arithmetic: what ${name} is given`);
    }
    if (TELLING.test(name) && !/^OPT/.test(name)) {
      this.problem("special-variable", `sets ${name}, which the shell or programs obey`);
    }
    const kept = before?.readonly ? joinValues(before.value, value) : value;
    if (before?.readonly) this.erring = true;
    this.remember(name, kept);
    return withVariable(state, name, { ...rest, value: kept, ...(items && { items }) });
  }

  /** Records a variable's new value for what may run at any later time. */
  remember(name: string, value: WordValue): void {
    this.room(this.everValues.size);
    this.touched.add(name);
    if (name === "IFS") this.everPlainIfs = false;
    const before = this.everValues.get(name);
    this.everValues.set(name, before === undefined ? value : joinValues(before, value));
  }

  rememberFolders(folders: Folders): void {
    this.touchedFolders = true;
    this.everFolders = joinFolders(this.everFolders, folders);
  }

  /** Parses `text`, once for each distinct text, and records what is wrong with it. */
  parsed(text: string, nested: boolean): ParsedScript {
    const before = this.scripts.get(text);
    if (before !== undefined) return before;
    const script = parse(text);
    this.scripts.set(text, script);
    if (script.errors !== undefined) this.parseErrors(script, nested);
    return script;
  }

  parseErrors(script: ParsedScript, nested: boolean): void {
    for (const { message, pos } of (script.errors ?? []).slice(0, PROBLEMS_MAX)) {
      // Recorded even in a dry reading: the script is parsed only once.
      this.problems.push({
        code: "parse-error",
        message: nested ? `in nested code: ${message}` : message,
        at: nested ? -1 : pos,
      });
    }
  }

  emit(
    command: SimpleCommand,
    cwds: Folders,
    frame: Frame,
    extra?: { problems?: readonly Problem[]; inner?: true; delegated?: true },
  ): number {
    if (this.dry > 0) return -1;
    const index = this.segments.length;
    if (index >= SEGMENTS_MAX) {
      throw new Overrun("too-many-segments", `more than ${SEGMENTS_MAX} simple commands`);
    }
    const segment: Writable<Segment> = {
      index,
      text: command.text,
      words: command.words,
      env: frame.env.length === 0 ? command.env : [...frame.env, ...command.env],
      redirects: command.redirects,
      cwds,
      stdin: command.stdin,
      pipedTo: null,
      wrappers:
        frame.wrappers.length === 0 ? command.wrappers : [...frame.wrappers, ...command.wrappers],
      context: frame.context,
      problems: extra?.problems ?? [],
    };
    if (extra?.inner) segment.inner = true;
    if (extra?.delegated) segment.delegated = true;
    this.segments.push(segment);
    if (!command.redirected) this.sink.push(index);
    return index;
  }
}
