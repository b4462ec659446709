/** Keeps the tree tidy: which folder may know which, what is pure, and the habits every file keeps. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LINES_MAX = 400;

/** Folders of daemon/ (and entry files), and what each may import besides itself, errors.ts and the limits. */
const ARROWS: Readonly<Record<string, { readonly to: readonly string[]; readonly why: string }>> = {
  policy: {
    to: [],
    why: "the policy decides from what it is told; whatever it imported, it could look at",
  },
  authority: { to: ["policy"], why: "grants are judged in the policy's words and nothing else's" },
  settings: { to: ["policy", "authority"], why: "settings are values for everybody above" },
  sandbox: {
    to: ["settings", "policy", "authority"],
    why: "a sandbox is made from settings; it must not know who asked for it",
  },
  worktree: {
    to: ["settings", "policy", "authority"],
    why: "the watcher reports facts; it must not know what follows from them",
  },
  egress: {
    to: ["settings", "policy", "authority"],
    why: "the proxy enforces grants it is handed",
  },
  journal: {
    to: ["settings", "policy", "authority"],
    why: "the record must not depend on what it records",
  },
  supervisor: {
    to: ["sandbox", "worktree", "egress", "journal", "settings", "policy", "authority"],
    why: "use cases stand below every way to call them, so that the API and MCP are the same thing",
  },
  api: {
    to: [
      "supervisor",
      "sandbox",
      "worktree",
      "egress",
      "journal",
      "settings",
      "policy",
      "authority",
    ],
    why: "the API translates; the command line must not be needed to serve it",
  },
  mcp: {
    to: ["api/client", "api/schema"],
    why: "MCP is a client of the API like the command line: another way to the same use cases, not one round its checks",
  },
  cli: {
    to: ["api/client", "api/schema"],
    why: "the command line is a client like any other: what it can do, every program can do over the socket",
  },
  service: {
    to: [],
    why: "what the service manager is told is nobody else's concern",
  },
  "errors.ts": { to: [], why: "everybody imports it" },
  "limits.ts": { to: [], why: "everybody imports it" },
  "limits-observing.ts": { to: [], why: "everybody imports it" },
  "limits-authority.ts": { to: [], why: "everybody imports it" },
  "limits-journal.ts": { to: [], why: "everybody imports it" },
};

/** Parts of the command line that work without a daemon, and what they need for that. */
const CLI_ALONE: readonly { readonly file: RegExp; readonly to: readonly string[] }[] = [
  // `policy check`, `profile check` and `contract check` judge with no daemon there.
  { file: /^cli\/policy/, to: ["policy", "settings", "worktree"] },
  { file: /^cli\/profile-check/, to: ["policy", "settings"] },
  { file: /^cli\/contract-check/, to: ["authority", "settings"] },
  // `image build` and `doctor` are what one runs before the daemon can start.
  { file: /^cli\/image/, to: ["sandbox", "settings"] },
  { file: /^cli\/doctor/, to: ["sandbox", "settings", "worktree"] },
  // `mcp` serves on standard streams what the daemon serves on its socket.
  { file: /^cli\/mcp/, to: ["mcp"] },
  // `journal verify`, `export`, `prune` and `repair` on the file are for when the daemon does not start.
  { file: /^cli\/journal-file/, to: ["journal"] },
  // Where the sockets are is said in the config.
  { file: /^cli\/(?:context|agent)/, to: ["settings"] },
];

const LIMITS = ["limits-observing.ts", "limits.ts", "limits-authority.ts", "limits-journal.ts"];
const WIRING = new Set(["main.ts", "wiring.ts", "cli.ts", "shell.ts"]);

interface Source {
  /** Below the checkout. */
  readonly path: string;
  readonly text: string;
}

function sources(folder: string, extension = /\.(?:ts|mjs|c|h)$/): Source[] {
  return readdirSync(posix.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => extension.test(name) && !name.includes("node_modules"))
    .map((name) => posix.join(folder, name))
    .map((path) => ({ path, text: readFileSync(posix.join(ROOT, path), "utf8") }));
}

