/** Profiles and projects as they stand now: read once, read again when an admin edits them, never worse than before. */
import chokidar from "chokidar";
import { RecintoError } from "../errors.ts";
import { ADMIN_RELOAD_DELAY_MS } from "../limits.ts";
import type { PolicySettings } from "../policy/types.ts";
import {
  listProfiles,
  loadProfile,
  parseProfile,
  type RuleMatcher,
  resolveProfile,
  SHIPPED_PROFILES_DIR,
} from "./profiles.ts";
import { addProject, loadProjects, overlap, removeProject } from "./projects.ts";
import { loadRuleFiles, type RuleFile, ruleFilePlaces, usersDir } from "./rule-files.ts";
import { SANDBOX_HOME, scratchFolders } from "./sandbox-home.ts";
import type { DaemonConfig, Profile, Project } from "./types.ts";
import { listWorktrees, resolveWorktree, worktreeOf } from "./worktrees.ts";

export type RegistryEvent =
  | { readonly type: "profiles-reloaded"; readonly profiles: readonly string[] }
  /** Rule files that are new, say something else, or are gone. */
  | { readonly type: "rules-reloaded"; readonly files: readonly string[] }
  | { readonly type: "project-added" | "project-changed"; readonly project: Project }
  | { readonly type: "project-removed"; readonly project: Project }
  /** The config file changed on disk; the running daemon keeps what it started with. */
  | { readonly type: "config-changed"; readonly file: string }
  /** A file cannot be used; `kept`: what it said before still holds. */
  | {
      readonly type: "problem";
      readonly file: string;
      readonly error: RecintoError;
      readonly kept: boolean;
    };

export interface RegistryOptions {
  /** Called after the registry already holds the new state. */
  readonly onEvent?: (event: RegistryEvent) => void;
  /** Tries the examples of rules; the policy's own matching when absent. */
  readonly matcher?: RuleMatcher;
  /** The config file to watch, when there is one. */
  readonly configFile?: string;
  /** Where profiles that come with the program are; tests name their own. */
  readonly shippedProfilesDir?: string;
}

export interface Registry {
  /** Sorted by id. */
  projects(): readonly Project[];
  /** Throws `unknown-project`. */
  project(id: string): Project;
  /** Names, sorted. */
  profiles(): readonly string[];
  /** Throws `bad-profile`. */
  profile(name: string): Profile;
  /** A profile that is not on disk, given as a file's text: tried before it is written. Throws `bad-profile`. */
  tryProfile(name: string, text: string): Profile;
  /** Throws `bad-profile` when the project's profile is not there, and what `addProject` of projects.ts throws. */
  addProject(project: Project): Project;
  removeProject(id: string): Project;
  /** Rule files of a project, and of every user. */
  ruleFiles(project: Project): readonly RuleFile[];
  policySettings(project: Project, profile: Profile, worktree: string): PolicySettings;
  resolveWorktree(project: Project, nameOrPath: string): string;
  worktreeOf(project: Project, nameOrPath: string): string;
  listWorktrees(project: Project): readonly string[];
  /** Files that cannot be used right now. */
  problems(): ReadonlyMap<string, RecintoError>;
  /** Reads every file again now, whatever the watching saw. What cannot be used is told as an event. */
  reload(): void;
  /** Resolves when changes on disk are being watched. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export function createRegistry(config: DaemonConfig, options: RegistryOptions = {}): Registry {
  const dirs = [config.profilesDir, options.shippedProfilesDir ?? SHIPPED_PROFILES_DIR];
  const emit = (event: RegistryEvent) => options.onEvent?.(event);
  let profiles: ReadonlyMap<string, Profile> = new Map();
  let projects: ReadonlyMap<string, Project> = new Map();
  let ruleFiles: ReadonlyMap<string, RuleFile> = new Map();
  let problems: ReadonlyMap<string, RecintoError> = new Map();

  function reload(quietly = false): void {
    const faults = new Map<string, RecintoError>();
    const kept = new Set<string>();
    const nextProfiles = readProfiles(dirs, options.matcher, profiles, faults, kept);
    const nextProjects = readProjects(config.projectsDir, projects, faults, kept);
    const places = ruleFilePlaces(config, nextProjects.values());
    const nextRules = loadRuleFiles(places, ruleFiles, faults, kept);
    const [profilesBefore, projectsBefore, faultsBefore] = [profiles, projects, problems];
    const rulesBefore = ruleFiles;
    [profiles, projects, ruleFiles, problems] = [nextProfiles, nextProjects, nextRules, faults];
    if (quietly) return;
    watchRulesOf(nextProjects);
    const changed = changedFiles(rulesBefore, nextRules);
    if (changed.length > 0) emit({ type: "rules-reloaded", files: changed });
    if (!same([...profilesBefore], [...nextProfiles])) {
      emit({ type: "profiles-reloaded", profiles: [...nextProfiles.keys()] });
    }
    for (const [id, project] of nextProjects) {
      const before = projectsBefore.get(id);
      if (before === undefined) emit({ type: "project-added", project });
      else if (!same(before, project)) emit({ type: "project-changed", project });
    }
    for (const [id, project] of projectsBefore) {
      if (!nextProjects.has(id)) emit({ type: "project-removed", project });
    }
    for (const [file, error] of faults) {
      if (faultsBefore.get(file)?.message === error.message) continue;
      emit({ type: "problem", file, error, kept: kept.has(file) });
    }
  }

  function trouble(cause: unknown): void {
    const error = new RecintoError(
      "bad-config",
      `cannot read or watch settings: ${String(cause)}`,
      {
        hint: "mend what the message names, then restart recintod",
        cause,
      },
    );
    emit({ type: "problem", file: config.profilesDir, error, kept: true });
  }

  function reloadSafely(): void {
    try {
      reload();
    } catch (error) {
      trouble(error);
    }
  }

  reload(true);
  for (const [file, error] of problems) emit({ type: "problem", file, error, kept: false });

  let timer: NodeJS.Timeout | undefined;
  const besides = new Set<string>();
  const watcher = chokidar.watch(
    [
      ...new Set([
        ...dirs,
        config.projectsDir,
        usersDir(config),
        ...(options.configFile ? [options.configFile] : []),
      ]),
    ],
    { depth: 0, ignoreInitial: true, followSymlinks: false },
  );
  watcher.on("all", (_, path) => {
    if (path === options.configFile) emit({ type: "config-changed", file: path });
    clearTimeout(timer);
    timer = setTimeout(reloadSafely, ADMIN_RELOAD_DELAY_MS);
  });
  // Settings that cannot be read or watched are no reason to stop: what was read holds, and the admin is told.
  watcher.on("error", trouble);

  watchRulesOf(projects);

  /** Rule files that projects have elsewhere. */
  function watchRulesOf(all: ReadonlyMap<string, Project>): void {
    for (const { rules } of all.values()) {
      if (rules === undefined || besides.has(rules)) continue;
      besides.add(rules);
      watcher.add(rules);
    }
  }

