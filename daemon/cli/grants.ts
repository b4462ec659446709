/** `recinto grants`: rights with an end: who holds which, what ends them, and ending them; asking for them as an agent. */
import { Command } from "commander";
import type { GrantRequest } from "../api/client-authority.ts";
import { RecintoError } from "../errors.ts";
import { targetOptions } from "./agent-target.ts";
import { durationOf, wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { grantTable, grantText } from "./grant-text.ts";
import { print, printJson, visible } from "./terminal-text.ts";

export function grantsCommand(): Command {
  return new Command("grants")
    .description("rights with an end (docs/authority.md)")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(revokeCommand())
    .addCommand(requestCommand())
    .addCommand(releaseCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("grants that wait, live or are closing")
    .argument("[project]", "of one project; of all when absent")
    .option("--json", "as JSON")
    .action((project: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const grants = await admin.grants(project);
        if (json) printJson(grants);
        else if (grants.length === 0) print("no grants\n");
        else print(grantTable(grants, Date.now()));
      }),
    );
}

function showCommand(): Command {
  return new Command("show")
    .description("all about one grant")
    .argument("<handle>", "the grant")
    .option("--json", "as JSON")
    .action((handle: string, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const grant = (await admin.grants()).find((each) => each.handle === handle);
        if (grant === undefined) {
          throw new RecintoError("unknown-grant", `no grant ${JSON.stringify(handle)} lives`, {
            hint: `recinto events --event grant.closed shows those that ended`,
          });
        }
        if (json) printJson(grant);
        else print(grantText(grant, Date.now()));
      }),
    );
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("end a grant: what runs on it is killed before this returns")
    .argument("<handle>", "the grant")
    .option("--reason <text>", "told to the agent")
    .action((handle: string, { reason }: { reason?: string }, command: Command) =>
      withAdmin(command, async (admin) => {
        const { state, cause, renewal } = await admin.revokeGrant(handle, reason);
        print(visible(`${handle}: ${state}; ${cause}; ${renewal}`).concat("\n"));
      }),
    );
}

interface RequestOptions {
  readonly reason: string;
  readonly path?: string[];
  readonly host?: string[];
  readonly ttl?: string;
  readonly uses?: string;
  readonly waitFor?: string;
  readonly json?: boolean;
}

function requestCommand(): Command {
  const more = (value: string, all: string[] = []) => [...all, value];
  return targetOptions(new Command("request"))
    .description("request a rule of the worktree's contract, as its agent would")
    .argument("<rule>", "the rule")
    .requiredOption("--reason <text>", "why, for the audit and the person who may be asked")
    .option("--path <path>", "only this part of the rule; may be repeated", more)
    .option("--host <host>", "only this part of the rule; may be repeated", more)
    .option("--ttl <duration>", "for less time than the rule (5m)")
    .option("--uses <n>", "for fewer uses than the rule")
    .option("--wait-for <seconds>", "longest wait for a person; 0: do not wait")
    .option("--json", "as JSON")
    .action(async (rule: string, options: RequestOptions, command: Command) => {
      const { withAgent } = await import("./agent-session.ts");
      await withAgent(command, async (agent, session) => {
        const answer = await agent.requestGrant(session, requestOf(rule, options), {
          onPending: (approval) =>
            process.stderr.write(
              `recinto: waiting for a person to answer ${approval} (recinto approvals show ${approval})\n`,
            ),
        });
        if (options.json) printJson(answer);
        else if (answer.grant === null) print(`${answer.handle}: waits for ${answer.approval}\n`);
        else print(`${answer.handle}: granted, in the interface since epoch ${answer.epoch}\n`);
      });
    });
}

function requestOf(rule: string, options: RequestOptions): GrantRequest {
  const { reason, path, host, ttl, uses, waitFor } = options;
  const narrow = {
    ...(path === undefined ? {} : { paths: path }),
    ...(host === undefined ? {} : { hosts: host }),
    ...(ttl === undefined ? {} : { ttlMs: durationOf("--ttl", ttl) }),
    ...(uses === undefined ? {} : { uses: wholeNumberOf("--uses", uses, 1) }),
  };
  return {
    rule,
    reason,
    ...(Object.keys(narrow).length === 0 ? {} : { narrow }),
    ...(waitFor === undefined ? {} : { waitMs: wholeNumberOf("--wait-for", waitFor, 0) * 1000 }),
  };
}

function releaseCommand(): Command {
  return targetOptions(new Command("release"))
    .description("give a grant back, as the worktree's agent would")
    .argument("<handle>", "the grant")
    .action(async (handle: string, _options, command: Command) => {
      const { withAgent } = await import("./agent-session.ts");
      await withAgent(command, async (agent, session) => {
        const { state, renewal } = await agent.releaseGrant(session, handle);
        print(visible(`${handle}: ${state}; ${renewal}`).concat("\n"));
      });
    });
}
