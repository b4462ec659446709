/** Verbs that pack and unpack: listing reads, packing writes the archive, unpacking writes below the folder. */

import type { Word } from "../shell/segment.ts";
import { type Draft, literal, reads, under, use, writes } from "./draft.ts";
import { applyForm } from "./form.ts";
import {
  type Form,
  given,
  lastValue,
  optionTable,
  type ParsedForm,
  type Refine,
  textOf,
  type VerbSpec,
} from "./spec.ts";

const RUNS = "runs a program";
const NAMES_FILES = "reads the files that a file names";

/** Options of tar that choose what it does. */
const TAR_LISTS = "-t --list -d --diff --compare";
const TAR_EXTRACTS = "-x --extract --get";
const TAR_PACKS = "-c --create -r --append -u --update -A --catenate --concatenate --delete";

function refineTar(parsed: ParsedForm, draft: Draft): void {
  const { operands } = parsed;
  const folders = parsed.options.filter(({ name }) => name === "-C" || name === "--directory");
  if (folders.length > 1) draft.lifts.push("tar moves to several folders");
  const folder: Word | null = folders[0]?.value ?? null;
  const archives = parsed.options.flatMap(({ name, value }) =>
    (name === "-f" || name === "--file") && value !== null ? [value] : [],
  );
  for (const archive of archives)
    if (/:/.test(textOf(archive) ?? "") && !given(parsed, "--force-local"))
      draft.lifts.push(`archive ${archive.text} is on another machine`);
  if (archives.length === 0) draft.lifts.push("tar without -f reads or writes a tape");

  if (given(parsed, TAR_LISTS)) {
    for (const archive of archives) reads(draft, archive, "-f");
    if (given(parsed, "-d --diff --compare"))
      for (const path of operands) reads(draft, under(folder, path), "operand", { tree: true });
  } else if (given(parsed, TAR_EXTRACTS)) {
    for (const archive of archives) reads(draft, archive, "-f");
    if (given(parsed, "-O --to-stdout")) return;
    const here = folder === null ? { cwd: true } : { path: folder };
    use(draft, "write", "extracted", { ...here, tree: true });
  } else if (given(parsed, TAR_PACKS)) {
    for (const archive of archives) if (textOf(archive) !== "-") writes(draft, archive, "-f");
    const more = { tree: true, ...(given(parsed, "-h --dereference") ? { follows: true } : {}) };
    for (const path of operands) {
      if (textOf(path)?.startsWith("-"))
        draft.lifts.push(`operand ${path.text} of tar may be an option`);
      reads(draft, under(folder, path), "operand", more);
      // `-C` moves only for the operands that follow it, so each may be named from either folder.
      if (folder !== null) reads(draft, path, "operand", more);
    }
  } else draft.lifts.push("tar without an operation");
}

