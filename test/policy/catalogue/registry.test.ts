/** The catalogue as a whole: every example passes, every verb is known, no two families claim a name. */

import { expect, test } from "vitest";
import { buildCatalogue, catalogue, verbTable } from "../../../daemon/policy/catalogue/registry.ts";
import { type Form, optionTable } from "../../../daemon/policy/catalogue/spec.ts";
import { describeWords, told, wordsOf } from "./told.ts";

const specs = [...new Set(catalogue.values())];

test.each(specs.map((spec) => [spec.names.join(" "), spec] as const))(
  "every example of %s passes without a lift",
  (_names, spec) => {
    const lifted = spec.examples.filter((example) =>
      told(example).some((line) => /^(lift|unknown)/.test(line)),
    );
    expect(lifted).toEqual([]);
  },
);

test("a verb without examples is never a plain read", () => {
  const reads = specs
    .filter((spec) => spec.examples.length === 0)
    .flatMap((spec) => {
      const { uses, lifts } = describeWords(wordsOf(spec.names[0] as string));
      return lifts.length === 0 && uses.every((use) => use.class === "read") ? spec.names : [];
    });
  expect(reads).toEqual([]);
});

test("a verb that may follow unknown words is a read that no option turns into more", () => {
  const wrong = specs.filter((spec) => spec.anyArgs && (spec.writes ?? spec.codes ?? "") !== "");
  expect(wrong.map((spec) => spec.names)).toEqual([]);
});

test("no form lists an option twice", () => {
  const faults: string[] = [];
  const visit = (name: string, form: Form): void => {
    try {
      optionTable(form);
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`);
    }
    for (const [sub, inner] of Object.entries(form.sub ?? {})) visit(`${name} ${sub}`, inner);
  };
  for (const spec of specs) visit(spec.names[0] as string, spec);
  expect(faults).toEqual([]);
});

test("two families that claim one name are refused", () => {
  const verb = { names: ["x"], examples: [] };
  expect(() => buildCatalogue([[verb], [{ names: ["y", "x"], examples: [] }]])).toThrow(
    "two families declare the verb x",
  );
});

test("B4: the commands of the read-only list are in the catalogue", () => {
  const names =
    "ls ll cat head tail less more wc file stat du df find tree realpath readlink basename dirname md5sum sha256sum grep egrep fgrep rg ag awk sed sort uniq cut tr diff comm jq yq xmllint uname hostname whoami id date uptime env printenv which whereis type echo printf pwd true false test [ nl xxd od hexdump tac rev fold column paste join seq strings cmp sha1sum cksum base64";
  expect(names.split(" ").filter((name) => !catalogue.has(name))).toEqual([]);
});

test("the table for the documentation has each verb once and tells its class and lifting options", () => {
  const rows = verbTable();
  expect(rows.find((row) => row.verb === "cat")).toEqual({
    verb: "cat",
    class: "read",
    note: "",
    lifting: [],
  });
  expect(rows.find((row) => row.verb === "uniq")).toEqual({
    verb: "uniq",
    class: "write",
    note: "a second operand is written",
    lifting: [],
  });
  expect(new Set(rows.map((row) => row.verb)).size).toBe(rows.length);
});
