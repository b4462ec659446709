/** Verbs that search: the grep family and find. */

import { use } from "./draft.ts";
import { describeFind } from "./find.ts";
import { type Form, given, lastValue, textOf, type VerbSpec } from "./spec.ts";

const DECOMPRESSES = "starts a decompressor";
const RUNS = "runs a program";

const grep: Form = {
  flags:
    "-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -i -y --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v --invert-match -V -m= --max-count= -b --byte-offset -n --line-number --line-buffered -H --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I -d= --directories= -D= --devices= -r --recursive -R --dereference-recursive --include= --exclude= --exclude-dir= -L --files-without-match -l --files-with-matches -c --count -T --initial-tab -Z --null -B= --before-context= -A= --after-context= -C= --context= --group-separator= --no-group-separator --color=? --colour=? -u --unix-byte-offsets -U --binary",
  reads: "-f= --file= --exclude-from=",
  digits: true,
  operands: { lead: ["data"], unless: "-e --regexp -f --file", rest: "read" },
  bare: "recursive",
  recursive: "-r --recursive -R --dereference-recursive",
  follows: "-R --dereference-recursive",
  lister: "-l --files-with-matches -L --files-without-match",
  anyArgs: true,
  refine: (parsed, draft) => {
    const directories = lastValue(parsed, "-d --directories");
    if (directories !== null && !["read", "skip"].includes(textOf(directories) ?? ""))
      use(draft, "read", "--directories", { cwd: true, tree: true });
  },
};

