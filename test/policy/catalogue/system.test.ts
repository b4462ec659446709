/** Verbs about the machine: what sets, signals or never ends is not a read. */

import { expect, test } from "vitest";
import { told } from "./told.ts";

test.each<[string, string[]]>([
  ["date", ["read"]],
  ["date +%s", ["read"]],
  ["date -r a +%F", ["read a"]],
  ["date -s 2020-01-01", ["read", "lift -s of date sets the clock"]],
  ["date --se=x", ["read", "lift --set of date sets the clock"]],
  ["date -us x", ["read", "lift -s of date sets the clock"]],
  ["date 010203042020", ["read", "lift operand 010203042020 of date sets the clock"]],
  ["date -- 0102", ["read", "lift operand 0102 of date sets the clock"]],
  ["hostname", ["read"]],
  ["hostname -s", ["read"]],
  ["hostname evil", ["read", "lift operand evil of hostname"]],
  ["hostname -F x", ["read", "lift -F of hostname sets the name"]],
  ["uname -a", ["read"]],
  ["id root", ["read"]],
  ["env", ["read"]],
  ["env ls", ["read", "lift env runs its words"]],
  ["env -S 'rm x'", ["read", "lift -S of env splits text into a command"]],
  ["printenv PATH", ["read"]],
  ["ps aux", ["read"]],
  ["top -bn1", ["read"]],
  ["top", ["read", "lift top without -b and -n never ends"]],
  ["ss -K", ["read", "lift -K of ss closes sockets"]],
  ["ss -D out", ["write out"]],
  ["vmstat 1", ["read", "lift vmstat with an interval and no count never ends"]],
  ["lsof -r", ["read", "lift -r of lsof never ends"]],
  ["kill -9 1", ["process"]],
  ["kill -l", ["read"]],
  ["kill -0 12", ["read"]],
  ["kill -0 -9 12", ["process"]],
  ["pkill node", ["process"]],
  [
    "sysctl -w a=1",
    [
      "read",
      "lift -w of sysctl changes the machine",
      "lift operand a=1 of sysctl changes the machine",
    ],
  ],
  ["xargs rm", ["read", "lift xargs runs a command that is not known"]],
])("%s", (line, want) => {
  expect(told(line)).toEqual(want);
});