const DAEMON = sources("daemon", /\.ts$/);
const ALL = [...sources("daemon"), ...sources("scripts"), ...sources("test")];

/** Files that a file imports, as paths below daemon/; packages are left out. */
function imported({ path, text }: Source): string[] {
  return specifiers(text)
    .filter((name) => name.startsWith("."))
    .map((name) => posix.relative("daemon", posix.join(dirname(path), name)));
}

function specifiers(text: string): string[] {
  const statement =
    /^(?:import|export)\s(?:[^"'`;()]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...text.matchAll(statement)].map(([, name, called]) => (name ?? called) as string);
}

function folderOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] as string) : file;
}

describe("arrows go down only", () => {
  test("every folder is known here, so that a new one gets its place", () => {
    const known = new Set([...Object.keys(ARROWS), ...WIRING]);
    const here = new Set(DAEMON.map(({ path }) => folderOf(path.slice("daemon/".length))));
    expect([...here].filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(Object.keys(ARROWS))("%s", (folder) => {
    const arrow = ARROWS[folder];
    const wrong = DAEMON.flatMap((source) => {
      const file = source.path.slice("daemon/".length);
      if (folderOf(file) !== folder) return [];
      const alone = CLI_ALONE.filter((part) => part.file.test(file)).flatMap(({ to }) => to);
      const may = [folder, "errors.ts", ...LIMITS, ...(arrow?.to ?? []), ...alone];
      return imported(source)
        .filter((target) => !may.some((allowed) => target === allowed || within(target, allowed)))
        .map((target) => `${source.path} imports daemon/${target}: ${arrow?.why}`);
    });
    expect(wrong).toEqual([]);
  });

  test("nothing imports the entry files, which only put the parts together", () => {
    const wrong = DAEMON.flatMap((source) =>
      imported(source)
        .filter((target) => WIRING.has(target) && !WIRING.has(basename(source.path)))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("no file loads itself through others: neither could be understood alone", () => {
    const graph = new Map(
      DAEMON.map(({ path, text }) => {
        // A type has no moment at which it must be there first.
        const values = text.replace(/^(?:import|export) type [^"]*"[^"]+"/gm, "");
        return [path.slice("daemon/".length), imported({ path, text: values })];
      }),
    );
    expect(circles(graph)).toEqual([]);
  });
});

/** `api/client` allows `api/client.ts`, `api/client-stream.ts` and `api/client/…`, not `api/clients-only.ts`. */
function within(target: string, allowed: string): boolean {
  if (!target.startsWith(allowed)) return false;
  return ["/", "-", "."].includes(target.charAt(allowed.length));
}

function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at !== -1) found.push([...way.slice(at), file].join(" → "));
    if (at !== -1 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

/** What makes an answer depend on more than the arguments. A9: the decision does no I/O. */
const IMPURE: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /\bnew Date\b|\bDate\.|\bDate\(/, what: "the clock; take `now: number`" },
  { pattern: /\bperformance\b/, what: "the clock; take `now: number`" },
  { pattern: /\bMath\.random\b/, what: "randomness; take it as an argument" },
  { pattern: /(?<!\.)\bcrypto\./, what: "randomness; take it as an argument" },
  { pattern: /\bprocess\.|\bglobalThis\b/, what: "the environment; take settings" },
  { pattern: /\bconsole\./, what: "output; return a value" },
  { pattern: /\bfetch\(/, what: "the network" },
  { pattern: /\bset(?:Timeout|Interval|Immediate)\(/, what: "the clock" },
  { pattern: /^(?:export )?(?:let|var) /m, what: "state that outlives a call" },
  { pattern: /\bimport\(|\brequire\(/, what: "loading code while deciding" },
];
/** Packages that only turn text or values into values. */
const PURE_PACKAGES = new Set(["unbash", "yaml", "zod"]);

test.each(["policy", "authority"])("A9: %s is pure", (folder) => {
  const wrong = DAEMON.filter(({ path }) => path.startsWith(`daemon/${folder}/`)).flatMap(
    ({ path, text }) => [
      ...specifiers(text)
        .filter((name) => !name.startsWith(".") && !PURE_PACKAGES.has(name))
        .map((name) => `${path} imports ${name}, which can do I/O`),
      ...IMPURE.filter(({ pattern }) => pattern.test(bare(text))).map(
        ({ pattern, what }) => `${path} uses ${pattern}: ${what}`,
      ),
    ],
  );
  expect(wrong).toEqual([]);
});

/** The code without comments and without what strings and patterns say: the policy talks about processes a lot. */
function bare(text: string): string {
  const token =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(=,:[!&|?{};\s])\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
  return text.replace(token, (part) => (/^["'`]/.test(part) ? '""' : " "));
}

describe("every source file", () => {
  test("says in its first line what it is for", () => {
    const purpose = /^\/\*\* \S.*\S(?:\.| \*\/)?$/;
    const wrong = ALL.filter(({ path, text }) => {
      const [first = "", second = ""] = text.split("\n");
      if (/\.[ch]$/.test(path)) return !/^\/\*\*? \S/.test(first);
      // A first sentence may be too long for one line.
      if (first === "/**") return !/^ \* \S/.test(second);
      return !purpose.test(first.startsWith("#!") ? second : first);
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test("is short enough to read in one go", () => {
    const long = ALL.filter(({ text }) => text.trimEnd().split("\n").length > LINES_MAX);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test("is named for the thing it holds", () => {
    const vague =
      /^(?:index|utils?|helpers?|managers?|misc|common|shared)$|-(?:utils?|helpers?|manager)$/;
    const wrong = ALL.map(({ path }) => path).filter((path) => {
      const name = basename(path).replace(/(?:\.test)?\.[a-z]+$/, "");
      return vague.test(name) || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
    });
    expect(wrong).toEqual([]);
  });
});

/** Where a plain Error may be thrown, and why nobody ever meets it. */
const UNSEEN_ERRORS: Readonly<Record<string, string>> = {
  "daemon/journal/database.ts": "caught in the same function, which says what was being opened",
  "daemon/policy/catalogue/registry.ts":
    "two declarations of one verb: found when the program is loaded",
  "daemon/policy/catalogue/spec.ts": "an option declared twice: found when the program is loaded",
};

test("every error that people or programs meet is one of the catalogue in errors.ts", () => {
  // TypeError and RangeError say that our own code called something wrongly; they become `internal`. A class of a
  // module's own, by which a parser gives up, is caught in that module.
  const plain = /\b(?:throw|reject\() ?new Error\(|\bthrow ["'`{]/;
  const wrong = DAEMON.filter(
    ({ path, text }) => plain.test(text) && UNSEEN_ERRORS[path] === undefined,
  ).map(({ path }) => `${path} throws what has no code, no status and no next step`);
  expect(wrong).toEqual([]);
});

describe("committed files", () => {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" })
    .split("\0")
    .filter((name) => name !== "");

  test("name no path of the machine they were written on", () => {
    const here = ROOT.replace(/\/$/, "");
    // A checkout in a folder like /src says nothing about where a text came from.
    const telling = here.split("/").length > 2 && here.length > 8;
    expect(files.filter((file) => telling && read(file).includes(here))).toEqual([]);
  });

  test("name no package registry: the lock file has to work with anybody's", () => {
    const registry = execFileSync("npm", ["config", "get", "registry"], {
      cwd: ROOT,
      encoding: "utf8",
    }).trim();
    const { host } = new URL(registry);
    const naming = files.filter((file) => read(file).includes(host));
    const resolved = [...read("package-lock.json").matchAll(/"resolved": "https?:/g)];
    expect({ naming, resolved }).toEqual({ naming: [], resolved: [] });
  });

  test("ask for exact versions, so that everybody builds the same thing", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<
      string,
      Record<string, string>
    >;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

function read(file: string): string {
  try {
    return readFileSync(posix.join(ROOT, file), "utf8");
  } catch {
    // Deleted and not yet committed so.
    return "";
  }
}
