/** awk programs: what passes only computes and prints; the machine's own awk shows that nothing else happens. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { awkProgram } from "../../../daemon/policy/catalogue/awk-program.ts";

const PASS = [
  "{print $1}",
  "NR>=10 && NR<=20",
  "$3 > 5",
  "!seen[$0]++",
  '/foo/,/bar/ {print FILENAME ":" FNR ": " $0}',
  "{s+=$1} END{print s/NR}",
  "{print $1/2, $2 /3; x /= 2}",
  "{ if ($1 > 2) print; else next }",
  '{print ($1 > 5 ? "a" : "b")}',
  '{printf "%s\\n", $1 > "/dev/stderr"}',
  '{gsub(/[\\/"]/,"x"); print}',
  "{n = split($0, parts, /[:alpha:]|\\//)} n > 1",
  "function f(x) {return x*2} {print f($1)}",
  "NR==FNR{a[$1];next} ($1 in a)",
  'BEGIN{FS=":"} {while ((getline line) > 0) n++}',
  "{ for (i = 1; i <= NF; i++) if ($i ~ /x|y/) print i }\n# done",
  "length($0) > 80",
  'BEGIN { print ENVIRON["HOME"]; close("x") }',
];

const REFUSE: readonly [program: string, reason: string][] = [
  ['BEGIN{system("id")}', "awk `system` runs a program"],
  ['BEGIN{system ("id")}', "awk `system` runs a program"],
  ['BEGIN{sys\\\ntem("id")}', "awk function tem is not known"],
  [
    '{if (x) /"/ ; system("id") #"/ }',
    "awk has a / after a condition, which can be read in two ways",
  ],
  ['{x = y++ /"/ ; system("id") #"/ }', "awk has a / after ++, which can be read in two ways"],
  ['{print > "out.txt"}', "awk output redirect writes a file"],
  ['{print >> "out.txt"}', "awk output redirect writes a file"],
  ["{print $1,\n$2 > $3}", "awk output redirect writes a file"],
  ["{print (1)(2) > x}", "awk output redirect writes a file"],
  ['{print > "/dev/stdout" ".txt"}', "awk output redirect writes a file"],
  ['{print > "/dev/stdo\\ut"}', "awk output redirect writes a file"],
  ['{print x > "/inet/tcp/0/localhost/80"}', "awk output redirect writes a file"],
  ['{print | "sh"}', "awk pipe runs a program"],
  ['{print |& "sh"}', "awk pipe runs a program"],
  ['BEGIN{"date" | getline x}', "awk pipe runs a program"],
  ['BEGIN{while((getline l < "/etc/passwd")>0) print l}', "awk `getline <` reads another file"],
  ['BEGIN{while((getline l) < "/etc/passwd") print l}', "awk `getline <` reads another file"],
  ['BEGIN{getline a[1] < "/etc/passwd"}', "awk `getline <` reads another file"],
  ['BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} {print}', "awk can add files to read through ARGV"],
  ['@load "filefuncs"', 'awk has "@", which is not known'],
  ['@include "x.awk"', 'awk has "@", which is not known'],
  ['BEGIN{f="system"; @f("id")}', 'awk has "@", which is not known'],
  ["BEGIN{awk::system()}", "awk `system` runs a program"],
  ["BEGIN{chdir(1)}", "awk function chdir is not known"],
  ["{print length / 2}", "awk has a / after length, which can be read in two ways"],
  ['/[/"]/{print}', "awk regular expression can be read in two ways"],
  ['/[]"/]/{print}', "awk regular expression can be read in two ways"],
  ["{print", "awk program has an unclosed bracket"],
  ["{`id`}", 'awk has "`", which is not known'],
  ["{print}\r", 'awk has "\\r", which is not known'],
];

describe("awk programs (B5)", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "recinto-awk-"));
    writeFileSync(join(folder, "in"), "a b 3\n/x/ 2\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(PASS)("%j only computes and prints", (program) => {
    expect(awkProgram(program)).toEqual({ ok: true });
  });

  it.each(REFUSE)("%j is refused", (program, reason) => {
    expect(awkProgram(program)).toEqual({ ok: false, reason });
  });

  const piece = fc.constantFrom(
    ...'{}()[];\n/>|<,$+-=!~?:" \\#'.split(""),
    "print ",
    "print>",
    "getline ",
    'system("touch f1")',
    '"f2"',
    '"touch f3"',
    "a",
    "a[1]",
    "f(",
    "1",
    "/x/",
    '/"/',
    "/[/]/",
    "if(1)",
    "while(0)",
    "BEGIN{",
    "++",
    "/=",
    ">>",
    "length",
    "in ",
    "return ",
    '> "f4"',
    '| "touch f5"',
    '#"/',
  );
  const wild = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(""));
  const tame = fc
    .tuple(fc.constantFrom(...PASS, ...REFUSE.map(([program]) => program)), fc.nat(), wild)
    .map(([program, at, noise]) => {
      const cut = at % (program.length + 1);
      return program.slice(0, cut) + noise + program.slice(cut);
    });

  it("no program that passes leaves a file when it is run", () => {
    fc.assert(
      fc.property(fc.oneof(wild, tame), (program) => {
        if (!awkProgram(program).ok) return;
        spawnSync("awk", [program, "in"], { cwd: folder, input: "", timeout: 300 });
        expect([program, readdirSync(folder)]).toEqual([program, ["in"]]);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 1_500) },
    );
  });
});
