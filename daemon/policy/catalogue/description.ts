/** What the catalogue says about one segment: what it touches and which permission each touch needs. */

import type { Segment, Word } from "../shell/segment.ts";
import type { ActionClass, Effect } from "../types.ts";

/** One thing a segment does. */
export interface Use {
  readonly effect: Effect;
  readonly class: ActionClass;
  /** The word that names the path, for reads, writes and runs of files; the cwd when absent and `cwd` is true. */
  readonly path?: Word;
  /** The path is the working directory itself (`ls`, `git status`, `npm test`). */
  readonly cwd?: boolean;
  /** Option and words in a few terms: `-o FILE`, `operand`, `redirect`. */
  readonly via: string;
  /** Everything below the path too (recursive). */
  readonly tree?: boolean;
  /** It follows links that it meets below the path (`grep -R`, `find -L`): what it reads may lie outside. */
  readonly follows?: boolean;
  /** Content of the file is executed: its hash binds an approval. */
  readonly code?: boolean;
  /** Host of a network use, when it is literal. */
  readonly host?: string;
}

export interface Description {
  /** Canonical name of the form that was recognised: `git log`, `sed`, `npm run`. */
  readonly form: string;
  readonly uses: readonly Use[];
  /** Options, sub-commands or programs that lift the automatic allow: each a sentence. Any makes the segment ask. */
  readonly lifts: readonly string[];
  /** The verb is not in the catalogue: nothing is known about it. */
  readonly known: boolean;
  /** Prints the names of files at or below its path operands and nothing else (`find`, `ls`, `git ls-files`, `rg -l`). */
  readonly lister?: boolean;
}

export interface DescribeContext {
  readonly segment: Segment;
  /** All segments of the command, to look at pipe neighbours. */
  readonly segments: readonly Segment[];
  readonly localBins: readonly string[] | undefined;
}
