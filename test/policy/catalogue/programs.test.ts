/** Verbs with a program of their own, and text verbs: which forms write, run or read elsewhere (B5). */

import { expect, test } from "vitest";
import { told } from "./told.ts";

test.each<[string, string[]]>([
  ["sort README.md", ["read README.md"]],
  ["sort -oREADME.md README.md", ["write README.md", "read README.md"]],
  ["sort -uo out a", ["write out", "read a"]],
  ["sort a -o out", ["write out", "read a"]],
  ["sort --outp=x a", ["write x", "read a"]],
  ["sort -- -o a", ["read -o", "read a"]],
  ["sort --compress-program=./x a", ["read a", "lift --compress-program of sort runs a program"]],
  ["sort --comp ./x a", ["read a", "lift --compress-program of sort runs a program"]],
  ["sort -T /tmp a", ["write /tmp", "read a"]],
  [
    "sort --files0-from=x",
    ["read", "lift --files0-from of sort reads the files that a file names"],
  ],
  ["sort *.txt", ["read *.txt", "lift *.txt may be an option of sort"]],
  ["sort src/*.txt", ["read src/*.txt"]],
  ["sort --x a", ["read a", "lift unknown option --x of sort"]],
  ["uniq -c a", ["read a"]],
  ["uniq in out", ["read in", "write out"]],
  ["uniq - out", ["write out"]],
  ["uniq a b c", ["read a", "write b", "lift operand c of uniq"]],
  ["cut -d: -f1 list", ["read list"]],
  ["tr a b", ["read"]],
  ["diff a b", ["read a tree", "read b tree"]],
  ["diff --to-file=/etc/passwd a", ["read /etc/passwd tree", "read a tree"]],
  ["diff -ul a b", ["read a tree", "read b tree", "lift -l of diff starts pr"]],
  ["base64 -o out in", ["write out", "read in"]],
  ["base64 -d a", ["read a"]],
  ["xxd -r in out", ["read in", "write out"]],
  ["xxd -l 16 -ps in", ["read in"]],
  ["xxd -c8 in", ["read in"]],
  ["iconv -f a -t b -o out in", ["write out", "read in"]],
  ["od -An -tx1 a", ["read a"]],
  ["shuf -o out a", ["write out", "read a"]],
  ["sed -n 1,120p a", ["read a"]],
  ["sed -ne 1p -e 2p a", ["read a"]],
  ["sed -n <#> a", ["read a", "lift the program of sed is not known"]],
  [
    "sed <?> a",
    ["read a", "lift <?> may be an option of sed", "lift the program of sed is not known"],
  ],
  ["sed -i s/a/b/ a", ["read a", "write a"]],
  ["sed -i.bak s/a/b/ a", ["read a", "write a"]],
  ["sed -Ei s/a/b/ a", ["read a", "write a"]],
  ["sed s/a/b/ a --in-place", ["read a", "write a"]],
  ["sed --in-pl=.b s/a/b/ a", ["read a", "write a"]],
  [
    "sed -i'/tmp/*' s/a/b/ a",
    ["read a", "write a", "lift sed -i keeps its copy in another folder"],
  ],
  ["sed -f x a", ["read a", "lift -f of sed takes its program from a file"]],
  ["sed --fil x p a", ["read p", "read a", "lift --file of sed takes its program from a file"]],
  ["awk '{print $1}' a", ["read a"]],
  ["awk -F: -v n=/etc/x '{print n}' a b=/c", ["read a"]],
  ["awk -f x a", ["read", "lift -f of awk takes its program from a file"]],
  ["gawk -l ./x.so 1", ["read", "lift -l of gawk loads code"]],
  ["gawk -i inplace 1 a", ["read a", "lift -i of gawk loads code"]],
  ["awk 1 -f /etc/passwd", ["read -f", "read /etc/passwd"]],
  ["jq .a x.json", ["read x.json"]],
  ["jq -rc --arg a /etc/passwd '.[$a]' x.json", ["read x.json"]],
  ["jq --slurpfile a /etc/passwd .a x.json", ["read /etc/passwd", "read x.json"]],
  ["jq -n --args .a /etc/x", ["read"]],
  ["jq -f x.jq a.json", ["read a.json", "lift option -f of jq"]],
  ["jq -L /etc .a", ["read .a", "lift option -L of jq"]],
  ["yq .a x.yaml", ["read x.yaml"]],
  ["yq -i .a=1 x.yaml", ["read x.yaml", "write x.yaml"]],
  [
    "yq eval -n 'load(\"/etc/passwd\")'",
    ['read load("/etc/passwd")', "lift yq: its program says `load`, which can reach other files"],
  ],
  ["xmllint --noout a.xml", ["read a.xml"]],
  ["xmllint --output x a.xml", ["write x", "read a.xml"]],
  ["xmllint --shell a.xml", ["read a.xml", "lift --shell of xmllint is a shell"]],
])("%s", (line, want) => {
  expect(told(line)).toEqual(want);
});

test.each<[string, string]>([
  ["sed 's/a/b/e' a", "run"],
  ["sed 's/a/b/w out' a", "write"],
  ["sed -n '1R /etc/shadow' a", "read"],
  ["sed -n 'w /tmp/out' a", "write"],
  ["awk '{print > \"out\"}' a", "redirect"],
  ["awk '{print | \"sh\"}' a", "pipe"],
  ["awk 'BEGIN{system(\"id\")}'", "system"],
  ["jq 'import \"/etc/x\" as $x; $x' a", "import"],
])("the program of %s lifts", (line) => {
  expect(told(line).filter((each) => each.startsWith("lift"))).toHaveLength(1);
});
