/** Every command of the command line by name, and what they hang on. */
import { Command } from "commander";
import { version } from "./version.ts";

/** Each command and how it comes: only the one that is called is loaded, so that `run` starts fast. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import("./run.ts")).runCommand(),
  ps: async () => (await import("./jobs.ts")).psCommand(),
  logs: async () => (await import("./jobs.ts")).logsCommand(),
  attach: async () => (await import("./jobs.ts")).attachCommand(),
  kill: async () => (await import("./jobs.ts")).killCommand(),
  agent: async () => (await import("./agent.ts")).agentCommand(),
  files: async () => (await import("./files.ts")).filesCommand(),
  mcp: async () => (await import("./mcp.ts")).mcpCommand(),
  hook: async () => (await import("./hook.ts")).hookCommand(),
  approvals: async () => (await import("./approvals.ts")).approvalsCommand(),
  policy: async () => (await import("./policy.ts")).policyCommand(),
  project: async () => (await import("./project.ts")).projectCommand(),
  profile: async () => (await import("./profile.ts")).profileCommand(),
  contract: async () => (await import("./contract.ts")).contractCommand(),
  phase: async () => (await import("./contract.ts")).phaseCommand(),
  grants: async () => (await import("./grants.ts")).grantsCommand(),
  rules: async () => (await import("./sessions.ts")).rulesCommand(),
  session: async () => (await import("./sessions.ts")).sessionCommand(),
  denials: async () => (await import("./sessions.ts")).denialsCommand(),
  events: async () => (await import("./journal.ts")).eventsCommand(),
  stats: async () => (await import("./stats.ts")).statsCommand(),
  journal: async () => (await import("./journal.ts")).journalCommand(),
  hazards: async () => (await import("./state.ts")).hazardsCommand(),
  sandboxes: async () => (await import("./state.ts")).sandboxesCommand(),
  git: async () => (await import("./git.ts")).gitCommand(),
  image: async () => (await import("./image.ts")).imageCommand(),
  top: async () => (await import("./top.ts")).topCommand(),
  metrics: async () => (await import("./top.ts")).metricsCommand(),
  health: async () => (await import("./state.ts")).healthCommand(),
  eval: async () => (await import("./eval.ts")).evalCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
};

export function rootCommand(): Command {
  return new Command("recinto")
    .description("a sandbox supervisor for coding agents")
    .version(version(), "-V, --version")
    .option("--run-dir <folder>", "where the daemon's sockets are (RECINTO_RUN_DIR, /run/recinto)")
    .option("--config <file>", "the daemon's config file")
    .option("--wait", "keep trying for some seconds while the daemon starts")
    .enablePositionalOptions();
}
