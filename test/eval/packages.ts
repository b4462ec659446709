/** Suite D's packages: published tarballs that ship tests which plain Node runs, pinned by content, and a change to each. */

export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** Of the tarball, as the registry states it. */
  readonly integrity: string;
}

/** A piece of text that goes behind the line that holds `after`, or to the end; a file that is not there is made. */
export interface Change {
  readonly file: string;
  readonly after?: string;
  /** One line, without single quotes and backslashes. */
  readonly text: string;
}

export interface PackageTask extends Tarball {
  readonly needs?: readonly Tarball[];
  readonly tests: readonly string[];
  /** The source, and what shows in the package's own tests that it works. */
  readonly source: Change;
  readonly test: Change;
  readonly commit: string;
}

const DEQUAL: Tarball = {
  name: "dequal",
  version: "2.0.3",
  integrity:
    "sha512-0je+qPKHEMohvfRTCEo3CrPG6cAzAYgmzKyxRiYSSDkS6eGJdyVJm7WaYA5ECaAD9wLB2T4EEeymA5aFVcYXCA==",
};
const COLOR_NAME: Tarball = {
  name: "color-name",
  version: "1.1.3",
  integrity:
    "sha512-72fSenhMw2HZMTVHeCA9KCmpEIbzWiQsjN+BHcBbS9vr1mtt+vJjPdksIBNUmKAW8TFUDPJK5SUU3QhE9NEXDw==",
};

