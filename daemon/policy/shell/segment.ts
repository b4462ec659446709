/** What reading a command line yields: every simple command in it, decoded, with where it would run. */

/**
 * What is known about the text a word expands to. Quotes, escapes, `$'…'`, tilde and braces are already decoded;
 * a word with braces or a known list becomes several words.
 */
export type WordValue =
  /** Exactly this text. */
  | { readonly kind: "literal"; readonly value: string }
  /** One of these texts (a loop variable over a literal list, a variable set in two branches). */
  | { readonly kind: "oneOf"; readonly values: readonly string[] }
  /**
   * An unquoted glob: expands to zero or more existing names that match `pattern` (or to itself). All of them lie
   * at or below `base` (the literal folders before the first wildcard; "" is the cwd) unless a link is on the way.
   * `dashed`: an expansion could begin with `-` and be taken for an option.
   */
  | {
      readonly kind: "glob";
      readonly pattern: string;
      readonly base: string;
      readonly dashed: boolean;
    }
  /**
   * A path (or several, when `many`) printed by a lister that this command line feeds from, all at or below one of
   * `bases`: the text begins as one of them does, so they are resolved against the folder of the segment that uses it.
   * `split`: the text is split again at blanks (unquoted `$f`, plain xargs), so an odd file name could become another word.
   */
  | {
      readonly kind: "listed";
      readonly bases: readonly string[];
      readonly many: boolean;
      readonly dashed: boolean;
      readonly split: boolean;
      /** It may be no text at all (`${f%.c}` of `.c`). */
      readonly empty?: true;
    }
  /**
   * A number or a plain word that can be neither an option, a path out of the folder nor code: `$?`, `${#x}`, `$((…))`.
   * `sample`: one text it may be; the true one differs from it only in its digits.
   */
  | {
      readonly kind: "number";
      readonly sample?: string;
      /** It may be no text at all: the command that prints it may fail. Unquoted it would then be no word. */
      readonly empty?: true;
    }
  /**
   * Not known. `prefix` is literal text that is sure to come first. `many`: may be any number of words.
   * `sample` (`/tmp/out-$$`, `$(mktemp)`): one text it may be; the true one differs from it only in letters and digits
   * of names, so that its options and its folders are those of the sample.
   */
  | {
      readonly kind: "unknown";
      readonly prefix: string;
      readonly many: boolean;
      readonly why: string;
      readonly sample?: string;
    };

export interface Word {
  /** As written. */
  readonly text: string;
  readonly value: WordValue;
  /** Some part of it was quoted: an empty or odd expansion stays one word. */
  readonly quoted: boolean;
  /** A process substitution: the value is a `/dev/fd` path that only this command line can reach. */
  readonly process?: "<" | ">";
}

export type RedirectKind =
  | "read"
  | "write"
  | "append"
  | "readwrite"
  | "dup"
  | "heredoc"
  | "herestring";

export interface Redirect {
  readonly kind: RedirectKind;
  /** File descriptor; null when a variable names it. `&>` is 1 with `both`. */
  readonly fd: number | null;
  readonly both: boolean;
  /** File, or the number or `-` of a dup; absent for heredocs. */
  readonly target?: Word;
  /** Body of a heredoc or here-string; literal when nothing in it expands. */
  readonly body?: WordValue;
}

export interface EnvAssignment {
  readonly name: string;
  readonly value: Word | null;
  /** `name+=value` */
  readonly append: boolean;
  /** `export`ed or a prefix of a command: other programs see it. A plain `X=1` alone is not. */
  readonly exported: boolean;
}

/** Where standard input comes from, as far as it is known. */
export type Stdin =
  | { readonly kind: "inherit" }
  | { readonly kind: "null" }
  | { readonly kind: "file" }
  /** The segments (indices) that write into the pipe. */
  | { readonly kind: "pipe"; readonly from: readonly number[] }
  | { readonly kind: "text"; readonly body: WordValue };

/** Something about the text that rung 0 asks about. `code` is stable: `parse-error`, `control-character`, … */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** Offset in the command, UTF-16 units; -1 when it has none. */
  readonly at: number;
}

/**
 * One simple command, in the order in which they would run: substitutions before the command they feed, a function's
 * body where it is called. Redirects of a compound command are a segment of their own, without words, before its inside;
 * `[[ … ]]` is a segment whose words are its operators and operands.
 */
export interface Segment {
  readonly index: number;
  /** Source text of this command (of the inner one, for an unwrapped one). */
  readonly text: string;
  /** Decoded words; the first is the verb. Empty: assignments or redirects only. */
  readonly words: readonly Word[];
  readonly env: readonly EnvAssignment[];
  readonly redirects: readonly Redirect[];
  /** Every absolute folder it may start in; null when not known. */
  readonly cwds: readonly string[] | null;
  readonly stdin: Stdin;
  /** Its output goes into a pipe whose reader is this segment; null when to the caller. */
  readonly pipedTo: number | null;
  /** Verbs unwrapped to reach it, outermost first: ["timeout", "env"]; a `bash -c` counts as "bash". */
  readonly wrappers: readonly string[];
  /** Inside a function that may be called any number of times, a loop, a trap… */
  readonly context: readonly (
    | "loop"
    | "function"
    | "condition"
    | "substitution"
    | "background"
    | "trap"
    | "subshell"
  )[];
  readonly problems: readonly Problem[];
  /** Its whole effect is in other segments (a function call, `bash <<'EOF'`, `trap`): its own verb need not be judged. */
  readonly inner?: true;
  /** A `find` whose -exec commands are segments of their own, with `find` in `wrappers`. */
  readonly delegated?: true;
}

export interface Understanding {
  readonly segments: readonly Segment[];
  /** Problems of the whole text; any makes the whole command ask. */
  readonly problems: readonly Problem[];
}

export interface UnderstandContext {
  /** Absolute folder where the command starts. */
  readonly cwd: string;
  /** Home inside the sandbox: what `~` and `$HOME` mean. */
  readonly home: string;
  /** Other variables the sandbox's shell starts with, literally. */
  readonly env: Readonly<Record<string, string>>;
  /** What `git rev-parse --show-toplevel` prints in `cwd`, when that is known. */
  readonly toplevel?: string;
}
