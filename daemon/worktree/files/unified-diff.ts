/** Reads a unified diff and applies it to bytes: strictly, or not at all. Pure; texts are bytes in latin1. */
import { type ErrorCode, RecintoError } from "../../errors.ts";
import { PATCH_FILES_MAX } from "../../limits.ts";

export interface FilePatch {
  /** As written, without the parts that were stripped; null: the file is new. */
  readonly from: string | null;
  /** null: the file goes. */
  readonly to: string | null;
  readonly hunks: readonly Hunk[];
  /** What the diff says about the mode of the file afterwards. */
  readonly executable?: boolean;
}

interface Hunk {
  /** First line of the old file, from 1; with no old lines, the line after which it stands. */
  readonly oldStart: number;
  readonly old: readonly string[];
  readonly next: readonly string[];
}

/**
 * Each file of the diff. `strip`: path parts left out in front, 1 for what git makes. Throws `bad-patch` for anything
 * that is not understood to the last line: a part that was skipped would be a change that nobody saw fail.
 */
export function readPatch(text: string, strip: number): readonly FilePatch[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: FilePatch[] = [];
  const reader = { lines, at: 0 };
  while (reader.at < lines.length) {
    const line = lines[reader.at] as string;
    if (line.startsWith("diff --git ") || line.startsWith("--- ")) {
      files.push(readFilePatch(reader, strip));
      if (files.length > PATCH_FILES_MAX) throw bad(`changes more than ${PATCH_FILES_MAX} files`);
    } else if (files.length === 0 || /^(?:\s*$|index |-- $|\d+\.\d+)/.test(line)) {
      // What stands before the first file (a mail, a commit message) and after the last one (a signature) says nothing.
      reader.at += 1;
    } else throw bad(`has a line that is no part of a diff`, reader.at);
  }
  if (files.length === 0) throw bad("changes no file");
  const touched = files.flatMap(({ from, to }) => (from === to ? [from] : [from, to]));
  const twice = touched.find((path, i) => path !== null && touched.indexOf(path) !== i);
  if (twice !== undefined) throw bad(`changes ${JSON.stringify(twice)} twice`);
  return files;
}

interface Reader {
  readonly lines: readonly string[];
  at: number;
}

function readFilePatch(reader: Reader, strip: number): FilePatch {
  const { lines } = reader;
  let from: string | null | undefined;
  let to: string | null | undefined;
  let executable: boolean | undefined;
  let created = false;
  let deleted = false;
  const git = lines[reader.at]?.startsWith("diff --git ") ?? false;
  const gitNames = git ? gitNamesOf(lines[reader.at] as string, strip) : null;
  if (git) reader.at += 1;
  for (; git && reader.at < lines.length; reader.at += 1) {
    const line = lines[reader.at] as string;
    const mode = /^(?:new file mode|new mode) (\d{6})$/.exec(line)?.[1];
    if (mode !== undefined) {
      if (!/^100(?:644|755)$/.test(mode)) throw bad(`makes what is no plain file`, reader.at);
      executable = mode === "100755";
      created ||= line.startsWith("new file");
    } else if (/^deleted file mode 100\d{3}$/.test(line)) deleted = true;
    else if (line.startsWith("rename from ")) from = nameOf(line.slice(12), 0, reader.at);
    else if (line.startsWith("rename to ")) to = nameOf(line.slice(10), 0, reader.at);
    else if (/^(?:GIT binary patch|Binary files )/.test(line)) {
      throw bad("changes a binary file: write that file as a whole", reader.at);
    } else if (
      !/^(?:index |old mode 100\d{3}$|similarity index |dissimilarity index )/.test(line)
    ) {
      break;
    }
  }
  const hunks: Hunk[] = [];
  if (lines[reader.at]?.startsWith("--- ")) {
    const old = headName(lines[reader.at] as string, strip, reader.at);
    reader.at += 1;
    const next = lines[reader.at];
    if (next === undefined || !next.startsWith("+++ ")) throw bad("has --- without +++", reader.at);
    const fresh = headName(next, strip, reader.at);
    reader.at += 1;
    if (old === null && fresh === null) throw bad("has a file without a name", reader.at);
    if (from !== undefined && (from !== old || to !== fresh)) {
      throw bad("says two names for one file", reader.at);
    }
    from = old;
    to = fresh;
    while (lines[reader.at]?.startsWith("@@ ")) hunks.push(readHunk(reader));
    if (hunks.length === 0) throw bad("has a file without a change", reader.at);
  } else if (from === undefined || to === undefined) {
    // Only a mode, an empty file made, or one deleted.
    if (gitNames === null) throw bad("has a file without a change", reader.at);
    from = created ? null : gitNames[0];
    to = deleted ? null : gitNames[1];
  }
  if ((created && from !== null) || (deleted && to !== null)) {
    throw bad("makes or deletes a file under a name that it has already", reader.at);
  }
  return {
    from: from ?? null,
    to: to ?? null,
    hunks,
    ...(executable === undefined ? {} : { executable }),
  };
}

