/** A whole segment: the command word, redirects, assignments, words with several values, and declared forms. */

import { expect, describe as group, test } from "vitest";
import type { Description } from "../../../daemon/policy/catalogue/description.ts";
import { newDraft } from "../../../daemon/policy/catalogue/draft.ts";
import { applyForm } from "../../../daemon/policy/catalogue/form.ts";
import type { Form } from "../../../daemon/policy/catalogue/spec.ts";
import type { EnvAssignment, Redirect, Word } from "../../../daemon/policy/shell/segment.ts";
import { describeWords, segmentOf, tellDescription, wordsOf } from "./told.ts";

const word = (text: string): Word => wordsOf(text)[0] as Word;
const oneOf = (...values: string[]): Word => ({
  text: "$f",
  value: { kind: "oneOf", values },
  quoted: false,
});

function redirected(kind: Redirect["kind"], target: string, line = "cat"): string[] {
  const redirect: Redirect = { kind, fd: 1, both: false, target: word(target) };
  return tellDescription(describeWords(wordsOf(line), { redirects: [redirect] }));
}

group("the command word", () => {
  const told = (line: string): string[] => tellDescription(describeWords(wordsOf(line)));
  test("an unknown verb is not known and lifts", () => {
    expect(told("frobnicate x")).toEqual([
      "unknown verb",
      "unknown",
      "lift frobnicate is not in the catalogue",
    ]);
  });
  test("a word that is not sure is no verb", () => {
    expect(told("<?> x")).toEqual([
      "unknown verb",
      "unknown",
      "lift the command word <?> is not known",
    ]);
    expect(told("ca* x")).toEqual([
      "unknown verb",
      "unknown",
      "lift the command word ca* is not known",
    ]);
  });
  test("a path is a program of its own, except in the system's folders", () => {
    expect(told("./ls")).toEqual(["run ./ls code"]);
    expect(told("bin/ls -l")).toEqual(["run bin/ls code"]);
    expect(told("/usr/bin/ls")).toEqual(["read cwd"]);
    expect(told("/usr/bin/../bin/ls")).toEqual(["run /usr/bin/../bin/ls code"]);
    expect(told("/usr/bin/frobnicate")[0]).toBe("unknown verb");
  });
  test("a program of the project reaches at least what its name says", () => {
    expect(told("venv/bin/pkill node")).toEqual(["run venv/bin/pkill code", "process"]);
    expect(told("./git add -A")).toEqual(["run ./git code", "git-write cwd tree"]);
    expect(told("./rm -rf x")).toEqual(["run ./rm code"]);
  });
  test("each value of a command word is judged", () => {
    expect(tellDescription(describeWords([oneOf("cat", "rm"), word("x")]))).toEqual([
      "read x",
      "write x",
    ]);
  });
});

