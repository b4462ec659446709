/** Verbs that print files, folders and what is known about them. */

import type { Draft } from "./draft.ts";
import { lastValue, type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

const NAMES_FILES = "reads the files that a file names";
const NEVER_ENDS = "never ends";

/** Start-up commands of a pager that only move; every other one may run a program. */
const PAGER_MOVE = /^\+(?:\d*[gGp]?|\/[ -~]*)$/;

function pagerCommands(parsed: ParsedForm, draft: Draft): void {
  const pattern = lastValue(parsed, "-p --pattern");
  if (pattern !== null && !/^[ -~]*$/.test(textOf(pattern) ?? "\n"))
    draft.lifts.push(`pattern ${pattern.text} of ${draft.form} may hold commands`);
  for (const word of parsed.operands) {
    const text = textOf(word);
    if (text?.startsWith("+") && !PAGER_MOVE.test(text))
      draft.lifts.push(`start-up command ${word.text} of ${draft.form}`);
  }
}

export const reading: readonly VerbSpec[] = [
  {
    names: ["cat"],
    flags:
      "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting",
    operands: "read",
    anyArgs: true,
    examples: ["cat README.md", "cat -An README.md src/a.ts", "cat -- README.md"],
  },
  {
    names: ["ls", "ll", "la", "l", "dir", "vdir"],
    flags:
      "-a --all -A --almost-all --author -b --escape --block-size= -B --ignore-backups -c -C --color=? --colour=? -d --directory -D --dired -f -F --classify=? --file-type --format= --full-time -g --group-directories-first -G --no-group -h --human-readable --si -H --dereference-command-line --dereference-command-line-symlink-to-dir --hide= --hyperlink=? --indicator-style= -i --inode -I= --ignore= -k --kibibytes -l -L --dereference -m -n --numeric-uid-gid -N --literal -o -p -q --hide-control-chars --show-control-chars -Q --quote-name --quoting-style= -r --reverse -R --recursive -s --size -S --sort= --time= --time-style= -t -T= --tabsize= -u -U -v -w= --width= -x -X -Z --context --zero -1",
    operands: "read",
    bare: "cwd",
    recursive: "-R --recursive",
    follows: "-L --dereference",
    anyArgs: true,
    refine: (parsed, draft) => {
      const decorated =
        /^(-[dFgilmnopsQZ]|--(author|format|classify|inode|size|quoting|quote|full|numeric|context|file-type|indicator|no-group|hyperlink|color).*)$/;
      draft.lister = !parsed.options.some(({ name }) => decorated.test(name) && name !== "-d");
    },
    examples: [
      "ls",
      "ls -la docs .github",
      "ls -R src",
      "ls --color=never -1 src",
      "ls -lt --time-style=+%s",
    ],
  },
  {
    names: ["head"],
    flags: "-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated",
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: [
      "head README.md",
      "head -50 README.md",
      "head -n5 README.md",
      "head --lines=-2 README.md",
      "head -c 20 README.md",
    ],
  },
  {
    names: ["tail"],
    flags:
      "-c= --bytes= -n= --lines= --max-unchanged-stats= --pid= -q --quiet --silent -s= --sleep-interval= -v --verbose -z --zero-terminated",
    lifts: { [NEVER_ENDS]: "-f -F --follow=? --retry" },
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: [
      "tail README.md",
      "tail -n +2 README.md",
      "tail -20 README.md",
      "tail -qn5 README.md src/a.ts",
    ],
  },
  {
    names: ["less"],
    note: "start-up commands only move",
    flags:
      "-a -A -b= --buffers= -B --auto-buffers -c --clear-screen -C --CLEAR-SCREEN -d --dumb -D= --color= -e --quit-at-eof -E --QUIT-AT-EOF -f --force -F --quit-if-one-screen -g --hilite-search -G --HILITE-SEARCH -h= --max-back-scroll= -i --ignore-case -I --IGNORE-CASE -j= --jump-target= -J --status-column -K --quit-on-intr -L --no-lessopen -m --long-prompt -M --LONG-PROMPT -n --line-numbers -N --LINE-NUMBERS -p= --pattern= -P= --prompt= -q --quiet --silent -Q --QUIET -r --raw-control-chars -R --RAW-CONTROL-CHARS -s --squeeze-blank-lines -S --chop-long-lines -u --underline-special -U --UNDERLINE-SPECIAL -V --version -w --hilite-unread -W --HILITE-UNREAD -x= --tabs= -X --no-init -y= --max-forw-scroll= -z= --window= -~ --tilde --mouse --use-color --incsearch --no-keypad --shift= --rscroll= --save-marks --wheel-lines=",
    writes: "-o= --log-file= -O= --LOG-FILE=",
    lifts: {
      "reads a key file, which may name programs":
        "-k= --lesskey-file= --lesskey-src= --lesskey-content=",
      [NAMES_FILES]: "-t= --tag= -T= --tag-file=",
    },
    digits: true,
    operands: "read",
    refine: pagerCommands,
    examples: [
      "less README.md",
      "less -N -S README.md",
      "less +/word README.md",
      "less +G README.md",
    ],
  },
  {
    names: ["more"],
    note: "start-up commands only move",
    flags:
      "-d --silent -f --logical -l --no-pause -c --print-over -p --clean-print -e --exit-on-eof -s --squeeze -u --plain -n= --lines= -h -V",
    digits: true,
    operands: "read",
    refine: pagerCommands,
    examples: ["more README.md", "more -s README.md", "more +2 README.md"],
  },
  {
    names: ["wc"],
    flags: "-c --bytes -m --chars -l --lines -L --max-line-length -w --words --total=",
    lifts: { [NAMES_FILES]: "--files0-from=" },
    operands: "read",
    anyArgs: true,
    examples: ["wc README.md", "wc -lw README.md src/a.ts"],
  },
  {
    names: ["file"],
    flags:
      "-v -b --brief -c --checking-printout -e= --exclude= --exclude-quiet= -F= --separator= -i --mime --apple --extension --mime-type --mime-encoding -k --keep-going -l --list -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -P= --parameter= -r --raw -s --special-files -d --debug",
    reads: "-m= --magic-file=",
    lifts: {
      [NAMES_FILES]: "-f= --files-from=",
      "may start a decompressor": "-z --uncompress -Z --uncompress-noreport",
      "sets file times": "-p --preserve-date",
      "writes a compiled magic file": "-C --compile",
      "drops its own sandbox": "-S --no-sandbox",
    },
    operands: "read",
    examples: ["file README.md", "file -bi README.md src"],
  },
  {
    names: ["stat"],
    flags: "-L --dereference -f --file-system --cached= -c= --format= --printf= -t --terse",
    operands: "read",
    anyArgs: true,
    examples: ["stat README.md", "stat -c %s README.md", "stat --printf='%n\\n' README.md"],
  },
  {
    names: ["du"],
    flags:
      "-0 --null -a --all --apparent-size -B= --block-size= -b --bytes -c --total -D --dereference-args -d= --max-depth= -H -h --human-readable --inodes -k -L --dereference -l --count-links -m -P --no-dereference -S --separate-dirs --si -s --summarize -t= --threshold= --time=? --time-style= --exclude= -x --one-file-system",
    reads: "-X= --exclude-from=",
    lifts: { [NAMES_FILES]: "--files0-from=" },
    operands: "tree",
    bare: "tree",
    follows: "-L --dereference",
    anyArgs: true,
    examples: ["du -sh src", "du -d1 .", "du -ah --exclude=x src"],
  },
  {
    names: ["df"],
    flags:
      "-a --all -B= --block-size= -h --human-readable -H --si -i --inodes -k -l --local --no-sync --output=? -P --portability --total -t= --type= -T --print-type -x= --exclude-type= -v",
    lifts: { "flushes every file system": "--sync" },
    operands: "read",
    anyArgs: true,
    examples: ["df -h .", "df -hT ."],
  },
  {
    names: ["tree"],
    flags:
      "-a -d -l -f -x -L= -P= -I= --gitignore --ignore-case --matchdirs --metafirst --info --noreport --charset= --filelimit= --filesfirst --dirsfirst -q -N -Q -p -u -g -s -h --si -D --timefmt= -F --inodes --device -v -t -c -U -r --sort=? -i -A -S -n -C -X -J -H= -T= --nolinks --fflinks --du --prune",
    reads: "--gitfile= --infofile= --hintro= --houtro=",
    writes: "-o=",
    lifts: {
      "writes a file in each folder": "-R",
      [NAMES_FILES]: "--fromfile --fromtabfile",
    },
    operands: "tree",
    bare: "tree",
    follows: "-l",
    examples: ["tree", "tree -L 2 -I node_modules", "tree -a src"],
  },
  {
    names: ["realpath"],
    flags:
      "-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet -s --strip --no-symlinks -z --zero",
    reads: "--relative-to= --relative-base=",
    operands: "read",
    anyArgs: true,
    examples: ["realpath README.md", "realpath --relative-to=src README.md"],
  },
  {
    names: ["readlink"],
    flags:
      "-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z --zero",
    operands: "read",
    anyArgs: true,
    examples: ["readlink -f README.md"],
  },
  {
    names: ["basename"],
    flags: "-a --multiple -s= --suffix= -z --zero",
    operands: "data",
    anyArgs: true,
    examples: ["basename src/a.ts .ts", "basename -a src/a.ts README.md"],
  },
  {
    names: ["dirname"],
    flags: "-z --zero",
    operands: "data",
    anyArgs: true,
    examples: ["dirname src/a.ts"],
  },
  {
    names: [
      "md5sum",
      "sha1sum",
      "sha224sum",
      "sha256sum",
      "sha384sum",
      "sha512sum",
      "b2sum",
      "shasum",
    ],
    flags:
      "-b --binary --tag -t --text -z --zero --ignore-missing --quiet --status --strict -w --warn -l= --length= -a= --algorithm= -U --UNIVERSAL -0 --01",
    lifts: { [NAMES_FILES]: "-c --check" },
    operands: "read",
    anyArgs: true,
    examples: [
      "md5sum README.md",
      "sha256sum --tag README.md",
      "b2sum -l 64 README.md",
      "sha1sum README.md",
    ],
  },
  {
    names: ["cksum"],
    flags:
      "-a= --algorithm= -b -t -l= --length= --tag --untagged -z --zero --raw --base64 --ignore-missing --quiet --status --strict -w --warn --debug",
    lifts: { [NAMES_FILES]: "-c --check" },
    operands: "read",
    anyArgs: true,
    examples: ["cksum README.md", "cksum -a sha256 README.md"],
  },
  {
    names: ["sum"],
    flags: "-r -s --sysv",
    operands: "read",
    anyArgs: true,
    examples: ["sum -r README.md"],
  },
];
