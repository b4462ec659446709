/** What importing a foreign policy yields: rules that mean the same here, and what could not be carried over and why. Pure. */
import { neverOffered } from "../catalogue/arity.ts";
import type { Decision, Rule } from "../types.ts";

export interface ImportedRule {
  readonly action: Decision;
  readonly tool: Rule["tool"];
  readonly pattern: readonly string[];
  readonly justification?: string;
  readonly match?: readonly string[];
  readonly notMatch?: readonly string[];
}

/** Something a person should know about a line of the file. */
export interface Remark {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

export interface Imported {
  readonly rules: readonly ImportedRule[];
  readonly merge: boolean;
  readonly leftOut: readonly Remark[];
  /** Carried over, and means a little less or more here. */
  readonly notes: readonly Remark[];
}

/** Collects rules and remarks of one file. */
export class Import {
  readonly #rules: ImportedRule[] = [];
  readonly #leftOut: Remark[] = [];
  readonly #notes: Remark[] = [];
  merge = true;

  /** Takes a rule, unless it would allow what no rule should. */
  add(rule: ImportedRule, line: number, text: string): void {
    const why = whyNot(rule);
    if (why !== null) this.leave(line, text, why);
    else this.#rules.push(rule);
  }

  leave(line: number, text: string, reason: string): void {
    this.#leftOut.push({ line, text, reason });
  }

  note(line: number, text: string, reason: string): void {
    this.#notes.push({ line, text, reason });
  }

  get result(): Imported {
    const { merge } = this;
    // Formats are read key by key; a person reads the file from its top.
    const leftOut = [...this.#leftOut].sort((a, b) => a.line - b.line);
    return { rules: this.#rules, merge, leftOut, notes: this.#notes };
  }
}

/** Why an allowing rule is not taken; null: it is. Rules that ask or deny always are. */
function whyNot({ action, tool, pattern }: ImportedRule): string | null {
  if (action !== "allow" || tool !== "exec") return null;
  const [verb = "*"] = pattern;
  if (/[*?[]/.test(verb)) return "it allows every command; say which, or choose the profile dev";
  const open = pattern.some((word) => /[*?[]/.test(word));
  if (open && neverOffered(pattern.filter((word) => word !== "*"))) {
    return "it allows whatever the program runs, fetches or installs: that takes a grant with an end, or a verb of the catalogue";
  }
  return null;
}
