/** The projects an admin declared: one YAML file each, written whole or not at all. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { RecintoError } from "../errors.ts";
import { readAdminFile } from "./admin-file.ts";
import { PROJECT_ID, parseProject, projectFile } from "./project-schema.ts";
import { isProjectRules } from "./rule-files.ts";
import type { Project } from "./types.ts";

export interface LoadedProjects {
  /** Sorted by id. */
  readonly projects: readonly Project[];
  /** One for each file that was left out, by file. */
  readonly problems: ReadonlyMap<string, RecintoError>;
}

/** Every project file in `dir` that can be used, and why the others cannot. */
export function loadProjects(dir: string): LoadedProjects {
  const projects: Project[] = [];
  const problems = new Map<string, RecintoError>();
  for (const name of existsSync(dir) ? readdirSync(dir).sort() : []) {
    const id = name.slice(0, -".yaml".length);
    if (!name.endsWith(".yaml") || name.startsWith(".") || isProjectRules(name)) continue;
    const file = join(dir, name);
    try {
      projects.push(checkProject(readProject(file, id), projects));
    } catch (error) {
      if (!(error instanceof RecintoError)) throw error;
      problems.set(file, error);
    }
  }
  return { projects, problems };
}

/**
 * Writes a new project's file. Throws `bad-request` for a malformed field, `project-refused` for a root that cannot be
 * one, `project-exists`.
 */
export function addProject(dir: string, project: Project, others: readonly Project[]): Project {
  const { id, ...fields } = project;
  if (!PROJECT_ID.test(id)) throw badId(id);
  const parsed = projectFile.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RecintoError("bad-request", `${issue?.path.join(".")}: ${issue?.message}`);
  }
  const checked = checkProject({ id, ...parsed.data }, others);
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const head = `# Project ${id}; recinto project add wrote this.\n`;
  createWhole(join(dir, `${id}.yaml`), head + stringify(parsed.data), id);
  return checked;
}

/** Removes a project's file. Throws `unknown-project`. Sandboxes and journal are not touched. */
export function removeProject(dir: string, id: string): void {
  if (!PROJECT_ID.test(id)) throw badId(id);
  const file = join(dir, `${id}.yaml`);
  if (!existsSync(file)) throw new RecintoError("unknown-project", `no project ${id}`);
  rmSync(file);
  syncFolder(dir);
}

function readProject(file: string, id: string): Project {
  if (!PROJECT_ID.test(id)) {
    throw new RecintoError("bad-config", `${file}: ${JSON.stringify(id)} cannot be a project id`, {
      hint: "name the file ID.yaml: lower-case letters, digits and -, 63 at most",
    });
  }
  return parseProject(readAdminFile(file), { id, file });
}

/** What only the disk and the other projects can tell. Throws `project-refused` or `project-exists`. */
function checkProject(project: Project, others: readonly Project[]): Project {
  const { id, root } = project;
  const refused = (why: string, hint?: string) =>
    new RecintoError("project-refused", `project ${id}: root ${root} ${why}`, hint ? { hint } : {});
  let real: string;
  try {
    real = realpathSync(root);
    if (!lstatSync(root).isDirectory() && real === root) throw refused("is not a folder");
  } catch (error) {
    if (error instanceof RecintoError) throw error;
    throw refused(`cannot be opened (${(error as NodeJS.ErrnoException).code})`);
  }
  if (real !== root) throw refused("has a link on the way", `name the real folder: ${real}`);
  for (const other of others) {
    if (other.id === id)
      throw new RecintoError("project-exists", `there is a project ${id} already`);
    if (overlap(root, other.root)) {
      throw refused(
        `and project ${other.id}'s ${other.root} lie in one another`,
        "give each project a folder of its own",
      );
    }
  }
  return project;
}

/** Whether one folder is the other or lies in it. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** The file appears under its name with all of its content, or not at all, and never over another. */
function createWhole(file: string, text: string, id: string): void {
  const draft = join(dirname(file), `.${id}.${process.pid}.draft`);
  rmSync(draft, { force: true });
  const handle = openSync(draft, "wx", 0o644);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new RecintoError("project-exists", `there is a project ${id} already`);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(file));
}

function syncFolder(dir: string): void {
  const handle = openSync(dir, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function badId(id: string): RecintoError {
  return new RecintoError("bad-request", `${JSON.stringify(id)} cannot be a project id`, {
    hint: "lower-case letters, digits and -, beginning with a letter or digit, 63 at most",
  });
}
