/** Which hosts and ports a person reads in a command, and so allows with it. */
import { expect, test } from "vitest";
import { namedEndpoints } from "../../daemon/supervisor/endpoints.ts";
import { judged } from "../policy/judged.ts";

test.each([
  ["curl -s http://files.example/x", ["files.example"]],
  ["curl -s http://files.example:8080/x https://b.example", ["files.example:8080", "b.example"]],
  ["curl http://files.example/ http://files.example:81/", ["files.example", "files.example:81"]],
  ["curl http://notfiles.example/ -d files.example:99", ["notfiles.example"]],
  ["git clone http://files.example:8080/repo.git", ["files.example:8080"]],
  ["git clone https://user@files.example/repo.git", []],
  ["git clone 'https://files.example\\@b.example/x'", []],
  ["git clone 'https://*.example.org/x'", []],
  ["npm install left-pad", []],
  ["cat http://files.example/x", []],
  ["curl http://2130706433/", []],
  ['curl "http://$HOST/"', []],
])("%s", (command, endpoints) => expect(namedEndpoints(judged(command))).toEqual(endpoints));
