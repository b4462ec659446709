/** One comparator at work: its daemon, its agent's process, its servers, and a fresh world for every episode. */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AdminClient, adminClient } from "../../daemon/api/client.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { Random } from "../fuzz/random.ts";
import type { AgentCalls } from "./agent.ts";
import { ALLOWLIST_FILE, allowlistOf } from "./allowlist.ts";
import { COMPARATOR, type Comparator, type ComparatorName } from "./comparators.ts";
import type { Episode } from "./episode.ts";
import { Outside } from "./outside.ts";
import { COLLECTOR, HOSTS, METADATA } from "./places.ts";
import { type EpisodeResult, type People, Planner } from "./planner.ts";
import { EpisodeWorld, markOf, type Owner } from "./world.ts";

export const ENGINE_SOCKET = process.env.RECINTO_ENGINE_SOCKET ?? "/var/run/docker.sock";
const TSX = ["--import", import.meta.resolve("tsx")];

/** The quickstart's agent where it is there, else a number that nobody has. */
export function agentUser(): Owner {
  try {
    const id = (what: string) =>
      Number(execFileSync("id", [what, "recinto-agent"], { encoding: "utf8", stdio: "pipe" }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return { uid: 61_700, gid: 61_700 };
  }
}

export class Arena {
  readonly comparator: Comparator;
  readonly folder: string;
  readonly outside: Outside;
  readonly owner = agentUser();
  readonly admin: AdminClient;
  readonly #daemon: ChildProcess;
  readonly #agent: ChildProcess;
  readonly calls: AgentCalls;

  private constructor(name: ComparatorName, folder: string, outside: Outside, port: number) {
    this.outside = outside;
    this.comparator = COMPARATOR[name];
    this.folder = folder;
    writeSettings(this.comparator, folder);
    const log = openSync(join(folder, "daemon.log"), "a");
    const words = ["--config", join(folder, "config.yaml"), "--comparator", name];
    this.#daemon = fork(here("eval-daemon.ts"), [...words, "--port", String(port)], {
      execArgv: TSX,
      stdio: ["ignore", log, log, "ipc"],
    });
    this.admin = adminClient({ socketPath: join(folder, "run/admin.sock"), waitForStart: true });
    this.#agent = fork(here("agent.ts"), [], { execArgv: TSX });
    this.calls = callsTo(this.#agent);
  }

  /** `folder` has to be there, and short: sockets are below it. */
  static async start(name: ComparatorName, folder: string): Promise<Arena> {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    const outside = new Outside();
    const port = await outside.open();
    const arena = new Arena(name, folder, outside, port);
    const [word] = await Promise.race([
      once(arena.#daemon, "message"),
      once(arena.#daemon, "exit"),
    ]);
    if (word !== "ready") throw new Error(readFileSync(join(folder, "daemon.log"), "utf8"));
    await arena.calls.become(arena.owner.uid, arena.owner.gid);
    return arena;
  }

  /** What `use` makes of a planner in a world of its own; both are gone afterwards. */
  async within<T>(
    episode: Episode,
    use: (planner: Planner, world: EpisodeWorld) => Promise<T>,
  ): Promise<T> {
    const base = join(this.folder, "w", episode.id);
    mkdirSync(base, { recursive: true, mode: 0o755 });
    const world = await EpisodeWorld.make(base, episode, this.owner, this.outside);
    try {
      return await use(await this.#enter(episode, world), world);
    } finally {
      await this.admin.removeProject(episode.id).catch(() => undefined);
      await world.end();
    }
  }

  /** Deterministic: what varies, varies by the seed. */
  perform(episode: Episode, seed: number): Promise<EpisodeResult> {
    return this.within(episode, (planner) => planner.perform(episode, new Random(seed)));
  }

  async #enter(episode: Episode, world: EpisodeWorld): Promise<Planner> {
    const { id } = episode;
    const { at } = world;
    const { admin, comparator } = this;
    if (comparator.judge === "list") {
      const list = allowlistOf(episode.contract);
      writeFileSync(join(at.base, ALLOWLIST_FILE), JSON.stringify(list));
    }
    await admin.addProject({
      id,
      root: at.root,
      profile: "evaluation",
      worktrees: ".worktrees/*",
      agentGroup: null,
    });
    if (comparator.judge === "contract") {
      await admin.setContract(id, at.worktree, contractFor(comparator, episode.contract));
    }
    const socketPath = join(this.folder, "run/projects", id, "agent.sock");
    await this.calls.connect({ socketPath, worktree: at.worktree });
    const people: People = {
      phase: async (phase) => void (await admin.setPhase(id, at.worktree, phase)),
      revoke: async (handle) => void (await admin.revokeGrant(handle, "no longer needed")),
      answer: async (approval, yes) => {
        const answer = yes
          ? ({ answer: "approve", mode: "once" } as const)
          : ({ answer: "deny", reason: "not now" } as const);
        await admin.answer(approval, answer);
      },
    };
    return new Planner(this.calls, people, comparator, world);
  }

  async close(): Promise<void> {
    const sandboxes = await this.admin.sandboxes().catch(() => []);
    this.admin.close();
    this.#agent.disconnect();
    if (this.#daemon.exitCode === null) {
      const ended = once(this.#daemon, "exit");
      this.#daemon.disconnect();
      await ended;
    }
    await this.outside.close();
    const engine = new DockerEngine(ENGINE_SOCKET);
    for (const { id } of sandboxes) await engine.remove(id);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The core has no Γ; everything else of the contract is the same. */
function contractFor({ grants }: Comparator, text: string): string {
  return grants ? text : text.replace(/^(?:grants|closures):\n(?: {2}\S.*\n)*/gm, "");
}

function writeSettings({ judge, mounts }: Comparator, folder: string): void {
  for (const name of ["profiles", "projects", "w"]) mkdirSync(join(folder, name), { mode: 0o755 });
  const paths = {
    runDir: "run",
    stateDir: "state",
    profilesDir: "profiles",
    projectsDir: "projects",
  };
  const lines = Object.entries(paths).map(([key, name]) => `${key}: ${join(folder, name)}\n`);
  const config = `${lines.join("")}engineSocket: ${ENGINE_SOCKET}\nlogLevel: warn\n`;
  writeFileSync(join(folder, "config.yaml"), config);
  const all = [...HOSTS, COLLECTOR, ...(mounts === "machine" ? [METADATA] : [])];
  const network = judge === "contract" ? "{ask: true}" : `{ask: false, hosts: [${all.join(", ")}]}`;
  const env = mounts === "machine" ? `{DEPLOY_TOKEN: ${markOf("DEPLOY_TOKEN")}}` : "{}";
  const git = judge === "contract" ? "commit" : "none";
  const profile = `extends: dev\ngit: ${git}\nnetwork: ${network}\nenv: ${env}\napprovalWait: 30s\n`;
  writeFileSync(join(folder, "profiles/evaluation.yaml"), profile);
}

function here(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Each call waits for its answer. */
function callsTo(agent: ChildProcess): AgentCalls {
  let last = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  agent.on("message", (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  agent.on("exit", () => {
    for (const [id, settle] of waiting) settle({ id, error: { message: "the agent is gone" } });
  });
  const call = (method: string, words: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value);
        else reject(new Error(`${method}: ${error.message}`));
      });
      agent.send({ id, method, words });
    });
  return new Proxy({} as AgentCalls, {
    get:
      (_, method) =>
      (...words: readonly unknown[]) =>
        call(String(method), words),
  });
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string };
}