/** The two names of a `diff --git` line where they can be told apart: they are the same, and not quoted. */
function gitNamesOf(line: string, strip: number): readonly [string, string] | null {
  const rest = line.slice("diff --git ".length);
  const [one, other] = [rest.slice(0, (rest.length - 1) / 2), rest.slice((rest.length + 1) / 2)];
  if (rest[one.length] !== " " || rest.startsWith('"')) return null;
  const bare = (name: string) => name.split("/").slice(strip).join("/");
  return bare(one) === bare(other) && bare(one) !== "" ? [bare(one), bare(other)] : null;
}

function headName(line: string, strip: number, at: number): string | null {
  const [name = ""] = line.slice(4).split("\t");
  return name === "/dev/null" ? null : nameOf(name.trimEnd(), strip, at);
}

function nameOf(written: string, strip: number, at: number): string {
  const name = written.startsWith('"') ? unquoted(written, at) : written;
  const path = name.split("/").slice(strip).join("/");
  if (path === "") throw bad(`has the name ${JSON.stringify(name)}, which has no part left`, at);
  return path;
}

/** A name as git quotes it: C escapes, octal for bytes. */
function unquoted(written: string, at: number): string {
  const inside = /^"((?:[^"\\]|\\.)*)"$/.exec(written)?.[1];
  if (inside === undefined) throw bad("has a name that is not quoted to its end", at);
  const letters: Readonly<Record<string, string>> = {
    n: "\n",
    t: "\t",
    r: "\r",
    a: "\x07",
    b: "\b",
    f: "\f",
    v: "\v",
  };
  return inside.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
    code.length === 3
      ? String.fromCharCode(Number.parseInt(code, 8) & 0xff)
      : (letters[code] ?? code),
  );
}

function readHunk(reader: Reader): Hunk {
  const { lines } = reader;
  const head = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(
    lines[reader.at] as string,
  );
  if (head === null) throw bad("has a hunk whose head is not understood", reader.at);
  let oldLeft = Number(head[2] ?? 1);
  let nextLeft = Number(head[3] ?? 1);
  reader.at += 1;
  const old: string[] = [];
  const next: string[] = [];
  while (oldLeft > 0 || nextLeft > 0) {
    const line = lines[reader.at];
    // Editors and mail cut the blank of an empty context line off.
    const sign = line === "" ? " " : line?.[0];
    if (line === undefined || (sign !== " " && sign !== "-" && sign !== "+")) {
      throw bad("has a hunk that ends too early", reader.at);
    }
    const isEnd = lines[reader.at + 1]?.startsWith("\\ ") ?? false;
    const text = `${line.slice(1)}${isEnd ? "" : "\n"}`;
    if (sign !== "+") {
      old.push(text);
      oldLeft -= 1;
    }
    if (sign !== "-") {
      next.push(text);
      nextLeft -= 1;
    }
    reader.at += isEnd ? 2 : 1;
  }
  if (oldLeft < 0 || nextLeft < 0) throw bad("has a hunk with too many lines", reader.at);
  return { oldStart: Number(head[1]), old, next };
}

/**
 * The file after the patch. A hunk may stand further up or down than it says (others were put in above), but every line
 * of it must be there, once the nearest such place is taken. Throws `patch-conflict`.
 */
export function applyHunks(content: string, { from, to, hunks }: FilePatch): string {
  const name = JSON.stringify(to ?? from);
  const lines = content.split(/(?<=\n)/);
  if (content === "") lines.pop();
  const result: string[] = [];
  let done = 0;
  let shift = 0;
  for (const [i, hunk] of hunks.entries()) {
    const wanted = hunk.oldStart - (hunk.old.length > 0 ? 1 : 0) + shift;
    const at = placeOf(lines, hunk.old, wanted, done);
    if (at === null) {
      throw conflict(`hunk ${i + 1} of ${name} does not fit: its lines are not there`);
    }
    shift += at - wanted;
    result.push(...lines.slice(done, at), ...hunk.next);
    done = at + hunk.old.length;
  }
  result.push(...lines.slice(done));
  const ends = result.findIndex((line, i) => !line.endsWith("\n") && i < result.length - 1);
  if (ends >= 0) throw conflict(`${name} would have lines after its end`);
  return result.join("");
}

/** The place nearest to `wanted` where all lines stand, not before `from`. */
function placeOf(
  lines: readonly string[],
  old: readonly string[],
  wanted: number,
  from: number,
): number | null {
  if (old.length === 0) return wanted >= from && wanted <= lines.length ? wanted : null;
  const last = lines.length - old.length;
  for (let off = 0; wanted - off >= from || wanted + off <= last; off++) {
    for (const at of off === 0 ? [wanted] : [wanted - off, wanted + off]) {
      if (at >= from && at <= last && old.every((line, i) => lines[at + i] === line)) return at;
    }
  }
  return null;
}

function bad(what: string, at?: number): RecintoError {
  return ours("bad-patch", `the patch ${what}${at === undefined ? "" : ` (line ${at + 1})`}`);
}

function conflict(message: string): RecintoError {
  return ours("patch-conflict", message);
}

function ours(code: ErrorCode, message: string): RecintoError {
  return new RecintoError(code, message);
}
