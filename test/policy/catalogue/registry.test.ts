/** The catalogue as a whole: every table can be built, and every example passes by itself. */

import { expect, it } from "vitest";
import { pythonModules } from "../../../daemon/policy/catalogue/python-tools.ts";
import { catalogue, verbTable } from "../../../daemon/policy/catalogue/registry.ts";
import { type Form, optionTable } from "../../../daemon/policy/catalogue/spec.ts";
import { told } from "./told.ts";

/** Builds the option table of a form and of all below it. */
function build(form: Form): number {
  const below = [...Object.values(form.sub ?? {}), form.otherSub, form.noSub];
  return below.reduce(
    (sum, each) => sum + (each === undefined ? 0 : build(each)),
    optionTable(form).size,
  );
}

it.each([...new Set(catalogue.values())].map((spec) => [spec.names[0], spec] as const))(
  "the options of %s are listed once each",
  (_name, spec) => {
    expect(build(spec)).toBeGreaterThanOrEqual(0);
  },
);

it("the forms of `python -m` are listed once each", () => {
  expect(
    Object.values(pythonModules)
      .map(build)
      .every((size) => size >= 0),
  ).toBe(true);
});

it.each([...new Set(catalogue.values())].flatMap((spec) => spec.examples))(
  "%s has nothing that lifts",
  (line) => {
    expect(told(line).filter((each) => /^(lift|unknown)/.test(each))).toEqual([]);
  },
);

it("the table of the documentation has a row for every verb, in order", () => {
  const rows = verbTable().map(({ verb }) => verb);
  expect(rows).toEqual([...rows].sort());
  expect(rows.length).toBeGreaterThan(300);
});