const tar: Form = {
  flags:
    "-A --catenate --concatenate -c --create --delete -d --diff --compare -r --append -t --list -u --update -x --extract --get --check-device --no-check-device -G --incremental --hole-detection= --ignore-failed-read --level= -n --seek --no-seek --occurrence=? -S --sparse --sparse-version= -C= --directory= --exclude= --exclude-backups --exclude-caches --exclude-caches-all --exclude-caches-under --exclude-tag= --exclude-tag-all= --exclude-tag-under= --exclude-vcs --exclude-vcs-ignores --null --no-null --recursion --no-recursion --unquote --no-unquote --anchored --no-anchored --ignore-case --no-ignore-case --wildcards --no-wildcards --wildcards-match-slash --no-wildcards-match-slash --keep-directory-symlink --keep-newer-files -k --keep-old-files --no-overwrite-dir --overwrite --overwrite-dir --skip-old-files -U --unlink-first -W --verify --ignore-command-error --no-ignore-command-error -O --to-stdout --atime-preserve=? --clamp-mtime --delay-directory-restore --no-delay-directory-restore --group= --mode= --mtime= -m --touch --same-owner --no-same-owner --same-permissions --no-same-permissions --numeric-owner --owner= -p --preserve-permissions --preserve-order --same-order -s --sort= --acls --no-acls --selinux --no-selinux --xattrs --no-xattrs --xattrs-exclude= --xattrs-include= --force-local -f= --file= -b= --blocking-factor= -B --read-full-records -i --ignore-zeros --record-size= -H= --format= --old-archive --portability --pax-option= --posix -V= --label= -a --auto-compress --no-auto-compress -j --bzip2 -J --xz --lzip --lzma --lzop --zstd -z --gzip --gunzip --ungzip -Z --compress --uncompress --hard-dereference -h --dereference --newer-mtime= -N= --newer= --after-date= --one-file-system --strip-components= --checkpoint=? --full-time -l --check-links --no-quote-chars= --quote-chars= --quoting-style= -R --block-number --show-defaults --show-omitted-dirs --show-transformed-names --show-stored-names --totals=? --utc -v --verbose --warning= -o --restrict --test-label",
  reads:
    "-X= --exclude-from= --exclude-ignore= --exclude-ignore-recursive= --group-map= --owner-map= --add-file=",
  writes: "-g= --listed-incremental= --index-file= --one-top-level=?",
  lifts: {
    [RUNS]:
      "-I= --use-compress-program= --to-command= -F= --info-script= --new-volume-script= --rmt-command= --rsh-command= --checkpoint-action=",
    [NAMES_FILES]: "-T= --files-from= --verbatim-files-from --no-verbatim-files-from",
    "leaves the folder": "-P --absolute-names --transform= --xform= --backup=? --suffix=",
    "removes files": "--remove-files --recursive-unlink",
    "changes volumes":
      "-M --multi-volume -L= --tape-length= --volno-file= -K= --starting-file= -w --interactive --confirmation",
  },
  operands: "data",
  refine: refineTar,
};

/** `tar xzf a.tgz`: the first word is a cluster without its dash, and its values follow in order. */
function oldStyle(words: readonly Word[]): Word[] {
  const [first, ...rest] = words;
  const letters = [...(textOf(first) ?? "")];
  const options = letters.flatMap((letter) => {
    const value = optionTable(tar).get(`-${letter}`)?.arity === "one" ? rest.shift() : undefined;
    return value === undefined ? [literal(`-${letter}`)] : [literal(`-${letter}`), value];
  });
  return [...options, ...rest];
}

const COMPRESSED = /\.(gz|z|bz2|bz|xz|lzma|lz|zst|Z)$/;

/** Names of compressed files carry the name of the file that unpacking writes. */
function unpacked(path: Word): Word | null {
  const text = textOf(path);
  if (text === null || !COMPRESSED.test(text)) return null;
  return literal(text.replace(COMPRESSED, ""));
}

/** A compressor replaces its operands, unless it writes to standard output, tests or lists. */
function replaces(reading: string, unpacks: boolean): Refine {
  return (parsed, draft) => {
    const tree = given(parsed, "-r --recursive") ? { tree: true } : {};
    if (given(parsed, "-r --recursive") && !given(parsed, reading))
      draft.lifts.push(`-r of ${parsed.form} replaces every file below a folder`);
    for (const path of parsed.operands) {
      reads(draft, path, "operand", tree);
      if (given(parsed, reading)) continue;
      writes(draft, path, "operand", tree);
      if (!unpacks && !given(parsed, "-d --decompress --uncompress")) continue;
      const result = unpacked(path);
      if (result !== null) writes(draft, result, "unpacked");
      else draft.lifts.push(`what ${parsed.form} writes for ${path.text} is not known`);
    }
    if (parsed.operands.length === 0) use(draft, "read", "standard input");
  };
}

const gzip: Form = {
  flags:
    "-a --ascii -c --stdout --to-stdout -d --decompress --uncompress -f --force -h -k --keep -l --list -L --license -n --no-name -q --quiet -r --recursive --rsyncable --synchronous -t --test -v --verbose -V --fast --best -z --compress -s --small -e --extreme -T= --threads= -M= --memlimit= --memory= -F= --format= -C= --check= --no-sparse --single-stream --no-adjust --block-size=",
  lifts: {
    "keeps the name that the archive holds": "-N --name",
    "writes other names": "-S= --suffix=",
    [NAMES_FILES]: "--files=? --files0=?",
  },
  digits: true,
  class: "write",
  operands: "data",
};
const READING = "-c --stdout --to-stdout -l --list -t --test";

