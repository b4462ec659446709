/** Every route of every socket, in the order that the router searches and the OpenAPI file lists. */
import type { Route } from "../route.ts";
import { answerApproval, listApprovals, showApproval, watchApprovals } from "./approvals.ts";
import {
  followEvents,
  health,
  listHazards,
  listSandboxes,
  readEvents,
  resetDenials,
  verifyJournal,
  version,
} from "./operations.ts";
import {
  addProject,
  checkProfile,
  listProfiles,
  listProjects,
  listRules,
  removeProject,
  revokeRule,
  showProfile,
  showProject,
} from "./projects.ts";
import {
  check,
  closeSession,
  exec,
  listSessions,
  openSession,
  showOwnApproval,
  showSession,
} from "./sessions.ts";

/** Sorted by path, then method: a new route has one place, and two for the same request stand next to each other. */
export const ROUTES: readonly Route[] = [
  listApprovals,
  showApproval,
  answerApproval,
  resetDenials,
  readEvents,
  listHazards,
  health,
  verifyJournal,
  listProfiles,
  checkProfile,
  showProfile,
  listProjects,
  addProject,
  removeProject,
  showProject,
  listRules,
  revokeRule,
  listSandboxes,
  listSessions,
  openSession,
  closeSession,
  showSession,
  showOwnApproval,
  check,
  exec,
  version,
  watchApprovals,
  followEvents,
];