export const searching: readonly VerbSpec[] = [
  {
    ...grep,
    names: ["grep", "egrep", "fgrep"],
    examples: [
      "grep -rn TODO src",
      "grep -e one -e two README.md",
      "grep -c '' README.md",
      "grep -A3 -B 2 word README.md",
      "grep -rl --include='*.ts' export .",
      "grep -3 word README.md",
    ],
  },
  {
    ...grep,
    names: ["zgrep", "zegrep", "zfgrep"],
    note: "a script around gzip and grep",
    anyArgs: false,
    examples: ["zgrep word log.gz"],
  },
  {
    names: ["rg"],
    flags:
      "-A= --after-context= -B= --before-context= -C= --context= --auto-hybrid-regex --binary --block-buffered -b --byte-offset -s --case-sensitive --color= --colors= --column --context-separator= -c --count --count-matches --crlf --debug --dfa-size-limit= -E= --encoding= --engine= --field-context-separator= --field-match-separator= --files -l --files-with-matches --files-without-match -F --fixed-strings -L --follow --generate= --glob-case-insensitive -g= --glob= --heading -h -. --hidden --hyperlink-format= --iglob= -i --ignore-case --ignore-file-case-insensitive --include-zero -v --invert-match --json --line-buffered -n --line-number -N --no-line-number -x --line-regexp -M= --max-columns= --max-columns-preview -m= --max-count= -d= --max-depth= --maxdepth= --max-filesize= --mmap -U --multiline --multiline-dotall --no-auto-hybrid-regex --no-binary --no-block-buffered --no-column --no-config --no-context-separator --no-crlf --no-encoding --no-filename -I --no-fixed-strings --no-follow --no-glob-case-insensitive --no-heading --no-hidden --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-invert-match --no-json --no-max-columns-preview --no-messages --no-mmap --no-multiline --no-multiline-dotall --no-one-file-system --no-pcre2 --no-pcre2-unicode --no-pre --no-require-git --no-search-zip --no-stats --no-text --no-trim --no-unicode --ignore --ignore-dot --ignore-vcs --messages --require-git --unicode -0 --null --null-data --one-file-system -o --only-matching --passthru --passthrough --path-separator= -P --pcre2 --pcre2-version --pre-glob= -p --pretty -q --quiet --regex-size-limit= -e= --regexp= -r= --replace= -S --smart-case --sort= --sortr= --sort-files --stats --stop-on-nonmatch -a --text -j= --threads= --trace --trim -t= --type= -T= --type-not= --type-add= --type-clear= --type-list -u --unrestricted -V --vimgrep -H --with-filename -w --word-regexp",
    reads: "-f= --file= --ignore-file=",
    lifts: { [RUNS]: "--pre= --hostname-bin=", [DECOMPRESSES]: "-z --search-zip" },
    operands: { lead: ["data"], unless: "-e --regexp -f --file --files --type-list", rest: "tree" },
    bare: "tree",
    follows: "-L --follow",
    lister: "-l --files-with-matches --files-without-match --files",
    help: "--help -h --version -V --type-list",
    examples: [
      "rg -n word src",
      "rg --files -g '*.ts'",
      "rg -e one -e two",
      "rg -tjs word",
      "rg word -A3 src",
    ],
  },
  {
    names: ["ag"],
    flags:
      "--ackmate -A=? --after=? -B=? --before=? -C=? --context=? --break --nobreak -c --count --color --nocolor --column --filename --nofilename -f --follow --nofollow -F --fixed-strings -g --file-search-regex= -G= --group --nogroup -H --heading --noheading --hidden -i --ignore-case --ignore= --ignore-dir= -l --files-with-matches -L --files-without-matches --list-file-types -m= --max-count= --mmap --nommap --multiline --nomultiline -n --norecurse --numbers --nonumbers -o --only-matching --one-device --parallel --passthrough --passthru --print-all-files --print-long-lines -Q --literal -r --recurse -R -s --case-sensitive -S --smart-case --silent --stats --stats-only -t --all-text -u --unrestricted -U --skip-vcs-ignores -v --invert-match -V --vimgrep -w --word-regexp -W= --width= -0 --null --depth= --workers=",
    reads: "-p= --path-to-ignore=",
    lifts: { [RUNS]: "--pager=", [DECOMPRESSES]: "-z --search-zip" },
    operands: { lead: ["data"], rest: "tree" },
    bare: "tree",
    follows: "-f --follow",
    lister: "-l --files-with-matches -g",
    examples: ["ag word src", "ag -l word"],
  },
  {
    names: ["ack"],
    note: "--output is Perl code in old versions and lifts",
    flags:
      "-A= --after-context= -B= --before-context= -C=? --context=? -c --count --color --nocolor --column -f -F --follow --nofollow -g --group --nogroup -h --no-filename -H --with-filename --heading --noheading -i --ignore-case --ignore-dir= --noignore-dir= --ignore-file= -k --known-types -l --files-with-matches -L --files-without-matches -m= --max-count= --match= -n --no-recurse -o -p=? --proximate=? --passthru --print0 -Q --literal -r -R --recurse --range-start= --range-end= -s --show-types -S --smart-case --sort-files -t= --type= -T= -v --invert-match -w --word-regexp -1 --underline",
    lifts: {
      [RUNS]: "--pager=? --output=",
      "reads the files that a file names": "-x --files-from=",
      "reads other options from a file": "--ackrc= --env --noenv --dump",
    },
    operands: { lead: ["data"], unless: "-f --match", rest: "tree" },
    bare: "tree",
    follows: "--follow",
    lister: "-l --files-with-matches -f -g",
    examples: ["ack word src"],
  },
  {
    names: ["fd", "fdfind"],
    flags:
      "-H --hidden --no-hidden -I --no-ignore --ignore --no-ignore-vcs --ignore-vcs --no-ignore-parent --no-require-git --no-global-ignore-file -u --unrestricted -s --case-sensitive -i --ignore-case -g --glob --regex -F --fixed-strings --and= -a --absolute-path --relative-path -L --follow --no-follow -p --full-path -d= --max-depth= --min-depth= --exact-depth= -E= --exclude= --prune -t= --type= -e= --extension= -S= --size= --changed-within= --changed-before= --newer= --older= --change-newer-than= --change-older-than= -o= --owner= -0 --print0 --format= --batch-size= -c= --color= --hyperlink=? -j= --threads= --max-buffer-time= --max-results= -1 -q --quiet --show-errors --strip-cwd-prefix=? --path-separator= --one-file-system --mount --xdev -l --list-details",
    reads: "--ignore-file=",
    trees: "--search-path=",
    chdirs: "--base-directory= -C=",
    lifts: { [RUNS]: "-x --exec -X --exec-batch" },
    operands: { lead: ["data"], rest: "tree" },
    bare: "tree",
    follows: "-L --follow",
    lister: true,
    help: "--help -h --version -V",
    refine: (parsed, draft) => {
      // `-l` starts ls with paths that fd found.
      if (given(parsed, "-l --list-details")) draft.lister = false;
    },
    examples: ["fd", "fd -e ts", "fd -t f README", "fd a src"],
  },
  {
    names: ["find", "gfind"],
    note: "-exec only of a verb that any arguments leave a read",
    custom: describeFind,
    examples: [
      "find",
      "find . -type f",
      "find src -maxdepth 2 -name '*.ts' -not -path './node_modules/*'",
      "find . \\( -name a.ts -o -name README.md \\) -print0",
      "find . -newer README.md -printf '%p\\n'",
      "find . -type f -size +1k -mtime -7 -ls",
      "find . -name '*.md' -exec grep -l word {} +",
    ],
  },
];
