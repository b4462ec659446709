/** Every route of every socket, in the order that the router searches and the OpenAPI file lists. */
import type { Route } from "../route.ts";
import { answerApproval, listApprovals, showApproval, watchApprovals } from "./approvals.ts";
import { gitStatus, undoImport } from "./git.ts";
import { previewRules, replay, stats } from "./history.ts";
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
import { distrustRuleFile, giveSessionRules, listRuleFiles, trustRuleFile } from "./rule-files.ts";
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
  previewRules,
  resetDenials,
  readEvents,
  gitStatus,
  undoImport,
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
  distrustRuleFile,
  listRuleFiles,
  listRules,
  revokeRule,
  giveSessionRules,
  trustRuleFile,
  replay,
  listSandboxes,
  listSessions,
  openSession,
  closeSession,
  showSession,
  showOwnApproval,
  check,
  exec,
  stats,
  version,
  watchApprovals,
  followEvents,
];
