/** sed scripts: what passes is only editing; GNU sed's own sandbox mode is the oracle. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sedProgram } from "../../../daemon/policy/catalogue/sed-program.ts";

const PASS = [
  "1,120p",
  "$p",
  "/export/,/}/p",
  "/export/I,+3{p;q}",
  "0,/x/s/a/b/",
  "0~3d",
  "2,~4p",
  "\\%x%,\\|y|p",
  "10q",
  "s/a/b/ ; s/c/d/",
  "s|a\\|b|c|2gp",
  "s,x,y,I;s#e#w#",
  "s/a/b\\\nc/",
  "s/[^/]*$//",
  ":a;N;$!ba;s/\\n/ /g",
  "$!N;/^\\(.*\\)\\n\\1$/!P;D",
  "1!G;h;$!d",
  "y/abc/wre/",
  "a hello; e id",
  "a\\\nhello\\\nw out\np",
  "/x/i\\  w out",
  "/^$/d # w out",
  "#n\np",
  "w /dev/stdout",
  "s/a/b/w /dev/stderr\np",
  "/a/{/b/!{s/x/y/}}",
  "l 5;=;z;F",
  "v 4.2",
];

const REFUSE: readonly [script: string, reason: string][] = [
  ["w /tmp/out", "sed `w` writes /tmp/out"],
  ["1!w out", "sed `w` writes out"],
  ["W out", "sed `w` writes out"],
  ["s/a/b/w out.txt", "sed `w` writes out.txt"],
  ["s/a/b/gpw out.txt", "sed `w` writes out.txt"],
  ["s/a/b/w /dev/stdout ", "sed `w` writes /dev/stdout "],
  ["w /dev/stdout;e id", "sed `w` writes /dev/stdout;e id"],
  ["w", "sed `w` writes a file"],
  ["s/x/id/e", "sed `s///e` runs a program"],
  ["s/x/id/ge", "sed `s///e` runs a program"],
  ["s/x/id/ e", "sed `s///e` runs a program"],
  ["s e a e b e", "sed delimiter is not common punctuation"],
  ["seaebee", "sed delimiter is not common punctuation"],
  ["e id", "sed `e` runs a program"],
  ["1e", "sed `e` runs a program"],
  ["/a/,/b/!{p;e id\n}", "sed `e` runs a program"],
  ["p;e id", "sed `e` runs a program"],
  ["a x\ne id", "sed `e` runs a program"],
  ["a\\\nx\ne id", "sed `e` runs a program"],
  ["a\\\\\ne id", "sed text begins with a backslash"],
  ["# note\\\ne id", "sed `e` runs a program"],
  [":a e id", 'sed script has "e" where a command should end'],
  ["r /etc/passwd", "sed `r` reads another file"],
  ["1R /etc/shadow", "sed `R` reads another file"],
  ["$!{$!R /etc/shadow\n}", "sed `R` reads another file"],
  ["s/[/]/e;e id/;e id", "sed `e` runs a program"],
  ["s/[\\]/]/x/;e id", "sed bracket can be read in two ways"],
  ["s/[[.a.]/]/x/", "sed bracket can be read in two ways"],
  ["s/a/b", "sed script ends too early"],
  ["s/a\nb/c/", "sed expression has a line break"],
  ["1,p", "sed address range is not complete"],
  ["/a/I e", "sed `e` runs a program"],
  ["}", "sed script has a stray }"],
  ["{p", "sed script has an unclosed {"],
  ["k", 'sed command "k" is not known'],
  ["p\0e id", "sed script has a control character"],
];

describe("sed programs (B5)", () => {
  it.each(PASS)("%j only edits and passes", (script) => {
    expect(sedProgram(script)).toEqual({ ok: true });
    expect(complaint(script.replace(/w \/dev\/std\w+/g, "p"))).toBe("");
  });

  it.each(REFUSE)("%j is refused", (script, reason) => {
    expect(sedProgram(script)).toEqual({ ok: false, reason });
  });

  const piece = fc.constantFrom(
    ..."sywWrReaic{}pPdDqlbtT:;\n#!,~+$0129/|\\ \t[]&ngIMxF=".split(""),
    "s/",
    "/g",
    "\\\n",
    "s|a|b|",
    "/x/",
    "a\\",
    "a x\n",
    "e id",
    "w f",
    "\\%",
    "{p;",
  );
  const wild = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const tame = fc.tuple(fc.constantFrom(...PASS), fc.nat(), wild).map(([script, at, noise]) => {
    const cut = at % (script.length + 1);
    return script.slice(0, cut) + noise + script.slice(cut);
  });

  /** Every text of up to `length` of these letters between `before` and `after`: where readings could differ. */
  it.each([
    ["a", "\\ \nx", ["\ne id", ";e id"]],
    ["s/", "[]\\/^:", ["/x/;e id", "]/x/;e id", "e id/p"]],
    [":a", "}\n ;#", ["e id"]],
    ["{ba", "}\n ;#", ["e id}"]],
    ["s/a/", "\\\n/x", ["/e", "/;e id"]],
    ["1", ",+~1/ \\I", ["e id"]],
  ])("after %j no small text hides a command", (before, letters, afters) => {
    for (const after of afters) {
      for (const text of texts(letters, 3)) {
        const script = before + text + after;
        const said = sedProgram(script).ok ? complaint(script) : "";
        expect([script, said.includes("sandbox")]).toEqual([script, false]);
      }
    }
  });

  it("nothing that passes has an e, r or w for `sed --sandbox` to refuse", () => {
    fc.assert(
      fc.property(fc.oneof(wild, tame), (script) => {
        fc.pre(!script.includes("/dev/std"));
        if (sedProgram(script).ok) expect(complaint(script)).not.toMatch(/sandbox/);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 1_500) },
    );
  });
});

/** What GNU sed says in its sandbox mode: nothing when it runs the script. */
function complaint(script: string): string {
  return spawnSync("sed", ["--sandbox", "-n", "-e", script], { input: "", encoding: "utf8" })
    .stderr;
}

function texts(letters: string, length: number): string[] {
  if (length === 0) return [""];
  const shorter = texts(letters, length - 1);
  return ["", ...[...letters].flatMap((letter) => shorter.map((rest) => letter + rest))];
}
