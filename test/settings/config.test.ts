/** The config file: defaults, faults with their place, and what the environment may set. */
import { expect, test } from "vitest";
import { parseConfig } from "../../daemon/settings/config.ts";

const DEFAULTS = {
  roles: [],
  runDir: "/run/recinto",
  stateDir: "/var/lib/recinto",
  profilesDir: "/etc/recinto/profiles",
  projectsDir: "/etc/recinto/projects",
  rulesDir: "/etc/recinto/rules",
  adminGroup: null,
  engineSocket: "/var/run/docker.sock",
  agentsShareApproverUid: false,
  watcher: "watch",
  logLevel: "info",
};

test("an empty file is the defaults, and by them nobody may approve but root", () => {
  expect(parseConfig("", "c.yaml")).toEqual(DEFAULTS);
  expect(parseConfig("# nothing yet\n", "c.yaml")).toEqual(DEFAULTS);
});

test("what the file says holds", () => {
  const text = "runDir: /tmp/r\nadminGroup: recinto\nwatcher: chokidar\n";
  expect(parseConfig(text, "c.yaml")).toEqual({
    ...DEFAULTS,
    runDir: "/tmp/r",
    adminGroup: "recinto",
    watcher: "chokidar",
  });
});

test.each([
  ["rundir: /x", 'c.yaml:1:1: unknown key "rundir"'],
  ["\nrunDir: run", "c.yaml:2:9: runDir: must be an absolute path without . or .."],
  ["stateDir: /a/../etc", "c.yaml:1:11: stateDir: must be an absolute path without . or .."],
  [
    "agentsShareApproverUid: 1",
    "c.yaml:1:25: agentsShareApproverUid: invalid input: expected boolean, received number",
  ],
  ["adminGroup: a b", "c.yaml:1:13: adminGroup: must be the name of a group"],
])("%j is refused", (text, message) => {
  expect(() => parseConfig(text, "c.yaml")).toThrow(message);
});

test("B2: the environment sets the denial limits, over the file", () => {
  const environment = { RECINTO_MAX_CONSECUTIVE_DENIALS: "5", RECINTO_MAX_TOTAL_DENIALS: "50" };
  expect(parseConfig("maxTotalDenials: 7", "c.yaml", environment)).toEqual({
    ...DEFAULTS,
    maxConsecutiveDenials: 5,
    maxTotalDenials: 50,
  });
});

test.each(["0", "-1", "3.5", "many", "99999999999"])("a limit of %s is refused", (value) => {
  const environment = { RECINTO_MAX_TOTAL_DENIALS: value };
  expect(() => parseConfig("", "c.yaml", environment)).toThrow(
    `RECINTO_MAX_TOTAL_DENIALS=${value}: must be a whole number from 1 up`,
  );
});
