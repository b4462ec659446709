/** Routes of rule files: what is in force, which content of a worktree is trusted, rules of a session. Admin socket only. */
import { z } from "zod";
import { jsonRoute } from "../route.ts";
import {
  DistrustRequestSchema,
  RuleFileSchema,
  SessionRulesRequestSchema,
  TrustRequestSchema,
} from "../schema-rule-files.ts";

export const distrustRuleFile = jsonRoute({
  method: "POST",
  path: "/v1/projects/{project}/distrust",
  sockets: ["admin"],
  summary: "Forgets every trusted content of a policy file's name.",
  body: DistrustRequestSchema,
  answer: z.strictObject({ forgotten: z.int() }),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, params, body }) => ({
    forgotten: supervisor.ruleFiles.distrust(caller, params.project, body.file),
  }),
});

export const listRuleFiles = jsonRoute({
  method: "GET",
  path: "/v1/projects/{project}/rule-files",
  sockets: ["admin"],
  summary: "Rule files of sessions, project and users, and policy files that agents can write.",
  answer: z.array(RuleFileSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, params }) => supervisor.ruleFiles.list(caller, params.project),
});

export const giveSessionRules = jsonRoute({
  method: "POST",
  path: "/v1/projects/{project}/session-rules",
  sockets: ["admin"],
  summary: "Rules for whoever works on a worktree, above the project's own.",
  body: SessionRulesRequestSchema,
  answer: RuleFileSchema,
  errors: ["unknown-project", "unknown-worktree", "bad-rules", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.ruleFiles.giveSession(caller, { project: params.project, ...body }),
});

export const trustRuleFile = jsonRoute({
  method: "POST",
  path: "/v1/projects/{project}/trust",
  sockets: ["admin"],
  summary: "Trusts exactly this content of a policy file that agents can write.",
  body: TrustRequestSchema,
  answer: RuleFileSchema,
  errors: ["unknown-project", "not-found", "bad-rules", "facts-changed", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.ruleFiles.trust(caller, params.project, body.file, body.sha256),
});
