/** Verbs that the catalogue does not know: those a profile names (issue: `verbs:`), and the paths any other may touch. */
import type { Description, Use } from "./catalogue/description.ts";
import type { Segment, Word } from "./shell/segment.ts";
import type { ProjectVerb } from "./types.ts";

/**
 * Completes the description of a verb the catalogue does not know. A verb of the profile gets its class; any other
 * stays unknown, with every word that may be a path held against the scope.
 */
export function describeUnknown(
  description: Description,
  segment: Segment,
  verbs: readonly ProjectVerb[],
): Description {
  const [name, ...words] = segment.words;
  if (name === undefined) return description;
  const verb = verbs.find(
    (each) => name.value.kind === "literal" && each.name === name.value.value,
  );
  if (verb === undefined) {
    const paths = words.flatMap((word) => pathIn(word, []));
    return { ...description, uses: [...description.uses, ...paths.map(unknownUse)] };
  }
  const first = words.find((word) => !isOption(word));
  const reads = first?.value.kind === "literal" && verb.readSubcommands.includes(first.value.value);
  const cls = reads ? "read" : verb.class;
  const effect = cls === "read" ? "read" : cls === "write" ? "write" : "run";
  const uses: Use[] = description.uses.filter((use) => use.class !== "unknown");
  uses.push({ effect, class: cls, cwd: true, via: "working directory" });
  for (const path of words.flatMap((word, i) => pathIn(word, verb.pathOptions, words[i - 1]))) {
    uses.push({ effect, class: cls, path, via: "operand" });
  }
  return {
    form: reads ? `${verb.name} ${textOf(first as Word)}` : verb.name,
    uses,
    lifts: description.lifts.filter((lift) => !lift.endsWith("is not in the catalogue")),
    known: true,
  };
}

function unknownUse(path: Word): Use {
  return { effect: "unknown", class: "unknown", path, via: "operand" };
}

function textOf(word: Word): string {
  return word.value.kind === "literal" ? word.value.value : word.text;
}

function isOption(word: Word): boolean {
  return word.value.kind === "literal" && /^[-+]/.test(word.value.value);
}

/** The path a word may name: a word with a slash or a leading dot or tilde, the value of an option, or any unsure word. */
function pathIn(word: Word, pathOptions: readonly string[], before?: Word): Word[] {
  const { value } = word;
  if (value.kind === "number") return [];
  if (value.kind !== "literal") return [word];
  const text = value.value;
  if (before !== undefined && pathOptions.includes(textOf(before))) return [word];
  const attached =
    /^--?[^=/]*=(.*)$/s.exec(text)?.[1] ??
    pathOptions.flatMap((option) =>
      text.startsWith(option) ? [text.slice(option.length)] : [],
    )[0] ??
    /^-[A-Za-z]((?:\/|\.\.?\/|~).*)$/s.exec(text)?.[1];
  const path = attached ?? text;
  if (text.startsWith("-") && attached === undefined) return [];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return [];
  const looks = path.includes("/") || path === ".." || path.startsWith("~");
  return looks || attached !== undefined
    ? [{ ...word, value: { kind: "literal", value: path } }]
    : [];
}

/**
 * A program of the project's own called by its path, as the verb of the same name: `./venv/bin/pip install` installs
 * as `pip install` does. null for every other segment.
 */
export function namedAlike(segment: Segment): Segment | null {
  const [verb, ...words] = segment.words;
  if (verb?.value.kind !== "literal" || !verb.value.value.includes("/")) return null;
  const value = verb.value.value.slice(verb.value.value.lastIndexOf("/") + 1);
  return { ...segment, words: [{ ...verb, value: { kind: "literal", value } }, ...words] };
}

/** Uses that count whichever file the program really is. */
export function reachesOut({ class: cls }: Use): boolean {
  return /^(?:install|network|engine|privilege|process)$/.test(cls);
}
