/** Routes of the inbox: what waits for a person, and the answers. Admin socket only. */
import { z } from "zod";
import { jsonRoute, linesRoute } from "../route.ts";
import { AnswerSchema, ApprovalSchema, ApprovalStateSchema } from "../schema.ts";
import { ProjectIdSchema } from "../schema-admin.ts";
import { IdSchema } from "../schema-text.ts";

export const listApprovals = jsonRoute({
  method: "GET",
  path: "/v1/approvals",
  sockets: ["admin"],
  narrows: true,
  summary: "Questions, newest last; answered ones are kept for a while.",
  query: z.strictObject({
    state: ApprovalStateSchema.exactOptional(),
    project: ProjectIdSchema.exactOptional(),
    session: IdSchema.exactOptional(),
  }),
  answer: z.array(ApprovalSchema),
  handle: ({ supervisor }, { caller, query }) => supervisor.approvals(caller, query),
});

export const showApproval = jsonRoute({
  method: "GET",
  path: "/v1/approvals/{approval}",
  sockets: ["admin"],
  narrows: true,
  summary: "One question with all that its answer is bound to.",
  answer: ApprovalSchema,
  errors: ["unknown-approval"],
  handle: ({ supervisor }, { caller, params }) => supervisor.approval(caller, params.approval),
});

export const answerApproval = jsonRoute({
  method: "POST",
  path: "/v1/approvals/{approval}/answer",
  sockets: ["admin"],
  right: "answer",
  narrows: true,
  summary: "Approves once or always, or denies with a reason.",
  body: AnswerSchema,
  answer: ApprovalSchema,
  errors: ["unknown-approval", "approval-over", "facts-changed", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.answer(caller, params.approval, body),
});

export const watchApprovals = linesRoute({
  method: "GET",
  path: "/v1/watch/approvals",
  sockets: ["admin"],
  narrows: true,
  summary: "What waits now, then every change of state.",
  answer: ApprovalSchema,
  handle: ({ supervisor }, { caller, signal }) => supervisor.watchApprovals(caller, signal),
});
