/** The tool that tells an agent where it stands. */
import { z } from "zod";
import { tool } from "./tool.ts";

const StatusOutput = z.strictObject({
  project: z.string(),
  worktree: z.string(),
  profile: z.string(),
  session: z.string(),
  blocked: z.array(z.string()).describe("Classes of action refused too often: they are denied."),
  escalated: z.boolean().describe("Refused too often in all: everything asks a person."),
});

export const statusTool = tool({
  name: "status",
  description: "Where you are: project, worktree, profile, and what is blocked after refusals.",
  input: z.strictObject({}),
  output: StatusOutput,
  annotations: { title: "Show where you stand", readOnlyHint: true, openWorldHint: false },
  run: (_args, { session }) =>
    session.use(async (id) => {
      const { project, worktree, profile, blocked, escalated } = await session.client.session(id);
      const data = { project, worktree, profile, session: id, blocked, escalated };
      return {
        text: [
          `project ${project}, worktree ${worktree}, profile ${profile}`,
          ...(blocked.length > 0 ? [`blocked after refusals: ${blocked.join(", ")}`] : []),
          ...(escalated ? ["refused too often: everything asks a person"] : []),
        ].join("\n"),
        data,
      };
    }),
});
