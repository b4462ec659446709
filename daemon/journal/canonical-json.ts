/** One spelling of a JSON value: sorted keys, no blanks, so that equal values always hash the same. */

/** Throws TypeError for what JSON cannot hold (functions, BigInt, NaN); leaves out undefined members as JSON does. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value) items += (items === "" ? "" : ",") + canonicalJson(item);
    return `[${items}]`;
  }
  if (typeof value === "object") {
    const members = value as Readonly<Record<string, unknown>>;
    let text = "";
    for (const key of Object.keys(members).sort()) {
      const member = members[key];
      if (member === undefined) continue;
      text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
    }
    return `{${text}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}