group("redirects", () => {
  test("reads and writes are named", () => {
    expect(redirected("read", "in")).toEqual(["read in", "read"]);
    expect(redirected("write", "out")).toEqual(["write out", "read"]);
    expect(redirected("append", "/etc/x")).toEqual(["write /etc/x", "read"]);
    expect(redirected("readwrite", "f")).toEqual(["read f", "write f", "read"]);
  });
  test("streams and copies of descriptors are nothing", () => {
    for (const target of ["/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "/dev/fd/3"])
      expect(redirected("write", target)).toEqual(["read"]);
    for (const target of ["1", "2-", "-"]) expect(redirected("dup", target)).toEqual(["read"]);
  });
  test("a copy to a word is a file", () => {
    expect(redirected("dup", "out")).toEqual(["read out", "write out", "read"]);
    expect(redirected("dup", "<?>")).toEqual(["read ?", "write ?", "read"]);
  });
  test("other devices are files", () => {
    expect(redirected("write", "/dev/sda")).toEqual(["write /dev/sda", "read"]);
    expect(redirected("write", "/dev/null/../sda")).toEqual(["write /dev/null/../sda", "read"]);
  });
  test("the sockets of bash are the network", () => {
    expect(redirected("write", "/dev/tcp/203.0.113.9/443")).toEqual([
      "network 203.0.113.9",
      "read",
    ]);
    expect(redirected("read", "/dev/udp/x.invalid/53")).toEqual(["network x.invalid", "read"]);
    expect(redirected("readwrite", "/dev/tcp/localhost/3000")).toEqual([
      "loopback localhost",
      "read",
    ]);
    expect(redirected("readwrite", "/dev/tcp/127.0.0.1.x.invalid/3000")[0]).toBe(
      "network 127.0.0.1.x.invalid",
    );
  });
});

group("assignments", () => {
  const env = (name: string, value: string | null, more: Partial<EnvAssignment> = {}): string[] => {
    const assignment = {
      name,
      value: value === null ? null : word(value),
      append: false,
      exported: true,
      ...more,
    };
    return tellDescription(
      describeWords(more.exported === false ? [] : wordsOf("cat a"), { env: [assignment] }),
    );
  };
  test("harmless ones pass, the others lift", () => {
    expect(env("CI", "1")).toEqual(["read a"]);
    expect(env("PYTHONPATH", "src:/etc")).toEqual(["read src tree", "read /etc tree", "read a"]);
    for (const [name, value] of [
      ["LD_PRELOAD", "./x.so"],
      ["PATH", "."],
      ["GIT_DIR", "x"],
      ["CI", "<?>"],
      ["BASH_ENV", "x"],
    ] as const)
      expect(env(name, value)).toEqual([
        "read a",
        `lift environment variable ${name} can change what runs or where`,
      ]);
  });
  test("what is added to a value is not known", () => {
    expect(env("CI", "1", { append: true })).toHaveLength(2);
  });
  test("a variable of the shell alone touches nothing", () => {
    expect(env("S", "/etc", { exported: false })).toEqual([]);
    expect(env("PATH", ".", { exported: false })).toEqual([
      "lift environment variable PATH can change what runs or where",
    ]);
  });
});

group("words with several values", () => {
  test("each value is read as the verb would", () => {
    expect(tellDescription(describeWords([word("sort"), oneOf("a", "-oout")]))).toEqual([
      "read a",
      "write out",
    ]);
    expect(tellDescription(describeWords([...wordsOf("sort --"), oneOf("a", "-oout")]))).toEqual([
      "read a",
      "read -oout",
    ]);
  });
  test("a long list of names stays one word; one option among them does not hide", () => {
    const names = Array.from({ length: 200 }, (_, i) => `f${i}`);
    expect(describeWords([word("wc"), oneOf(...names)]).uses).toHaveLength(1);
    expect(tellDescription(describeWords([word("sort"), oneOf(...names, "-oout")])).at(-1)).toBe(
      "write out",
    );
  });
  test("too many combinations are not known", () => {
    const many = oneOf(...Array.from({ length: 16 }, (_, i) => `f${i}`));
    const description = describeWords([word("cat"), many, many, many]);
    expect([description.known, description.lifts]).toEqual([false, ["too many possible words"]]);
  });
});

group("declared forms", () => {
  const apply = (form: Form, line: string): string[] => {
    const words = wordsOf(line);
    const segment = segmentOf(words);
    const draft = newDraft("verb");
    applyForm(form, words, draft, {
      segment,
      segments: [segment],
      localBins: undefined,
      catalogue: new Map(),
    });
    return [draft.form, ...tellDescription(draft as Description)];
  };
  const form: Form = {
    flags: "-q",
    chdirs: "-C=",
    shared: true,
    sub: {
      "list ls": { operands: "read", bare: "cwd" },
      add: { writes: "-o=", class: "git-write", inCwd: "write", operands: "data" },
      deep: { sub: { one: { operands: "none" } } },
    },
    noSub: { bare: "cwd" },
  };
  test("sub-commands have their own options, and the shared ones", () => {
    expect(apply(form, "-q list a")).toEqual(["verb list", "read a"]);
    expect(apply(form, "ls -q")).toEqual(["verb ls", "read cwd"]);
    expect(apply(form, "list -o x")).toEqual([
      "verb list",
      "read x",
      "lift unknown option -o of verb list",
    ]);
    expect(apply(form, "add -o x")).toEqual(["verb add", "write x", "git-write cwd tree"]);
    expect(apply(form, "deep one -q x")).toEqual([
      "verb deep one",
      "lift operand x of verb deep one",
    ]);
  });
  test("a sub-command that is not in the table lifts", () => {
    expect(apply(form, "purge")).toEqual([
      "verb",
      "lift sub-command purge of verb is not in the catalogue",
    ]);
    expect(apply(form, "<?>")[1]).toContain("lift");
    expect(apply(form, "")).toEqual(["verb", "read cwd"]);
  });
  test("a folder that the verb moves to is where its paths begin", () => {
    expect(apply(form, "-C sub list ../x")).toEqual([
      "verb list",
      "read sub tree",
      "read sub/../x",
    ]);
    expect(apply(form, "-C sub list /x")).toEqual(["verb list", "read sub tree", "read /x"]);
    expect(apply(form, "-C a -C b list")).toEqual([
      "verb list",
      "read a tree",
      "read a/b tree",
      "read a/b",
    ]);
    expect(apply(form, "-C <?> list x")).toEqual(["verb list", "read ? tree", "read ?"]);
    expect(apply(form, "-C sub list x/*.md")).toEqual(["verb list", "read sub tree", "read ?"]);
    expect(apply(form, "-C sub add")).toEqual(["verb add", "read sub tree", "git-write sub tree"]);
  });
});

test("a lister prints names and nothing else", () => {
  const listers = ["ls", "ls -a src", "find . -type f", "grep -rl x .", "rg --files", "fd x"];
  const others = [
    "ls -l",
    "ls -F",
    "find . -ls",
    "find . -printf %s",
    "grep -r x .",
    "rg x",
    "fd -l",
    "cat a",
  ];
  const lists = (line: string): boolean => describeWords(wordsOf(line)).lister === true;
  expect([...listers, ...others].filter(lists)).toEqual(listers);
});
