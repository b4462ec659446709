/** The tool that tells an agent where it stands. */
import { z } from "zod";
import { granted, resourceText, ruleText, toolName } from "./grant-text.ts";
import { tool } from "./tool.ts";

const StatusOutput = z.strictObject({
  project: z.string(),
  worktree: z.string(),
  profile: z.string(),
  session: z.string(),
  blocked: z.array(z.string()).describe("Classes of action refused too often: they are denied."),
  escalated: z.boolean().describe("Refused too often in all: everything asks a person."),
  task: z.string().nullable().describe("null: no contract, the profile's standing permission."),
  phase: z.string().nullable(),
  epoch: z.int().describe("Grows with every change of your authority."),
  grants: z.array(
    z.strictObject({
      grant: z.string(),
      tool: z.string(),
      effect: z.string(),
      on: z.string(),
      expiresAt: z.number(),
      usesLeft: z.int().nullable(),
      endsWith: z.array(z.string()),
    }),
  ),
  requestable: z.array(z.strictObject({ rule: z.string(), is: z.string() })),
  pending: z.array(z.string()).describe("Grants that wait for a person."),
});

export const statusTool = tool({
  name: "status",
  description:
    "Where you are and what you may do now: project, worktree, task and phase, live grants with what ends them, rules that can be requested, what is blocked after refusals.",
  input: z.strictObject({}),
  output: StatusOutput,
  annotations: { title: "Show where you stand", readOnlyHint: true, openWorldHint: false },
  run: (_args, { session }) =>
    session.use(async (id) => {
      const [where, now] = await Promise.all([
        session.client.session(id),
        session.client.interface(id),
      ]);
      const { project, worktree, profile, blocked, escalated } = where;
      const { task, phase, epoch, grants, requestable, pending } = now;
      const data = {
        ...{ project, worktree, profile, session: id, blocked, escalated },
        ...{ task, phase, epoch, pending },
        grants: grants.map((grant) => ({
          grant: grant.handle,
          tool: toolName(grant.rule, grant.handle),
          effect: grant.effect,
          on: resourceText(grant),
          expiresAt: grant.expiresAt,
          usesLeft: grant.usesLeft,
          endsWith: grant.endsWith,
        })),
        requestable: requestable.map((rule) => ({ rule: rule.rule, is: ruleText(rule) })),
      };
      const text = [
        `project ${project}, worktree ${worktree}, profile ${profile}`,
        ...(task === null
          ? []
          : [`task ${task}${phase === null ? "" : `, phase ${phase}`}, epoch ${epoch}`]),
        ...grants.map((grant) => `grant ${grant.handle}: ${granted(grant)}`),
        ...pending.map((handle) => `grant ${handle} waits for a person`),
        ...requestable.map((rule) => `to request: ${ruleText(rule)}`),
        ...(blocked.length > 0 ? [`blocked after refusals: ${blocked.join(", ")}`] : []),
        ...(escalated ? ["refused too often: everything asks a person"] : []),
      ];
      return { text: text.join("\n"), data };
    }),
});
