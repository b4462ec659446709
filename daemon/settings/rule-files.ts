/** Rule files that an admin holds, for a project and for a user: which there are, and what each says (B1). */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import { checkRuleFile } from "../policy/rule-file-check.ts";
import type { Rule } from "../policy/types.ts";
import { readAdminFile } from "./admin-file.ts";
import { fileError } from "./admin-yaml.ts";
import type { DaemonConfig, Project } from "./types.ts";

/** A rule file in force. */
export interface RuleFile {
  readonly file: string;
  readonly source: "project" | "user";
  /** The project's id, or the user as the file is named for: a name or a number. */
  readonly owner: string;
  readonly rules: readonly Rule[];
  /** False: the rules of lower sources do not hold. */
  readonly merge: boolean;
}

type Place = Pick<RuleFile, "file" | "source" | "owner">;

/** Files may be written in either format; the names say whose they are. */
const NAMED = /^(.+)\.(?:yaml|yml|json)$/;
const PROJECT_RULES = /^([a-z0-9][a-z0-9-]{0,62})\.rules\.(?:yaml|yml|json)$/;

/** Whether a name in the projects folder is a rule file's, not a project's. */
export function isProjectRules(name: string): boolean {
  return PROJECT_RULES.test(name);
}

export function usersDir({ rulesDir }: Pick<DaemonConfig, "rulesDir">): string {
  return join(rulesDir, "users");
}

/** Every rule file that is there, or that a project says is there. */
export function ruleFilePlaces(
  config: Pick<DaemonConfig, "projectsDir" | "rulesDir">,
  projects: Iterable<Project>,
): readonly Place[] {
  const users = usersDir(config);
  return [
    ...namesIn(config.projectsDir).flatMap((name): Place[] => {
      const owner = PROJECT_RULES.exec(name)?.[1];
      const file = join(config.projectsDir, name);
      return owner === undefined ? [] : [{ file, source: "project", owner }];
    }),
    ...[...projects].flatMap(({ id, rules }): Place[] =>
      rules === undefined ? [] : [{ file: rules, source: "project", owner: id }],
    ),
    ...namesIn(users).flatMap((name): Place[] => {
      const owner = NAMED.exec(name)?.[1];
      const file = join(users, name);
      return owner === undefined || name.startsWith(".") ? [] : [{ file, source: "user", owner }];
    }),
  ];
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Throws `bad-rules` with `FILE:LINE:COL: …`, `bad-config` where it cannot be read, `unsafe-admin-file`. */
export function loadRuleFile(place: Place): RuleFile {
  const { file, source, owner } = place;
  const { rules, merge, problems } = checkRuleFile(
    readAdminFile(file),
    source,
    `${source}/${owner}`,
  );
  if (problems.length > 0) {
    throw fileError(
      "bad-rules",
      file,
      problems.map((problem) => ({ ...problem, key: "" })),
    );
  }
  return { ...place, rules: rules.map(({ match: _, notMatch: __, ...rule }) => rule), merge };
}

/**
 * Stands for a file that was never understood: it may have held a deny, so everything of its owner asks until it is
 * mended. The admin's word, which no other source lifts.
 */
export function unreadRules(place: Place): RuleFile {
  const rule = (tool: Rule["tool"], pattern: string): Rule => ({
    id: `unread/${place.source}/${place.owner}/${tool}`,
    source: "admin",
    action: "ask",
    tool,
    pattern: [pattern],
    justification: `the rule file ${place.file} cannot be used, so everything asks until an admin mends it`,
  });
  return {
    ...place,
    rules: [rule("exec", "*"), rule("read", "**"), rule("write", "**")],
    merge: true,
  };
}

/** All rule files; one that cannot be used stays as it was before, else everything of its owner asks. */
export function loadRuleFiles(
  places: readonly Place[],
  before: ReadonlyMap<string, RuleFile>,
  faults: Map<string, RecintoError>,
  kept: Set<string>,
): ReadonlyMap<string, RuleFile> {
  const next = new Map<string, RuleFile>();
  for (const place of places) {
    const { file } = place;
    try {
      next.set(file, loadRuleFile(place));
    } catch (error) {
      if (!(error instanceof RecintoError)) throw error;
      faults.set(file, error);
      const last = before.get(file);
      if (last !== undefined && last.owner === place.owner) kept.add(file);
      next.set(file, kept.has(file) ? (last as RuleFile) : unreadRules(place));
    }
  }
  return next;
}
