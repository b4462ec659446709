/** Verbs that take text apart and put it together: streams in, standard output out. */

import { lastValue, textOf, type VerbSpec } from "./spec.ts";

export const text: readonly VerbSpec[] = [
  {
    names: ["sort", "gsort"],
    flags:
      "-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse --sort= -V --version-sort --batch-size= -c -C --check=? --debug -k= --key= -m --merge -s --stable -S= --buffer-size= -t= --field-separator= --parallel= -u --unique -z --zero-terminated",
    reads: "--random-source=",
    writes: "-o= --output= -T= --temporary-directory=",
    lifts: {
      "runs a program": "--compress-program=",
      "reads the files that a file names": "--files0-from=",
    },
    operands: "read",
    examples: ["sort README.md", "sort -t: -k1,1 -rn README.md", "sort -u --reverse README.md"],
  },
  {
    names: ["uniq"],
    note: "a second operand is written",
    flags:
      "-c --count -d --repeated -D --all-repeated=? -f= --skip-fields= --group=? -i --ignore-case -s= --skip-chars= -u --unique -z --zero-terminated -w= --check-chars=",
    digits: true,
    operands: { lead: ["read", "write"] },
    examples: ["uniq -c README.md", "uniq -f 1 -d README.md"],
  },
  {
    names: ["cut"],
    flags:
      "-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -n --complement -s --only-delimited --output-delimiter= -z --zero-terminated",
    operands: "read",
    anyArgs: true,
    examples: ["cut -d: -f1 README.md", "cut -c 1-3 README.md"],
  },
  {
    names: ["tr"],
    flags: "-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1",
    operands: "data",
    anyArgs: true,
    examples: ["tr a-z A-Z", "tr -d '\\n'"],
  },
  {
    names: ["diff"],
    flags:
      "--normal -q --brief -s --report-identical-files -c -C= --context=? -u -U= --unified=? -e --ed -n --rcs -y --side-by-side -W= --width= --left-column --suppress-common-lines -p --show-c-function -F= --show-function-line= -L= --label= -t --expand-tabs -T --initial-tab --tabsize= --suppress-blank-empty -r --recursive --no-dereference -N --new-file -P --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x= --exclude= -S= --starting-file= -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -I= --ignore-matching-lines= -a --text --strip-trailing-cr -D= --ifdef= --line-format= --old-line-format= --new-line-format= --unchanged-line-format= --old-group-format= --new-group-format= --unchanged-group-format= --changed-group-format= -d --minimal --horizon-lines= --speed-large-files --color=? --palette= -H -v",
    reads: "-X= --exclude-from=",
    trees: "--from-file= --to-file=",
    lifts: { "starts pr": "-l --paginate" },
    follows: "-r --recursive",
    followsUnless: "--no-dereference",
    digits: true,
    operands: "tree",
    examples: [
      "diff README.md src/a.ts",
      "diff -ru src src",
      "diff -q --strip-trailing-cr src src",
      "diff -U3 README.md src/a.ts",
    ],
  },
  {
    names: ["cmp"],
    flags:
      "-b --print-bytes -i= --ignore-initial= -l --verbose -n= --bytes= -s --quiet --silent -v",
    operands: { lead: ["read", "read", "data", "data"] },
    anyArgs: true,
    examples: ["cmp README.md src/a.ts", "cmp -s README.md README.md"],
  },
  {
    names: ["comm"],
    flags:
      "-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total -z --zero-terminated",
    operands: "read",
    anyArgs: true,
    examples: ["comm -12 README.md README.md"],
  },
  {
    names: ["nl"],
    flags:
      "-b= --body-numbering= -d= --section-delimiter= -f= --footer-numbering= -h= --header-numbering= -i= --line-increment= -l= --join-blank-lines= -n= --number-format= -p --no-renumber -s= --number-separator= -v= --starting-line-number= -w= --number-width=",
    operands: "read",
    anyArgs: true,
    examples: ["nl -ba README.md", "nl -w2 -s: README.md"],
  },
  {
    names: ["tac"],
    flags: "-b --before -r --regex -s= --separator=",
    operands: "read",
    anyArgs: true,
    examples: ["tac README.md"],
  },
  {
    names: ["rev"],
    flags: "-0 --zero -h -V",
    operands: "read",
    anyArgs: true,
    examples: ["rev README.md"],
  },
  {
    names: ["fold"],
    flags: "-b --bytes -c --characters -s --spaces -w= --width=",
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: ["fold -s -w 40 README.md", "fold -40 README.md"],
  },
  {
    names: ["fmt"],
    flags:
      "-c --crown-margin -p= --prefix= -s --split-only -t --tagged-paragraph -u --uniform-spacing -w= --width= -g= --goal=",
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: ["fmt -w 60 README.md"],
  },
  {
    names: ["column"],
    flags:
      "-t --table -n= --table-name= -O= --table-order= -N= --table-columns= -l= --table-columns-limit= -C= --table-column= -E= --table-noextreme= -d --table-noheadings -e --table-header-repeat -H= --table-hide= -R= --table-right= -T= --table-truncate= -W= --table-wrap= -m --table-maxout -L --keep-empty-lines -J --json -r= --tree= -i= --tree-id= -p= --tree-parent= -c= --output-width= -o= --output-separator= -s= --separator= -x --fillrows -h -V",
    operands: "read",
    anyArgs: true,
    examples: ["column -t README.md", "column -s: -t README.md"],
  },
  {
    names: ["paste"],
    flags: "-d= --delimiters= -s --serial -z --zero-terminated",
    operands: "read",
    anyArgs: true,
    examples: ["paste -sd, README.md", "paste README.md README.md"],
  },
  {
    names: ["join"],
    flags:
      "-a= -e= -i --ignore-case -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header -z --zero-terminated",
    operands: "read",
    anyArgs: true,
    examples: ["join -t: README.md README.md"],
  },
  {
    names: ["expand", "unexpand"],
    flags: "-a --all --first-only -i --initial -t= --tabs=",
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: ["expand -t4 README.md", "unexpand -a README.md"],
  },
  {
    names: ["seq"],
    flags: "-f= --format= -s= --separator= -w --equal-width",
    digits: true,
    operands: "data",
    anyArgs: true,
    examples: ["seq 3", "seq -w 1 2 9", "seq -s, 5"],
  },
  {
    names: ["shuf"],
    flags: "-e --echo -i= --input-range= -n= --head-count= -r --repeat -z --zero-terminated",
    reads: "--random-source=",
    writes: "-o= --output=",
    operands: "read",
    examples: ["shuf -n 2 README.md", "shuf -i 1-9"],
  },
  { names: ["tsort"], operands: "read", anyArgs: true, examples: ["tsort README.md"] },
  {
    names: ["numfmt"],
    flags:
      "--debug -d= --delimiter= --field= --format= --from= --from-unit= --grouping --header=? --invalid= --padding= --round= --suffix= --to= --to-unit= -z --zero-terminated",
    digits: true,
    operands: "data",
    anyArgs: true,
    examples: ["numfmt --to=iec 2048"],
  },
  {
    names: ["base64", "base32", "basenc"],
    flags:
      "-d -D --decode -i --ignore-garbage -w= --wrap= --base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --z85",
    writes: "-o= --output=",
    operands: "read",
    examples: [
      "base64 README.md",
      "base64 -w0 README.md",
      "base32 README.md",
      "basenc --base16 README.md",
    ],
  },
  {
    names: ["iconv"],
    flags: "-f= --from-code= -t= --to-code= -l --list -c -s --silent --verbose --usage -V",
    writes: "-o= --output=",
    operands: "read",
    examples: ["iconv -f utf-8 -t ascii README.md", "iconv -l"],
  },
  {
    names: ["xxd"],
    note: "a second operand is written",
    flags:
      "-a -autoskip -b -bits -C -capitalize -c= -cols= -d -E -EBCDIC -e -g= -groupsize= -h -i -include -l= -len= -n= -name= -o= -p -ps -postscript -plain -r -revert -R= -s= -seek= -skip= -u -uppercase -v -version",
    oneDash: true,
    operands: { lead: ["read", "write"] },
    lifts: {},
    examples: ["xxd README.md", "xxd -l 16 -ps README.md", "xxd -c8 README.md"],
  },
  {
    names: ["hexdump", "hd"],
    flags:
      "-b --one-byte-octal -c --one-byte-char -C --canonical -d --two-bytes-decimal -o --two-bytes-octal -x --two-bytes-hex -X -L=? --color=? -e= --format= -n= --length= -s= --skip= -v --no-squeezing -h -V",
    reads: "-f= --format-file=",
    operands: "read",
    anyArgs: true,
    examples: ["hexdump -C README.md", "hexdump -n 16 README.md"],
  },
  {
    names: ["od"],
    flags:
      "-A= --address-radix= --endian= -j= --skip-bytes= -N= --read-bytes= -S=? --strings=? -t= --format= -v --output-duplicates -w=? --width=? --traditional -a -b -c -d -D -e -f -F -h -H -i -I -l -L -o -O -s -x -X",
    operands: "read",
    anyArgs: true,
    examples: ["od -c README.md", "od -An -tx1 -N 8 README.md"],
  },
  {
    names: ["strings"],
    flags:
      "-a --all -d --data -f --print-file-name -n= --bytes= -t= --radix= -w --include-all-whitespace -o -T= --target= -e= --encoding= --unicode= -U= -s= --output-separator= -h -v -V",
    digits: true,
    lifts: { "loads a plug-in": "--plugin=" },
    operands: "read",
    refine: (parsed, draft) => {
      for (const word of parsed.operands)
        if (textOf(word)?.startsWith("@"))
          draft.lifts.push(`strings takes options from ${word.text}`);
    },
    examples: ["strings README.md", "strings -n 8 README.md"],
  },
  {
    names: ["pr"],
    flags:
      "-a --across -c --show-control-chars -d --double-space -D= --date-format= -e=? --expand-tabs=? -F -f --form-feed -h= --header= -i=? --output-tabs=? -J --join-lines -l= --length= -m --merge -n=? --number-lines=? -N= --first-line-number= -o= --indent= -r --no-file-warnings -s=? --separator=? -S=? --sep-string=? -t --omit-header -T --omit-pagination -v --show-nonprinting -w= --width= -W= --page-width= --pages= --columns=",
    digits: true,
    operands: "read",
    anyArgs: true,
    examples: ["pr -t README.md"],
  },
  {
    names: ["expr"],
    noOptions: true,
    operands: "data",
    anyArgs: true,
    examples: ["expr 1 + 2", "expr length abc"],
  },
  {
    names: ["factor"],
    flags: "-h --exponents",
    operands: "data",
    anyArgs: true,
    examples: ["factor 12"],
  },
  {
    names: ["bc"],
    flags: "-h -i --interactive -l --mathlib -q --quiet -s --standard -w --warn",
    operands: "read",
    examples: ["bc -lq pairs"],
  },
  {
    names: ["bat", "batcat"],
    note: "its pager never starts in a pipe; --pager lifts",
    flags:
      "-A --show-all --nonprintable-notation= -p --plain -l= --language= -H= --highlight-line= --file-name= -d --diff-context= --tabs= --wrap= -S --chop-long-lines --terminal-width= -n --number --color= --italic-text= --decorations= -f --force-colorization --paging= -P -m= --map-syntax= --theme= --list-themes -s --squeeze-blank --style= -r= --line-range= -L --list-languages -u --unbuffered --no-config",
    lifts: { "runs a program": "--pager= --diff --lessopen" },
    operands: "read",
    refine: (parsed, draft) => {
      if (parsed.operands.some((word) => textOf(word) === "cache"))
        draft.lifts.push("bat cache writes");
      const paging = textOf(lastValue(parsed, "--paging"));
      if (paging !== null && paging !== "never" && paging !== "auto")
        draft.lifts.push("--paging of bat starts a pager");
    },
    examples: ["bat -p README.md"],
  },
];
