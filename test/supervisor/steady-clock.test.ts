/** A clock that is set back gives nobody more time. */
import { expect, test } from "vitest";
import { SteadyClock } from "../../daemon/supervisor/steady-clock.ts";

function machine(wall: number) {
  const time = { wall, monotonic: 500 };
  const pass = (ms: number) => {
    time.wall += ms;
    time.monotonic += ms;
  };
  const clock = new SteadyClock({ wall: () => time.wall, monotonic: () => time.monotonic });
  return { time, pass, clock };
}

test("follows the machine, and goes on by what has really passed while the machine is set back", () => {
  const { time, pass, clock } = machine(1_000_000);
  pass(10);
  expect(clock.now()).toBe(1_000_010);
  time.wall -= 3_600_000;
  expect(clock.now()).toBe(1_000_010);
  pass(5_000);
  expect(clock.now()).toBe(1_005_010);
  pass(0.6);
  expect([clock.now(), clock.now()]).toEqual([1_005_010, 1_005_010]);
  pass(0.6);
  expect(clock.now()).toBe(1_005_011);
  time.wall += 3_600_100;
  expect(clock.now()).toBe(time.wall);
});

test("does not begin before what is on record, and says by how much the machine is behind it", () => {
  const { pass, clock } = machine(1_000_000);
  expect(clock.notBefore(999_000)).toBe(0);
  expect(clock.notBefore(1_060_000)).toBe(60_000);
  pass(1_000);
  expect(clock.now()).toBe(1_061_000);
});
