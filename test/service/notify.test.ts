/** What the service manager hears, and which variables of its the daemon takes for its own. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  inheritedSocket,
  serviceNotices,
  watchdogIntervalMs,
} from "../../daemon/service/notify.ts";
import { Receiver } from "./receiver.ts";

describe("notices", () => {
  let manager: Receiver;
  beforeEach(() => {
    manager = new Receiver();
  });
  afterEach(() => manager.close());

  test("say ready, reloading with the time, status and stopping, a datagram each", () => {
    const problems: string[] = [];
    const environment: Record<string, string | undefined> = { NOTIFY_SOCKET: manager.path };
    const notices = serviceNotices(environment, (reason) => problems.push(reason));
    notices.ready();
    notices.reloading(12_345n);
    notices.status("two\nlines");
    notices.stopping();
    expect(manager.all().map(String)).toEqual([
      "READY=1\n",
      "RELOADING=1\nMONOTONIC_USEC=12345\n",
      "STATUS=two lines\n",
      "STOPPING=1\n",
    ]);
    expect(problems).toEqual([]);
  });

  test("leave no variable by which a program of the daemon's could speak in its name", () => {
    const environment: Record<string, string | undefined> = { NOTIFY_SOCKET: manager.path };
    serviceNotices(environment, () => {});
    expect(environment).toEqual({});
  });

  test("go to nobody where no manager started it", () => {
    const problems: string[] = [];
    serviceNotices({}, (reason) => problems.push(reason)).ready();
    expect(problems).toEqual([]);
  });

  test("that do not arrive are a problem to tell of, not one to die of", () => {
    const problems: string[] = [];
    const tell = (reason: string) => problems.push(reason);
    serviceNotices({ NOTIFY_SOCKET: "/nonexistent/notify" }, tell).ready();
    serviceNotices({ NOTIFY_SOCKET: "relative" }, tell).ready();
    serviceNotices({ NOTIFY_SOCKET: `/${"x".repeat(200)}` }, tell).ready();
    expect(problems).toEqual([
      "nobody takes /nonexistent/notify",
      "not the address of a Unix socket: relative",
      `too long for a Unix socket: /${"x".repeat(200)}`,
    ]);
  });
});

test.each([
  [{}, null],
  [{ WATCHDOG_USEC: "30000000" }, 15_000],
  [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "77" }, 15_000],
  [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "78" }, null],
  [{ WATCHDOG_USEC: "0" }, null],
  [{ WATCHDOG_USEC: "soon" }, null],
])("the watchdog of %j is told every %s ms", (environment, expected) => {
  expect(watchdogIntervalMs(environment, 77)).toBe(expected);
});

describe("a socket that the manager holds", () => {
  test("is the first descriptor after the standard ones, and meant for this process only", () => {
    const meant = { LISTEN_PID: "77", LISTEN_FDS: "1", LISTEN_FDNAMES: "admin" };
    expect(inheritedSocket(meant, 77)).toBe(3);
    expect(meant).toEqual({});
    expect(inheritedSocket({ LISTEN_PID: "78", LISTEN_FDS: "1" }, 77)).toBeNull();
    expect(inheritedSocket({}, 77)).toBeNull();
  });

  test("is one: which of several would be the admin's cannot be told", () => {
    expect(() => inheritedSocket({ LISTEN_PID: "77", LISTEN_FDS: "2" }, 77)).toThrow(/2 sockets/);
  });
});