export const archives: readonly VerbSpec[] = [
  {
    names: ["tar", "gtar"],
    note: "unpacks below its folder; no foreign compressor, no absolute names",
    custom: (words, draft, context) => {
      const old = /^[A-Za-z]/.test(textOf(words[0]) ?? "");
      applyForm(tar, old ? oldStyle(words) : words, draft, context);
    },
    examples: ["tar -tf a.tar", "tar tvf a.tar", "tar -xOf a.tar README.md"],
  },
  {
    names: ["zip"],
    note: "packs; no lists of names, no test program, no removal of what was packed",
    flags:
      "-r --recurse-paths -q --quiet -j --junk-paths -x= --exclude= -i= --include= -y --symlinks -X --no-extra -D --no-dir-entries -g --grow -o --latest-time -u --update -d --delete -v --verbose -V -z --archive-comment -c --entry-comments -e --encrypt -P= --password= -R --recurse-patterns -S --system-hidden -A --adjust-sfx -J --junk-sfx -t= --from-date= -n= --suffixes= -p --paths -k --DOS-names",
    writes: "-b= --temp-path= -O= --out= --output-file=",
    follows: "-r --recurse-paths -R --recurse-patterns",
    followsUnless: "-y --symlinks",
    lifts: {
      [RUNS]: "-T --test --unzip-command=",
      "removes what it packed": "-m --move",
      [NAMES_FILES]: "-@ --names-stdin",
    },
    digits: true,
    class: "write",
    operands: { lead: ["write"], rest: "tree" },
    refine: (parsed, draft) => {
      for (const { name, value } of parsed.options)
        if (textOf(value)?.startsWith("@")) draft.lifts.push(`${name} of zip ${NAMES_FILES}`);
    },
    examples: ["zip -qr out.zip src"],
  },
  {
    names: ["unzip"],
    note: "-l, -v, -t, -p and -Z read",
    flags: "-l -v -t -z -p -c -Z -o -n -j -q -a -b -C -D -L -P= -s -S -u -U -V -W -x=",
    trees: "-d=",
    lifts: {
      "leaves the folder": "-:",
      "restores set-id bits and owners": "-K -X",
      "sets the archive's time": "-T",
      "only refreshes what is there": "-f",
      [RUNS]: "-M",
    },
    digits: true,
    operands: { lead: ["read"], rest: "data" },
    refine: (parsed, draft) => {
      const folder = lastValue(parsed, "-d");
      if (given(parsed, "-l -v -t -z -p -c -Z") || parsed.operands.length === 0) return;
      use(draft, "write", "extracted", {
        ...(folder === null ? { cwd: true } : { path: folder }),
        tree: true,
      });
    },
    examples: ["unzip -l a.zip", "unzip -p a.zip README.md"],
  },
  {
    ...gzip,
    names: ["gzip", "bzip2", "xz", "lzma", "pigz"],
    refine: replaces(READING, false),
    examples: ["gzip -c README.md", "gzip -l log.gz", "xz -c README.md", "bzip2 -c README.md"],
  },
  {
    ...gzip,
    names: ["gunzip", "bunzip2", "unxz", "unlzma"],
    refine: replaces(READING, true),
    examples: ["gunzip -c log.gz"],
  },
  {
    ...gzip,
    names: ["zcat", "gzcat", "bzcat", "xzcat", "lzcat", "zstdcat"],
    class: "read",
    operands: "read",
    examples: ["zcat log.gz"],
  },
  {
    names: ["zstd", "unzstd", "pzstd"],
    flags:
      "-k --keep -d --decompress -f --force -c --stdout -v --verbose -q --quiet -r --ultra --fast=? --adapt=? --long=? -T= --threads= --single-thread -B= --rsyncable --exclude-compressed --stream-size= --size-hint= --no-dictID --format= -l --list -t --test -M= --memory= -z --compress --check --no-check --progress --no-progress --sparse --no-sparse -C",
    reads: "-D= --patch-from=",
    writes: "-o= --output-dir-flat= --output-dir-mirror= --trace=",
    lifts: {
      [NAMES_FILES]: "--filelist=",
      "removes its source": "--rm",
      "trains or measures":
        "--train --train-cover=? --train-fastcover=? --train-legacy=? -b= -e= -i= -S",
    },
    digits: true,
    class: "write",
    operands: "data",
    refine: replaces(READING, false),
    examples: ["zstd -c README.md"],
  },
];
