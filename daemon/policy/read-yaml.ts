/** Reading YAML and JSON that somebody else wrote, so that no text makes more happen than a document with errors. */
import {
  type Document,
  isScalar,
  type LineCounter,
  parseDocument,
  visit,
  YAMLParseError,
} from "yaml";
import { YAML_NESTING_MAX } from "../limits.ts";

/** The document with its errors in it, also those that the parser ends with. */
export function readYaml(text: string, lineCounter: LineCounter): Document.Parsed {
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false } as const;
  const refused = (offset: number, why: string) => {
    // No parser has counted its lines, or not all of them.
    lineCounter.lineStarts.length = 0;
    lineCounter.addNewLine(0);
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
      lineCounter.addNewLine(at + 1);
    }
    const document = parseDocument("", { prettyErrors: false });
    document.errors.push(new YAMLParseError([offset, offset + 1], "IMPOSSIBLE", why));
    return document;
  };
  const deep = tooDeep(text);
  if (deep !== null) return refused(deep, `nested deeper than ${YAML_NESTING_MAX}`);
  try {
    const document = parseDocument(text, options);
    document.errors.push(...duplicateKeys(document));
    return document;
  } catch (error) {
    return refused(0, error instanceof RangeError ? "nested too deep" : `unreadable: ${error}`);
  }
}

/** The parser's own check compares each key with every other one: seconds for a map of some ten thousand. */
function duplicateKeys(document: Document.Parsed): YAMLParseError[] {
  const found: YAMLParseError[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const [from = 0, to = from + 1] = key.range ?? [];
          found.push(new YAMLParseError([from, to], "DUPLICATE_KEY", "Map keys must be unique"));
        }
        seen.add(key.value);
      }
    },
  });
  return found;
}

const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Where brackets stand open deeper than anybody writes them, whether in quotes or not; null: nowhere. The parser goes
 * down once for each and, where they are never closed, takes time in the square of what follows.
 */
function tooDeep(text: string): number | null {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === OPEN_LIST || char === OPEN_MAP) depth += 1;
    else if ((char === CLOSE_LIST || char === CLOSE_MAP) && depth > 0) depth -= 1;
    if (depth > YAML_NESTING_MAX) return at;
  }
  return null;
}
