/** What a user number is called on this machine, so that a rule file may be named for a person. */
import { readFileSync, statSync } from "node:fs";

/** Names of a uid in /etc/passwd, none when it has none there; `passwd` is the file's text. */
export function userNames(uid: number, passwd = readPasswd()): readonly string[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , id] = line.split(":");
    return name !== "" && id === String(uid) ? [name] : [];
  });
}

let cached = { tag: "", text: "" };

/** Read again when it changed: this is asked for every command. A machine without it names rule files by number. */
function readPasswd(): string {
  const stat = statSync("/etc/passwd", { throwIfNoEntry: false });
  const tag = stat === undefined ? "" : [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(":");
  if (tag !== cached.tag) {
    cached = { tag, text: tag === "" ? "" : readFileSync("/etc/passwd", "utf8") };
  }
  return cached.text;
}