  const project = (id: string): Project => {
    const found = projects.get(id);
    if (found === undefined) throw new RecintoError("unknown-project", `no project ${id}`);
    return found;
  };
  const profile = (name: string): Profile => {
    const found = profiles.get(name);
    if (found !== undefined) return found;
    throw (
      problems.get(`profile ${name}`) ??
      new RecintoError("bad-profile", `no profile ${JSON.stringify(name)}`, {
        hint: `there are: ${[...profiles.keys()].join(", ")}`,
      })
    );
  };

  return {
    projects: () => [...projects.values()],
    project,
    profiles: () => [...profiles.keys()],
    profile,
    tryProfile(name, text) {
      const matcher = options.matcher === undefined ? {} : { matcher: options.matcher };
      const parsed = parseProfile(text, { name, file: `${name}.yaml`, ...matcher });
      return resolveProfile(parsed, dirs, matcher);
    },
    addProject(added) {
      // Whoever has just written its profile need not wait for the watching of files to have noticed.
      reload();
      profile(added.profile);
      addProject(config.projectsDir, added, [...projects.values()]);
      reload();
      return project(added.id);
    },
    removeProject(id) {
      const removed = project(id);
      removeProject(config.projectsDir, id);
      reload();
      return removed;
    },
    ruleFiles: ({ id }) =>
      [...ruleFiles.values()].filter(({ source, owner }) => source === "user" || owner === id),
    policySettings: (project, profile, worktree) =>
      policySettings(config, project, profile, worktree),
    resolveWorktree,
    worktreeOf,
    listWorktrees,
    problems: () => problems,
    reload: reloadSafely,
    ready: new Promise((resolve) => watcher.once("ready", () => resolve())),
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** The policy part of a profile for one worktree of one project. */
export function policySettings(
  config: Pick<DaemonConfig, "maxConsecutiveDenials" | "maxTotalDenials">,
  project: Project,
  profile: Profile,
  worktree: string,
): PolicySettings {
  const { rules: _, denials, ...policy } = profile.policy;
  return {
    ...policy,
    profile: profile.name,
    root: project.root,
    worktree,
    readable: profile.mount === "project" ? [project.root, ...profile.readable] : profile.readable,
    scratch: scratchFolders(profile),
    home: SANDBOX_HOME,
    denials: {
      consecutive: config.maxConsecutiveDenials ?? denials.consecutive,
      total: config.maxTotalDenials ?? denials.total,
    },
  };
}

/** A profile that cannot be read any more stays as it was; one whose file is gone goes. */
function readProfiles(
  dirs: readonly string[],
  matcher: RuleMatcher | undefined,
  before: ReadonlyMap<string, Profile>,
  faults: Map<string, RecintoError>,
  kept: Set<string>,
): ReadonlyMap<string, Profile> {
  const next = new Map<string, Profile>();
  for (const name of listProfiles(dirs)) {
    try {
      next.set(name, loadProfile(name, dirs, matcher ? { matcher } : {}));
    } catch (error) {
      if (!(error instanceof RecintoError)) throw error;
      faults.set(`profile ${name}`, error);
      const last = before.get(name);
      if (last === undefined) continue;
      next.set(name, last);
      kept.add(`profile ${name}`);
    }
  }
  return next;
}

function readProjects(
  dir: string,
  before: ReadonlyMap<string, Project>,
  faults: Map<string, RecintoError>,
  kept: Set<string>,
): ReadonlyMap<string, Project> {
  const loaded = loadProjects(dir);
  const next = new Map(loaded.projects.map((project) => [project.id, project]));
  for (const [file, error] of loaded.problems) {
    faults.set(file, error);
    const id = file.slice(dir.length + 1, -".yaml".length);
    const last = before.get(id);
    // A slip of the pen, or an edit that is not trusted, changes nothing. A root that is no longer what it was, or that
    // another project has now, must not live on from memory.
    if (last === undefined || !KEPT_AFTER.has(error.code)) continue;
    if (loaded.projects.some((other) => overlap(last.root, other.root))) continue;
    next.set(id, last);
    kept.add(file);
  }
  return new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const KEPT_AFTER: ReadonlySet<string> = new Set(["bad-config", "unsafe-admin-file"]);

function changedFiles(
  before: ReadonlyMap<string, RuleFile>,
  after: ReadonlyMap<string, RuleFile>,
): readonly string[] {
  const files = new Set([...before.keys(), ...after.keys()]);
  return [...files].filter((file) => !same(before.get(file), after.get(file)));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
