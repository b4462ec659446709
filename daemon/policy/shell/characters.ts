/** Characters that do not print or that change how the rest of a line looks to a person. */

import type { Problem } from "./segment.ts";

/** Everything but tab, newline and printable ASCII: only then is a closer look needed. */
const UNUSUAL = /[^\t\n\x20-\x7e]/;
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;
/** One report per text is enough to ask; more than this only floods the approver. */
const REPORTED_MAX = 16;

const ZERO_WIDTH_JOINER = 0x200d;

function kindOf(code: number): string | null {
  if (code === 0) return "nul-character";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
    return code === 0x09 || code === 0x0a ? null : "control-character";
  }
  if (code < 0xa0) return null;
  if (
    code === 0x061c ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069)
  ) {
    return "bidi-character";
  }
  if (
    code === 0x00ad ||
    code === 0x034f ||
    code === 0x115f ||
    code === 0x1160 ||
    code === 0x17b4 ||
    code === 0x17b5 ||
    (code >= 0x180b && code <= 0x180e) ||
    (code >= 0x200b && code <= 0x200d) ||
    (code >= 0x2060 && code <= 0x2065) ||
    (code >= 0x206a && code <= 0x206f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x2800 ||
    code === 0x3164 ||
    code === 0xfeff ||
    code === 0xffa0 ||
    (code >= 0xfff0 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe0fff)
  ) {
    return "invisible-character";
  }
  if ((code >= 0xd800 && code <= 0xdfff) || (code & 0xfffe) === 0xfffe) return "invalid-character";
  return null;
}

/** Problems for the characters of `text` that a person could not see, each with its code point and offset. */
export function hiddenCharacters(text: string): Problem[] {
  const problems: Problem[] = [];
  if (!UNUSUAL.test(text)) return problems;
  let before = "";
  for (let at = 0; at < text.length && problems.length < REPORTED_MAX; ) {
    const code = text.codePointAt(at) ?? 0;
    const character = String.fromCodePoint(code);
    const kind = kindOf(code);
    // Emoji are put together with a zero-width joiner; there it hides nothing.
    const joinsEmoji = code === ZERO_WIDTH_JOINER && PICTOGRAPH.test(before);
    if (kind !== null && !joinsEmoji) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      problems.push({
        code: kind,
        message: `${kind.replace("-", " ")} ${name} at ${at}`,
        at,
      });
    }
    before = character;
    at += character.length;
  }
  return problems;
}