export const PACKAGES: readonly PackageTask[] = [
  {
    name: "acorn",
    version: "0.11.0",
    integrity:
      "sha512-fvlA412hssF7l+22DIRlhXUKIuUz9Z9IrCMn/gPyWx90R75X/xB4SsqU8Y1vhiq9xd72P6duzQn5kKojqFN6cw==",
    tests: ["node", "test/run.js"],
    source: {
      file: "acorn.js",
      after: "exports.version = ",
      text: "  exports.isDigit = function(code) { return code >= 48 && code <= 57; };",
    },
    test: {
      file: "test/tests.js",
      text: 'if (!require("../acorn.js").isDigit(48)) throw new Error("isDigit");',
    },
    commit: "Tell digits",
  },
  {
    name: "color-convert",
    version: "0.5.3",
    integrity:
      "sha512-RwBeO/B/vZR3dfKL1ye/vx8MHZ40ugzpyfeVG5GsiuGnrlMWe2o8wxBbLCpw9CsxV+wHuzYlCiWnybrIA0ling==",
    tests: ["node", "test/basic.js"],
    source: {
      file: "index.js",
      text: "\nconvert.luma = function(rgb) { return Math.round((rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114) / 1000); };",
    },
    test: { file: "test/basic.js", text: "\nassert.equal(convert.luma([255, 255, 255]), 255);" },
    commit: "Add luma",
  },
  {
    ...COLOR_NAME,
    tests: ["node", "test.js"],
    source: { file: "index.js", after: "module.exports = {", text: '\t"slate": [112, 128, 144],' },
    test: { file: "test.js", text: "\nassert.deepEqual(names.slate, [112,128,144]);" },
    commit: "Name slate",
  },
  {
    name: "color-string",
    version: "0.3.0",
    integrity:
      "sha512-sz29j1bmSDfoAxKIEU6zwoIZXN6BrFbAMIhfYCNyiZXBDuU/aiHlN84lp/xDzL2ubyFhLDobHIlU1X70XRrMDA==",
    needs: [COLOR_NAME],
    tests: ["node", "test/basic.js"],
    source: {
      file: "color-string.js",
      after: "getRgba: getRgba,",
      text: "   isOpaque: function (text) { return getAlpha(text) === 1; },",
    },
    test: { file: "test/basic.js", text: '\nassert.equal(string.isOpaque("#fff"), true);' },
    commit: "Tell opaque colours",
  },
  {
    name: "colors",
    version: "0.6.2",
    integrity:
      "sha512-OsSVtHK8Ir8r3+Fxw/b4jS1ZLPXkV6ZxDRJQzeD7qo0SqMXWrHDM71DgYzPMHY8SFJ0Ao+nNU2p1MmwdzKqPrw==",
    tests: ["node", "test.js"],
    source: {
      file: "colors.js",
      text: "\nexports.isPlain = function (text) { return exports.stripColors(text) === text; };",
    },
    test: { file: "test.js", text: '\nassert.ok(colors.isPlain("plain"));' },
    commit: "Tell plain text",
  },
  {
    name: "esprima",
    version: "1.0.4",
    integrity:
      "sha512-rp5dMKN8zEs9dfi9g0X1ClLmV//WRyk/R15mppFNICIFRG5P92VP7Z04p8pk++gABo9W2tY+kHyu6P1mEHgmTA==",
    tests: ["node", "test/run.js"],
    source: {
      file: "esprima.js",
      after: "exports.parse = parse;",
      text: "    exports.isDigit = function (ch) { return ch >= 48 && ch <= 57; };",
    },
    test: {
      file: "test/run.js",
      text: 'if (!require("../esprima").isDigit(48)) { throw new Error("isDigit"); }',
    },
    commit: "Tell digits",
  },
  {
    name: "inherits",
    version: "2.0.1",
    integrity:
      "sha512-8nWq2nLTAwd02jTqJExUYFSD/fKq6VH9Y/oG2accc/kdI0V98Bag8d5a4gi3XHz73rDWa2PvTtvcWYquKqSENA==",
    tests: ["node", "test.js"],
    source: {
      file: "inherits.js",
      text: "module.exports.parentOf = function (ctor) { return ctor.super_ }",
    },
    test: { file: "test.js", text: "assert(inherits.parentOf(Child) === Parent)" },
    commit: "Tell the parent",
  },
  {
    name: "json-schema-ref-resolver",
    version: "2.0.1",
    integrity:
      "sha512-HG0SIB9X4J8bwbxCbnd5FfPEbcXAJYTi1pBJeP/QPON+w8ovSME8iRG+ElHNxZNX2Qh6eYn1GdzJFS4cDFfx0Q==",
    needs: [DEQUAL],
    tests: ["node", "--test"],
    source: {
      file: "index.js",
      text: "\nmodule.exports.getDataByJSONPointer = getDataByJSONPointer",
    },
    test: {
      file: "test/json-pointer.test.js",
      text: 'require("node:assert").strictEqual(require("../").getDataByJSONPointer({ a: 1 }, "#/a"), 1)',
    },
    commit: "Export the pointer look-up",
  },
  {
    name: "@fastify/merge-json-schemas",
    version: "0.2.0",
    integrity:
      "sha512-9ql2tM7wdn7McvOg1V799G6/M6N5MM/Exp9SQvy8rld3xO07YhpxT9taR6vy7FU8o3ppU6M19M7P6GURP5RsPA==",
    needs: [DEQUAL],
    tests: ["node", "--test"],
    source: { file: "index.js", text: "module.exports.keywords = Object.keys(keywordsResolvers)" },
    test: {
      file: "test/keywords.test.js",
      text: 'require("node:assert").ok(require("../").keywords.includes("type"))',
    },
    commit: "List the keywords",
  },
  {
    name: "mime",
    version: "1.2.11",
    integrity:
      "sha512-Ysa2F/nqTNGHhhm9MV8ure4+Hc+Y8AWiqUdHxsO7xu8zc92ND9f3kpALHjaP026Ft17UfxrMt95c50PLUeynBw==",
    tests: ["node", "test.js"],
    source: {
      file: "mime.js",
      text: 'mime.isText = function(path) { return mime.lookup(path).indexOf("text/") === 0; };',
    },
    test: { file: "test.js", text: 'assert.ok(mime.isText("a.txt"));' },
    commit: "Tell text",
  },
  {
    name: "node-uuid",
    version: "1.4.7",
    integrity:
      "sha512-1ufwSb+P48JyWDskpICvUCAXNaIFcNeln/hhg6yViwOoJ6g26SfaFoYIuGu0grRUsxqeJkC2aq5wAxXo1bT/FA==",
    tests: ["node", "test/test.js"],
    source: {
      file: "uuid.js",
      after: "uuid._nodeRNG = _nodeRNG;",
      text: "  uuid.isNil = function(text) { return /^[0-]+$/.test(text); };",
    },
    test: {
      file: "test/test.js",
      text: 'if (!uuid.isNil("00000000-0000-0000-0000-000000000000")) throw new Error("isNil");',
    },
    commit: "Tell the nil id",
  },
  {
    name: "@pinojs/redact",
    version: "0.4.0",
    integrity:
      "sha512-k2ENnmBugE/rzQfEcdWHcCY+/FM3VLzH9cYEsbdsoqrvzAKRhUZeRNhAZvB8OitQJ1TBed3yqWtdjzS6wJKBwg==",
    // The other two compare it with a package that is not there.
    tests: [
      "node",
      "--test",
      "test/index.test.js",
      "test/multiple-wildcards.test.js",
      "test/prototype-pollution.test.js",
      "test/selective-clone.test.js",
    ],
    source: {
      file: "index.js",
      text: 'module.exports.isWild = (path) => path.includes("*")',
    },
    test: {
      file: "test/index.test.js",
      text: 'test("isWild", () => { assert.ok(slowRedact.isWild("a.*")) })',
    },
    commit: "Tell wildcards",
  },
  {
    name: "quick-format-unescaped",
    version: "4.0.4",
    integrity:
      "sha512-tYC1Q1hgyRuHgloV/YXs2w15unPVh8qfu/qCTfhTYamaw7fyhumKa2yGpdSo87vY32rIclj+4fWYQXUMs9EHvg==",
    tests: ["node", "test/index.js"],
    source: {
      file: "index.js",
      text: "module.exports.placeholders = (text) => text.split(/%[sdifjoOc]/).length - 1",
    },
    test: { file: "test/index.js", text: 'assert.equal(format.placeholders("%d and %s"), 2)' },
    commit: "Count placeholders",
  },
  {
    name: "rc",
    version: "1.2.8",
    integrity:
      "sha512-y3bGgqKj3QBdxLbLkomlohkvsA8gdAiUQlSBJnBhfn+BPxg4bc62d8TcBW15wavDfgexCgccckhcZvywyQYPOw==",
    needs: [
      {
        name: "deep-extend",
        version: "0.6.0",
        integrity:
          "sha512-LOHxIOaPYdHlJRtCQfDIVZtfw/ufM8+rVj649RIHzcm/vGwQRXFt6OPqIFWsm2XEMrNIEtWR64sY1LEKD2vAOA==",
      },
      {
        name: "ini",
        version: "1.3.8",
        integrity:
          "sha512-JV/yugV2uzW5iMRSiZAyDtQd+nxtUnjeLt0acNdw98kKLrvuRVyB80tsREOE7yvGVgalhZ6RNXCmEHkUKBKxew==",
      },
      {
        name: "minimist",
        version: "1.2.8",
        integrity:
          "sha512-2yyAR8qBkN3YuheJanUpWC5U3bb5osDywNB8RzDVlDwDHbocAJveqqj1u8+SVD7jkWT4yvsHCpWqqWqAxb0zCA==",
      },
      {
        name: "strip-json-comments",
        version: "2.0.1",
        integrity:
          "sha512-4gB8na07fecVVkOI6Rs4e7T6NOTki5EmL7TUduTs6bu3EdnSycntVJ4re8kgZA+wx9IueI2Y11bfbgwtzuE0KQ==",
      },
    ],
    // Its other tests write into the folder they are started in.
    tests: ["node", "test/ini.js"],
    source: {
      file: "lib/utils.js",
      text: "exports.names = function (config) { return Object.keys(config).sort() }",
    },
    test: {
      file: "test/ini.js",
      text: 'assert.deepEqual(require("../lib/utils").names({ b: 1, a: 2 }), ["a", "b"])',
    },
    commit: "List the names",
  },
  {
    name: "source-map",
    version: "0.1.43",
    integrity:
      "sha512-VtCvB9SIQhk3aF6h+N85EaqIaBFIAfZ9Cu+NJHHVvc8BbEcnvDcFw6sqQ2dQrT6SlOrZq3tIvyD9+EGq/lJryQ==",
    needs: [
      {
        name: "amdefine",
        version: "1.0.1",
        integrity:
          "sha512-S2Hw0TtNkMJhIabBwIojKL9YHO5T0n5eNqWJ7Lrlel/zDbftQpxpapi8tZs3X1HWa+u+QeydGmzzNU0m09+Rcg==",
      },
    ],
    tests: ["node", "test/run-tests.js"],
    source: {
      file: "lib/source-map/util.js",
      after: "exports.compareByGeneratedPositions = compareByGeneratedPositions;",
      text: '  exports.isRelative = function (path) { return path.charAt(0) !== "/"; };',
    },
    test: {
      file: "test/source-map/test-relative.js",
      text: 'exports["test isRelative"] = function (assert) { assert.ok(require("../../lib/source-map/util").isRelative("a")); };',
    },
    commit: "Tell relative paths",
  },
];
