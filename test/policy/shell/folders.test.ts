/** The effective working folder (A1, A8): a `cd` may fail, and moves only the shell it is in. */

import { describe, expect, test } from "vitest";
import { last, segments } from "./reading.ts";

describe("cd", () => {
  const cases: Record<string, string> = {
    "cd src && v": "v @ /w/src",
    "cd src; v": "v @ /w or /w/src",
    "cd src\nv": "v @ /w or /w/src",
    "cd src || v": "v",
    "cd src & v": "v",
    "cd src | v": "v",
    "(cd src); v": "v",
    "(cd src && v)": "v @ /w/src",
    "{ cd src; } && v": "v @ /w/src",
    "! cd src || v": "v @ /w/src",
    "cd src || exit; v": "v @ /w/src",
    "cd src || { echo no; exit 1; }\nv": "v @ /w/src",
    "cd src || exit 1 2; v": "v @ /w or /w/src",
    "if cd src; then v; fi": "v @ /w/src",
    "if ! cd src; then exit 1; fi; v": "v @ /w/src",
    "true > $x || cd src; v": "v @ /w or /w/src",
    "{ true; } 2> $x || cd src; v": "v @ /w or /w/src",
    "true 2>&1 >/dev/null || cd src; v": "v",
    "cd src || exit > $x; v": "v @ /w or /w/src",
    "readonly X=a; X=b true || cd src; v": "v @ /w or /w/src",
    "cd a && cd b && v": "v @ /w/a/b",
    "cd a && cd ..; v": "v @ /w or /w/a",
    "cd a; cd ../b && v": "v @ /b or /w/b",
    "cd && v": "v @ /home/a",
    "cd ~/x && v": "v @ /home/a/x",
    "cd / && v": "v @ /",
    "cd - && v": "v @ ?",
    "cd src && cd - && v": "v",
    "cd $x && v": "v @ ?",
    "cd $x; cd /etc && v": "v @ /etc",
    "cd -P src && v": "v @ ?",
    "cd src d; v": "v",
    "cd '' && v": "v",
    "command cd src && v": "v @ /w/src",
    "builtin cd -- src && v": "v @ /w/src",
    "eval cd src && v": "v @ /w/src",
    "bash -c 'cd src'; v": "v",
    "CDPATH=/x; cd src && v": "v @ ?",
    "CDPATH=/x cd src && v": "v @ ?",
    "OLDPWD=/x; cd - && v": "v @ ?",
    "HOME=/x; cd && v": "v @ /x",
    'D=src; cd "$D/sub" && v': "v @ /w/src/sub",
    'cd "$(git rev-parse --show-toplevel)" && v': "v",
    'cd "$(dirname a/b)" && v': "v @ /w/a",
    "pushd src && v": "v @ /w/src",
    "pushd src && popd && v": "v",
    "pushd src && pushd /x && popd && v": "v @ /w/src",
    "pushd && v": "v @ ?",
    "env -C src v": "v @ /w/src",
    "cd() { :; }; cd src && v": "v",
    "./cd src && v": "v",
  };
  for (const [command, expected] of Object.entries(cases)) {
    test(JSON.stringify(command), () => expect(last(command)).toBe(expected));
  }
  test("the `cd` itself is a segment, judged where it starts", () => {
    expect(segments("cd src && cd sub && ls")).toEqual([
      "cd src",
      "cd sub @ /w/src",
      "ls @ /w/src/sub",
    ]);
  });
  test("what stands behind `exit` is read all the same", () => {
    expect(segments("exit; rm -rf src")).toEqual(["exit", "rm -rf src"]);
  });
});
