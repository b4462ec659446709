/** Routes of what admins settle: projects, the rules that *always* stored for them, profiles. Admin socket only. */
import { z } from "zod";
import { jsonRoute } from "../route.ts";
import {
  ProfileSchema,
  ProfileSummarySchema,
  ProfileTextSchema,
  ProjectSchema,
  StoredRuleSchema,
} from "../schema-admin.ts";
import { requireAgentGroup } from "../socket-groups.ts";

export const listProfiles = jsonRoute({
  method: "GET",
  path: "/v1/profiles",
  sockets: ["admin"],
  narrows: true,
  summary: "The profiles a project may name.",
  answer: z.array(ProfileSummarySchema),
  handle: ({ profiles }) =>
    profiles.list().map(({ name, description, image }) => ({ name, description, image })),
});

export const showProfile = jsonRoute({
  method: "GET",
  path: "/v1/profiles/{profile}",
  sockets: ["admin"],
  narrows: true,
  summary: "One profile with everything it inherits.",
  answer: ProfileSchema,
  errors: ["bad-profile"],
  handle: ({ profiles }, { params }) => ({ ...profiles.show(params.profile) }),
});

export const checkProfile = jsonRoute({
  method: "POST",
  path: "/v1/profiles/check",
  sockets: ["admin"],
  right: "read",
  narrows: true,
  summary: "What the text of a profile file would become; nothing is stored.",
  body: ProfileTextSchema,
  answer: ProfileSchema,
  errors: ["bad-profile"],
  handle: ({ profiles }, { body }) => ({ ...profiles.check(body.name, body.text) }),
});

export const listProjects = jsonRoute({
  method: "GET",
  path: "/v1/projects",
  sockets: ["admin"],
  narrows: true,
  summary: "All projects.",
  answer: z.array(ProjectSchema),
  handle: ({ supervisor }, { caller }) => supervisor.projects(caller),
});

export const addProject = jsonRoute({
  method: "POST",
  path: "/v1/projects",
  sockets: ["admin"],
  summary: "Adds a project and opens its agent socket.",
  body: ProjectSchema,
  answer: ProjectSchema,
  errors: ["bad-profile", "project-exists", "project-refused"],
  handle: async ({ supervisor, socketsSettled }, { caller, body }) => {
    requireAgentGroup(body);
    const added = await supervisor.addProject(caller, body);
    await socketsSettled();
    return added;
  },
});

export const removeProject = jsonRoute({
  method: "DELETE",
  path: "/v1/projects/{project}",
  sockets: ["admin"],
  summary:
    "Removes a project: ends its sessions, removes its sandboxes and its socket. Files stay.",
  answer: null,
  errors: ["unknown-project"],
  handle: async ({ supervisor }, { caller, params }) => {
    await supervisor.removeProject(caller, params.project);
    return null;
  },
});

export const showProject = jsonRoute({
  method: "GET",
  path: "/v1/projects/{project}",
  sockets: ["admin"],
  summary: "One project.",
  answer: ProjectSchema,
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, params }) => supervisor.project(caller, params.project),
});

export const listRules = jsonRoute({
  method: "GET",
  path: "/v1/projects/{project}/rules",
  sockets: ["admin"],
  summary: "What *always* has stored for a project.",
  answer: z.array(StoredRuleSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, params }) => supervisor.rules(caller, params.project),
});

export const revokeRule = jsonRoute({
  method: "DELETE",
  path: "/v1/projects/{project}/rules/{rule}",
  sockets: ["admin"],
  summary: "Revokes a stored rule and returns it.",
  answer: StoredRuleSchema,
  errors: ["unknown-project", "not-found"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.revokeRule(caller, params.project, params.rule),
});
