/** The daemon of one comparator: recintod's own parts with one thing changed. Only the evaluation starts it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { hostNetwork } from "../../daemon/egress/reach.ts";
import { GRANT_TTL_MAX_MS } from "../../daemon/limits-authority.ts";
import { parseRange } from "../../daemon/policy/addresses.ts";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import type { EvaluateInput, Verdict } from "../../daemon/policy/types.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import type { SandboxSpec } from "../../daemon/sandbox/engine.ts";
import { loadConfig } from "../../daemon/settings/config.ts";
import { LedgerBook, type TimelessCommand } from "../../daemon/supervisor/authority/ledger-book.ts";
import type { SandboxPort, SupervisorDeps } from "../../daemon/supervisor/ports.ts";
import { ProtectedDesk } from "../../daemon/supervisor/protected-desk.ts";
import { createLog, type Ground, startDaemon } from "../../daemon/wiring.ts";
import { ALLOWLIST_FILE, type Allowlist } from "./allowlist.ts";
import { COMPARATOR, type Comparator, type ComparatorName } from "./comparators.ts";

/** The worktree is `<base>/shop/.worktrees/task`. */
const projectOf = (worktree: string) => dirname(dirname(worktree));
const baseOf = (worktree: string) => dirname(projectOf(worktree));

/** An engine that mounts more than it is told to. */
class LooseEngine extends DockerEngine {
  readonly #mounts: Comparator["mounts"];

  constructor(socket: string, mounts: Comparator["mounts"]) {
    super(socket);
    this.#mounts = mounts;
  }

  override create(spec: SandboxSpec): Promise<string> {
    const path = this.#mounts === "machine" ? baseOf(spec.workdir) : projectOf(spec.workdir);
    const mounts = spec.mounts.filter(({ target }) => target !== spec.workdir);
    return super.create({
      ...spec,
      mounts: [{ source: path, target: path, readOnly: false }, ...mounts],
    });
  }
}

/** Every name and address is the evaluation's own server on loopback; nothing ever leaves the machine. */
function networkTo(port: number, { judge }: Comparator): Ground["network"] {
  return {
    resolve: async () => ["127.0.0.1"],
    dial: (_address, _port) => hostNetwork.dial("127.0.0.1", port),
    own: () => [],
    // Where everything is allowed, so is what the proxy refuses by address.
    allowed: [parseRange(judge === "everything" ? "0.0.0.0/0" : "127.0.0.1")],
  };
}

/** The policy's understanding of the command, with another answer. */
function answered(verdict: Verdict, input: EvaluateInput, deny: string | null): Verdict {
  const { instead: _, always: __, ...rest } = verdict;
  const decision = deny === null ? "allow" : "deny";
  const reason = deny ?? "everything is allowed here";
  return {
    ...rest,
    verdict: decision,
    classes: [...new Set([...verdict.classes, "network" as const])],
    roots: deny === null ? [input.settings.root] : [],
    reason,
    segments: verdict.segments.map((segment) => ({
      ...segment,
      verdict: decision,
      rung: "rule",
      rule: "evaluation/comparator",
      reason,
    })),
  };
}

function offList(verdict: Verdict, input: EvaluateInput): string | null {
  const file = join(baseOf(input.settings.worktree), ALLOWLIST_FILE);
  const list = JSON.parse(readFileSync(file, "utf8")) as Allowlist;
  for (const { argv, text, hosts = [] } of verdict.segments) {
    const listed = list.commands.some((words) => words.every((word, at) => argv?.[at] === word));
    if (!listed) return `\`${text}\` is not on the list`;
    const host = hosts.find((each) => !list.hosts.includes(each));
    if (host !== undefined) return `${host} is not on the list`;
  }
  return verdict.segments.length === 0 ? "it cannot be understood" : null;
}

function loosened(sandboxes: SandboxPort): SandboxPort {
  const open = {
    text: "none",
    harmless: false,
    confinement: { writable: ["/"], readOnly: false, tcp: true },
    hint: () => null,
  };
  const ensure: SandboxPort["ensure"] = async (...words) => ({
    ...(await sandboxes.ensure(...words)),
    confine: () => open,
  });
  return new Proxy(sandboxes, {
    get: (target, name) => {
      if (name === "ensure") return ensure;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function adapted(deps: SupervisorDeps, comparator: Comparator): SupervisorDeps {
  if (comparator.judge === "contract") return deps;
  // Nor does anybody look after instruction files there.
  ProtectedDesk.prototype.before = async () => [];
  ProtectedDesk.prototype.after = async () => [];
  const listed = comparator.judge === "list";
  return {
    ...deps,
    evaluate: (input) => {
      const verdict = evaluate(input);
      return answered(verdict, input, listed ? offList(verdict, input) : null);
    },
    openSandboxes: (hooks) => loosened(deps.openSandboxes(hooks)),
  };
}

/** The same ledger, whose grants have nothing that could end them: time, uses, closures and phases alike. */
function endless(): void {
  const { step } = LedgerBook.prototype;
  LedgerBook.prototype.step = function (this: LedgerBook, key, command, ...rest) {
    const next = step.call(this, key, withoutEnds(command), ...rest);
    for (const grant of next.state.grants) Object.assign(grant, { closes: [], phases: [] });
    return next;
  };
}

function withoutEnds(command: TimelessCommand): TimelessCommand {
  if (command.type !== "contractSet" || command.contract === null) return command;
  const grants = command.contract.grants.map((rule) => ({
    ...rule,
    closes: [],
    ttlMs: GRANT_TTL_MAX_MS,
    uses: null,
  }));
  return { ...command, contract: { ...command.contract, grants } };
}

const { values } = parseArgs({
  options: {
    config: { type: "string" },
    comparator: { type: "string" },
    port: { type: "string" },
  },
});
const comparator = COMPARATOR[values.comparator as ComparatorName];
if (!comparator.ends) endless();
const config = loadConfig(values.config);
process.umask(0o077);
const daemon = await startDaemon(config, values.config ?? null, createLog(config), null, {
  engine: (socket) =>
    comparator.mounts === "worktree"
      ? new DockerEngine(socket)
      : new LooseEngine(socket, comparator.mounts),
  network: networkTo(Number(values.port), comparator),
  adapt: (deps) => adapted(deps, comparator),
});
process.send?.("ready");
process.once("disconnect", () => {
  void (async () => {
    await daemon.supervisor.shutdown();
    await daemon.listeners.close(1_000);
    process.exit(0);
  })();
});
