/** One task under a contract, played by a real daemon, its containers and its command line; prints what was typed and answered. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Recintod, type TestProject } from "../test/docker/recintod.ts";

export const WALK_FILE = new URL("generate/authority-walk.txt", import.meta.url);

const CONTRACT = `task: fix-greeting
phases: [implement, release]
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[bash, test.sh]]}
grants:
  source: {effect: write, paths: ["src/**"], phase: implement, closes: [tests]}
  notes: {effect: write, paths: [NOTES.md], uses: 1, approval: person}
closures:
  tests: {command: [bash, test.sh]}
deny:
  - {paths: ["**/.env"]}
`;

/** Longest wait for what the daemon does by itself. */
const PATIENCE_MS = 60_000;

/** The transcript, with ids, times and folders in one spelling, so that two runs are the same to the letter. */
export async function walk(): Promise<string> {
  const daemon = new Recintod();
  try {
    await daemon.start();
    return await new Walk(daemon, await daemon.addProject("shop", 5_007, "dev")).whole();
  } finally {
    await daemon.close();
  }
}

class Walk {
  readonly #daemon: Recintod;
  readonly #project: TestProject;
  readonly #lines: string[] = [];

  constructor(daemon: Recintod, project: TestProject) {
    this.#daemon = daemon;
    this.#project = project;
  }

  async whole(): Promise<string> {
    const daemon = this.#daemon;
    const { worktree } = this.#project;
    await this.#agent(
      "run",
      "--",
      "mkdir src && echo 'echo Helo' > src/greet.sh && touch NOTES.md",
    );
    await this.#agent("run", "--", "echo 'test \"$(bash src/greet.sh)\" = Hello' > test.sh");
    this.#lines.length = 0;
    const file = join(daemon.base, "fix-greeting.yaml");
    writeFileSync(file, CONTRACT);

    this.#say("The admin checks a contract and puts the worktree under it:");
    await this.#admin("contract", "check", file, "--profile", "dev");
    await this.#admin("contract", "set", "--project", "shop", "--worktree", "dev", file);

    this.#say(
      "The agent may read and test. Writing is not in the envelope, and the answer says what to ask for:",
    );
    const edit = "sed -i s/Helo/Hello/ src/greet.sh";
    await this.#agent("run", "--wait-for", "0", "--", edit);
    await this.#agent("grants", "request", "source", "--reason", "mend the greeting");
    const [session] = await daemon.admin.sessions();
    await this.#admin("session", "show", session?.id ?? "");

    this.#say(
      "With the grant the same command runs. The daemon then runs the test itself, and it passes:",
    );
    await this.#agent("run", "--", edit);
    await this.#until(async () => (await daemon.admin.grants()).length === 0);
    const ended = await daemon.admin.events({ event: "grant.closed" });
    const handle = String(ended.at(-1)?.data.handle);

    this.#say(
      "So the grant is gone, and with it the right: what acts on the old interface is refused before it starts:",
    );
    await this.#agent("run", "--grant", handle, "--", "echo more >> src/greet.sh");

    this.#say("What a person has to allow waits in the inbox, with what would end it:");
    await this.#agent(
      "grants",
      "request",
      "notes",
      "--reason",
      "tell of the fix",
      "--wait-for",
      "0",
    );
    const [question] = await daemon.admin.approvals({ state: "pending" });
    await this.#admin("approvals", "show", question?.id ?? "");
    await this.#admin("approvals", "approve", question?.id ?? "", "--for", "10m");
    await this.#agent("run", "--", "echo 'the greeting is mended' >> NOTES.md");
    await this.#until(async () => (await daemon.admin.grants()).length === 0);

    this.#say("The orchestrator moves on, and the task is over:");
    await this.#admin("phase", "release", "--project", "shop", "--worktree", "dev");
    await this.#admin("contract", "clear", "--project", "shop", "--worktree", "dev");

    this.#say("The audit: every grant has its reason, what ended it, and how it comes back (C7):");
    const { out } = await daemon.cli(["events", "--project", "shop"]);
    this.#command("recinto events --project shop | grep -E ' (contract|grant|phase)[.]'");
    for (const line of out.split("\n").filter((each) => / (?:contract|grant|phase)\./.test(each))) {
      this.#lines.push(line.replace(/^ *\d+ [\d-]+ [\d:]+ /, ""));
    }
    return `${this.#spelled(this.#lines.join("\n"), worktree)}\n`;
  }

  #say(text: string): void {
    if (this.#lines.length > 0) this.#lines.push("");
    this.#lines.push(`# ${text}`);
  }

  #command(text: string): void {
    this.#lines.push(`$ ${text}`);
  }

  async #admin(...words: string[]): Promise<void> {
    await this.#shown(words, words);
  }

  /** As the worktree's user; project and worktree come from the environment that `recinto agent` sets. */
  async #agent(...words: string[]): Promise<void> {
    const [first = "", ...rest] = words;
    const group = first === "grants" ? [first, rest.shift() ?? ""] : [first];
    const at = ["--project", "shop", "--worktree", this.#project.worktree];
    await this.#shown([...group, ...at, ...rest], words);
  }

  async #shown(words: readonly string[], told: readonly string[]): Promise<void> {
    this.#command(`recinto ${told.map(quoted).join(" ")}`);
    const { code, out, err } = await this.#daemon.cli(words);
    const answered = `${out}${err}`.trimEnd();
    if (answered !== "") this.#lines.push(...answered.split("\n"));
    if (code !== 0) this.#lines.push(`(exit ${code})`);
  }

  async #until(over: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while (!(await over())) {
      if (Date.now() > end) throw new Error(`it did not come to that:\n${this.#lines.join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Ids in the order in which they appear; folders, times and spans as they would be anywhere. */
  #spelled(text: string, worktree: string): string {
    const names = new Map<string, string>();
    return text
      .replaceAll(worktree, "/srv/shop/.worktrees/dev")
      .replaceAll(`${this.#daemon.base}/`, "")
      .replaceAll(/\b([a-z])-[2-9a-km-np-z]{12}\b/g, (id, kind: string) => {
        const known =
          names.get(id) ??
          `${kind}-${[...names.values()].filter((each) => each.startsWith(kind)).length + 1}`;
        names.set(id, known);
        return known;
      })
      .replaceAll(/\b(?:29|30) min left/g, "30 min left")
      .replaceAll(/waits, \d+ min left/g, "waits")
      .replaceAll(/waits, \d+ s left/g, "waits")
      .replaceAll(/expiresAt=\d+/g, "expiresAt=…")
      .replaceAll(/closingMs=\d+/g, "closingMs=…");
  }
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const text = await walk();
  if (process.argv.includes("--write")) writeFileSync(WALK_FILE, text);
  else process.stdout.write(text);
}
