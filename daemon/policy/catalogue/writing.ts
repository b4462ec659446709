/** Verbs that create, change, move and remove files: what they write is named, whether it may is judged elsewhere. */

import type { Word } from "../shell/segment.ts";
import { type Draft, literal, reads, use, writes } from "./draft.ts";
import { given, lastValue, type ParsedForm, type Refine, textOf, type VerbSpec } from "./spec.ts";

const RECURSIVE = "deletes or changes whole folders";
const BACKUP = "-b --backup=? -S= --suffix=";

/** Sources are read (moved: written), the destination written: the last operand, or the value of -t. */
function transfer(moves: boolean): Refine {
  return (parsed, draft) => {
    const target = lastValue(parsed, "-t --target-directory");
    const sources = target === null ? parsed.operands.slice(0, -1) : parsed.operands;
    const last = target ?? parsed.operands.at(-1);
    const tree = given(parsed, "-r -R -a --recursive --archive") || moves;
    const follows = given(parsed, "-L --dereference -H");
    for (const source of sources) {
      const more = { ...(tree ? { tree } : {}), ...(follows ? { follows } : {}) };
      reads(draft, source, "operand", more);
      if (moves) writes(draft, source, "operand", tree ? { tree } : {});
    }
    if (last !== undefined) {
      writes(draft, last, "destination", tree ? { tree } : {});
      for (const source of sources) inside(last, source, draft);
    }
    suffixStays(parsed, draft);
  };
}

/** The destination may be a folder: then the file in it that has the name of the source is written. */
function inside(folder: Word, source: Word, draft: Draft): void {
  const text = textOf(source) ?? (source.value.kind === "glob" ? source.value.pattern : null);
  const to = textOf(folder);
  const name = text?.replace(/\/+$/, "").split("/").at(-1);
  if (to === null || name === undefined || ["", ".", ".."].includes(name)) return;
  writes(
    draft,
    source.value.kind === "glob" ? below(to, name) : literal(`${to.replace(/\/$/, "")}/${name}`),
    "destination",
  );
}

function below(folder: string, pattern: string): Word {
  const base = `${folder.replace(/\/$/, "")}/`;
  return {
    text: base + pattern,
    value: { kind: "glob", pattern: base + pattern, base, dashed: false },
    quoted: false,
  };
}

/** A suffix of a backup copy with a slash would put it elsewhere. */
function suffixStays(parsed: ParsedForm, draft: Draft): void {
  const suffix = lastValue(parsed, "-S --suffix");
  if (suffix !== null && (textOf(suffix) ?? "/").includes("/"))
    draft.lifts.push(`${parsed.form} keeps its copy in another folder`);
}

/** A link is written where it lies; what it points to must be as near as a file that is read there. */
function linking(parsed: ParsedForm, draft: Draft): void {
  const symbolic = given(parsed, "-s --symbolic");
  const target = lastValue(parsed, "-t --target-directory");
  const several = target === null && parsed.operands.length > 1;
  const sources = several ? parsed.operands.slice(0, -1) : parsed.operands;
  for (const source of sources) {
    const text = textOf(source);
    reads(draft, source, "link target");
    // A relative target is read from where the link lies, which may be another folder.
    if (symbolic && (text === null || /(^|\/)\.\.(\/|$)/.test(text)))
      draft.lifts.push(`the link target ${source.text} may lead out of the folder`);
    // A hard link to a file is another name under which it can be written.
    if (!symbolic) writes(draft, source, "link target");
  }
  const last = target ?? (several ? parsed.operands.at(-1) : literal("."));
  if (last !== undefined) {
    writes(draft, last, "link");
    for (const source of sources) inside(last, source, draft);
  }
  suffixStays(parsed, draft);
}

/** Mode or owner first, then what changes. `--reference` takes the place of the first. */
function changing(parsed: ParsedForm, draft: Draft): void {
  const files = given(parsed, "--reference") ? parsed.operands : parsed.operands.slice(1);
  for (const file of files)
    writes(draft, file, "operand", given(parsed, "-R --recursive") ? { tree: true } : {});
}

/** `dd if= of=` and its other words; a device is outside every scope. */
const DD_DATA = /^(bs|ibs|obs|cbs|count|skip|iseek|seek|oseek|status|conv|iflag|oflag)=/;

