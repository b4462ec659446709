/** Names and values of references as they come from anywhere: checked before they are used. */

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text);
}

/** The rules of git-check-ref-format(1) for a branch, and no longer than a file system takes. */
export function isBranchRef(ref: string): boolean {
  if (!ref.startsWith("refs/heads/") || Buffer.byteLength(ref) > 255) return false;
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(ref)) return false;
  return (
    ref
      .split("/")
      .every(
        (part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock") && part !== "@",
      ) && !ref.startsWith("refs/heads/-")
  );
}

export type RefMap = ReadonlyMap<string, string>;

/** `OBJECT NAME` lines, as `git for-each-ref --format='%(objectname) %(refname)'` prints them. */
export function parseRefs(text: string): RefMap {
  const refs = new Map<string, string>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    const id = line.slice(0, space);
    if (space > 0 && isObjectId(id)) refs.set(line.slice(space + 1), id);
  }
  return refs;
}
