/** What a user number is called on this machine, so that a rule file may be named for a person. */
import { readFileSync } from "node:fs";

/** Names of a uid in /etc/passwd, none when it has none there; `passwd` is the file's text. */
export function userNames(uid: number, passwd = readPasswd()): readonly string[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , id] = line.split(":");
    return name !== "" && id === String(uid) ? [name] : [];
  });
}

function readPasswd(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch {
    // A machine without the file names its rule files by number.
    return "";
  }
}