export const writing: readonly VerbSpec[] = [
  {
    names: ["tee"],
    flags: "-a --append -i --ignore-interrupts -p --output-error=?",
    operands: "write",
    examples: ["tee /dev/null", "tee out.txt"],
  },
  {
    names: ["cp"],
    flags: `-a --archive --attributes-only ${BACKUP} --copy-contents -d -f --force -i --interactive -H -L --dereference -n --no-clobber -P --no-dereference -p --preserve=? --no-preserve= -R -r --recursive --reflink=? --remove-destination --sparse= --strip-trailing-slashes -t= --target-directory= -T --no-target-directory -u --update=? -v --verbose -x --one-file-system --debug`,
    lifts: {
      "makes links instead of copies": "-l --link -s --symbolic-link",
      "makes the folders of its sources": "--parents",
      "sets a security context": "-Z --context=?",
    },
    class: "write",
    operands: "data",
    refine: transfer(false),
    examples: ["cp README.md copy.md", "cp -r src other"],
  },
  {
    names: ["mv"],
    flags: `${BACKUP} -f --force -i --interactive -n --no-clobber --strip-trailing-slashes -t= --target-directory= -T --no-target-directory -u --update=? -v --verbose --exchange --no-copy`,
    lifts: { "sets a security context": "-Z --context" },
    class: "write",
    operands: "data",
    refine: transfer(true),
    examples: ["mv README.md other.md"],
  },
  {
    names: ["mkdir"],
    flags: "-m= --mode= -p --parents -v --verbose",
    lifts: { "sets a security context": "-Z --context=?" },
    operands: "write",
    examples: ["mkdir -p a/b"],
  },
  {
    names: ["rmdir"],
    flags: "--ignore-fail-on-non-empty -p --parents -v --verbose",
    operands: "write",
    examples: ["rmdir empty"],
  },
  {
    names: ["touch"],
    flags: "-a -c --no-create -d= --date= -f -h --no-dereference -m -t= --time=",
    reads: "-r= --reference=",
    operands: "write",
    examples: ["touch new.txt"],
  },
  {
    names: ["rm"],
    note: "named files",
    flags: "-f --force -i -I --interactive=? --one-file-system --preserve-root=? -v --verbose",
    lifts: { [RECURSIVE]: "-r -R --recursive -d --dir --no-preserve-root" },
    operands: "write",
    examples: ["rm -f README.md"],
  },
  { names: ["unlink"], operands: "write", examples: ["unlink README.md"] },
  {
    names: ["ln"],
    note: "targets inside the folder",
    flags: `${BACKUP} -d -F --directory -f --force -i --interactive -L --logical -n --no-dereference -P --physical -r --relative -s --symbolic -t= --target-directory= -T --no-target-directory -v --verbose`,
    class: "write",
    operands: "data",
    refine: linking,
    examples: ["ln -s README.md link"],
  },
  {
    names: ["install"],
    flags: `${BACKUP} -c -C --compare -D -m= --mode= -p --preserve-timestamps -t= --target-directory= -T --no-target-directory -v --verbose`,
    writes: "",
    lifts: {
      "runs strip": "-s --strip --strip-program=",
      "changes the owner": "-o= --owner= -g= --group=",
      "sets a security context": "-Z --preserve-context --context=?",
      "makes folders with owners of their own": "-d --directory",
    },
    class: "write",
    operands: "data",
    refine: transfer(false),
    examples: ["install -m 644 README.md copy.md"],
  },
  {
    names: ["truncate"],
    flags: "-c --no-create -o --io-blocks -s= --size=",
    reads: "-r= --reference=",
    operands: "write",
    examples: ["truncate -s 0 README.md"],
  },
  {
    names: ["chmod"],
    flags: "-c --changes -f --silent --quiet -v --verbose --preserve-root -R --recursive",
    reads: "--reference=",
    lifts: { [RECURSIVE]: "--no-preserve-root" },
    class: "write",
    oneDash: false,
    custom: (words, draft) => {
      // `chmod -x FILE` is a mode that looks like an option.
      const isMode = (text: string | null): boolean => /^-[rwxXstugo]+$/.test(text ?? "");
      const mode = words.find((word) => isMode(textOf(word)));
      const plain = words.filter((word) => !isMode(textOf(word)));
      const options = plain.filter((word) => /^-./.test(textOf(word) ?? ""));
      for (const word of options) {
        const text = textOf(word) ?? "";
        if (/^-([cfvR]+|-changes|-silent|-quiet|-verbose|-preserve-root|-recursive)$/.test(text))
          continue;
        draft.lifts.push(`option ${text} of chmod`);
      }
      const rest = plain.filter((word) => !options.includes(word));
      const tree = options.some((word) => /^-([cfv]*R|-recursive)/.test(textOf(word) ?? ""));
      for (const file of mode === undefined ? rest.slice(1) : rest)
        writes(draft, file, "operand", tree ? { tree } : {});
      if (mode === undefined && textOf(rest[0]) === null)
        draft.lifts.push("the mode of chmod is not known");
    },
    examples: ["chmod +x README.md", "chmod -x README.md", "chmod 644 README.md"],
  },
  {
    names: ["chown", "chgrp"],
    flags:
      "-c --changes -f --silent --quiet -v --verbose --dereference -h --no-dereference --from= --preserve-root -R --recursive -H -L -P",
    reads: "--reference=",
    lifts: { [RECURSIVE]: "--no-preserve-root" },
    class: "privilege",
    operands: "data",
    refine: changing,
    examples: [],
  },
  {
    names: ["patch"],
    note: "the patch names the files",
    flags:
      "-p= --strip= -F= --fuzz= -l --ignore-whitespace -c --context -n --normal -u --unified -N --forward -R --reverse -E --remove-empty-files -Z --set-utc -T --set-time --quoting-style= -b --backup --backup-if-mismatch --no-backup-if-mismatch -V= --version-control= -z= --suffix= -t --batch -f --force -s --quiet --silent --verbose --dry-run --posix --reject-format= --binary --read-only= --merge=?",
    reads: "-i= --input=",
    writes: "-o= --output= -r= --reject-file=",
    chdirs: "-d= --directory=",
    lifts: {
      "runs ed": "-e --ed",
      "fetches files from version control": "-g= --get=",
      "keeps its copy in another folder": "-B= --prefix= -Y= --basename-prefix= -D= --ifdef=",
    },
    operands: { lead: ["write", "read"] },
    refine: (parsed, draft) => {
      // Without an operand the patch itself says which files below the folder it changes.
      const folder = lastValue(parsed, "-d --directory");
      if (parsed.operands.length === 0 && !given(parsed, "--dry-run"))
        use(draft, "write", "files the patch names", {
          ...(folder === null ? { cwd: true } : { path: folder }),
          tree: true,
        });
    },
    examples: ["patch -p1 -i change.diff"],
  },
  {
    names: ["split"],
    flags:
      "-a= --suffix-length= --additional-suffix= -b= --bytes= -C= --line-bytes= -d --numeric-suffixes=? -x --hex-suffixes=? -e --elide-empty-files -l= --lines= -n= --number= -t= --separator= -u --unbuffered --verbose",
    lifts: { "runs a program": "--filter=" },
    digits: true,
    class: "write",
    operands: { lead: ["read", "write"] },
    refine: (parsed, draft) => {
      if (parsed.operands.length < 2) writes(draft, literal("x"), "prefix");
      const suffix = lastValue(parsed, "--additional-suffix");
      if (suffix !== null && (textOf(suffix) ?? "/").includes("/"))
        draft.lifts.push("suffix of split with a slash");
    },
    examples: ["split -l 1 README.md part-"],
  },
  {
    names: ["csplit"],
    flags:
      "-b= --suffix-format= -k --keep-files --suppress-matched -n= --digits= -s -q --quiet --silent -z --elide-empty-files",
    writes: "-f= --prefix=",
    class: "write",
    operands: { lead: ["read"], rest: "data" },
    refine: (parsed, draft) => {
      if (!given(parsed, "-f --prefix")) writes(draft, literal("xx"), "prefix");
      const format = lastValue(parsed, "-b --suffix-format");
      if (format !== null && (textOf(format) ?? "/").includes("/"))
        draft.lifts.push("suffix of csplit with a slash");
    },
    examples: ["csplit README.md 2"],
  },
  {
    names: ["dd"],
    note: "of= is written",
    custom: (words, draft) => {
      for (const word of words) {
        const text = textOf(word) ?? (word.value.kind === "unknown" ? word.value.prefix : "");
        const path = literal(text.slice(3));
        if (text.startsWith("if=") && textOf(word) !== null) reads(draft, path, "if=");
        else if (text.startsWith("of=") && textOf(word) !== null) writes(draft, path, "of=");
        else if (!DD_DATA.test(text)) draft.lifts.push(`operand ${word.text} of dd`);
      }
    },
    examples: ["dd if=README.md bs=4 count=1 status=none"],
  },
  {
    names: ["mktemp"],
    flags: "-d --directory -q --quiet --suffix= -t",
    lifts: { "only prints a name that another may take": "-u --dry-run" },
    writes: "-p= --tmpdir=?",
    class: "write",
    operands: "data",
    refine: (parsed, draft) => {
      const [template] = parsed.operands;
      const inTmp = template === undefined || given(parsed, "-t");
      if (given(parsed, "-p --tmpdir")) return;
      writes(draft, inTmp ? literal("/tmp/tmp") : template, "template");
    },
    examples: ["mktemp", "mktemp -d /tmp/x.XXXXXX"],
  },
  {
    names: [
      "shred",
      "mkfs",
      "fallocate",
      "mkfifo",
      "mknod",
      "mkswap",
      "sync",
      "setfacl",
      "setfattr",
      "chattr",
    ],
    note: "never by themselves",
    noOptions: true,
    operands: "data",
    class: "write",
    refine: (parsed, draft) => {
      draft.lifts.push(`${parsed.form} is no ordinary write`);
    },
    examples: [],
  },
];
