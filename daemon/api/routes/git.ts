/** Routes of the sandboxes' own git: how it stands beside the host's, and taking an import back. Admin socket only. */
import { z } from "zod";
import { jsonRoute } from "../route.ts";
import { GitStatusSchema, JournalEntrySchema, ProjectIdSchema } from "../schema-admin.ts";

export const gitStatus = jsonRoute({
  method: "GET",
  path: "/v1/git",
  sockets: ["admin"],
  summary: "Each sandbox's own git beside its host's repository.",
  query: z.strictObject({ project: ProjectIdSchema.exactOptional() }),
  answer: z.array(GitStatusSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, query }) => supervisor.git.status(caller, query.project),
});

export const undoImport = jsonRoute({
  method: "POST",
  path: "/v1/git/undo",
  sockets: ["admin"],
  summary: "Takes back what a `git.imported` entry of the journal brought to the host.",
  body: z.strictObject({
    seq: z.int().min(1).meta({ description: "Number of the entry." }),
  }),
  answer: JournalEntrySchema,
  errors: ["not-found", "import-over"],
  handle: ({ supervisor }, { caller, body }) => supervisor.git.undo(caller, body.seq),
});
