/** The rules that approvals with *always* stored: one admin-held YAML file per project, changed whole or not at all. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Document, isMap, isSeq, parseDocument } from "yaml";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { SAVED_RULES_MAX } from "../limits.ts";
import { ruleOfSaved } from "../policy/generalise.ts";
import type { Rule } from "../policy/types.ts";
import { readAdminFile } from "../settings/admin-file.ts";
import { parseAdminYaml } from "../settings/admin-yaml.ts";
import type { StoredRule } from "./supervisor-interface.ts";

const EFFECTS = [
  "read",
  "write",
  "run",
  "git-write",
  "network",
  "engine",
  "install",
  "process",
  "privilege",
  "unknown",
] as const;

const StoredRuleSchema = z.strictObject({
  id: z.string().min(1),
  prefix: z.array(z.string().min(1)).min(1),
  effects: z.array(z.enum(EFFECTS)),
  paths: z.array(z.string().startsWith("/")),
  savedAt: z.iso.datetime(),
  savedBy: z.int().min(0),
  expiresAt: z.iso.datetime().nullable(),
  savedFor: z.string(),
});
const FileSchema = z.strictObject({ rules: z.array(StoredRuleSchema).default([]) });

const HEADER = ` Rules that approvals with "always" stored for this project.
 recinto rules list and recinto rules revoke show and remove them; edits by hand count at once.`;

interface Cached {
  readonly tag: string;
  readonly rules: readonly StoredRule[];
}

export class RuleStore {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #cache = new Map<string, Cached>();

  /** `stateDir/rules` is made when the first rule is saved, root's (or the daemon's user's) alone to write. */
  constructor(stateDir: string, now: () => number) {
    this.#folder = join(stateDir, "rules");
    this.#now = now;
  }

  /** Live rules of a project, in the order in which they were saved. Throws `bad-config`, `unsafe-admin-file`. */
  list(project: string): readonly StoredRule[] {
    const now = this.#now();
    return this.#all(project).filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  /** The same as the policy reads them: a token prefix, any rest, its effects and paths. */
  policyRules(project: string): readonly Rule[] {
    return this.list(project).map((rule) => ({
      ...ruleOfSaved(rule, `saved/${rule.id}`, "project"),
      justification: `approved with always by uid ${rule.savedBy} on ${new Date(rule.savedAt).toISOString()}`,
    }));
  }

  /** Adds a rule and drops expired ones; everything else in the file, comments too, stays as it is. */
  save(project: string, rule: StoredRule): void {
    this.#edit(project, (document) => {
      const rules = document.get("rules");
      const added = document.createNode(fileForm(rule));
      if (!isSeq(rules) || rules.items.length === 0) {
        document.set("rules", document.createNode([added]));
        return;
      }
      const now = this.#now();
      rules.items = rules.items.filter((item) => {
        const expiresAt = field(item, "expiresAt");
        return typeof expiresAt !== "string" || Date.parse(expiresAt) > now;
      });
      if (rules.items.length >= SAVED_RULES_MAX) {
        throw new RecintoError("busy", `project ${project} has ${rules.items.length} saved rules`, {
          hint: "revoke some (recinto rules list), or put a broader rule into the profile",
        });
      }
      rules.add(added);
    });
  }

  /** Removes a rule and returns it. Throws `not-found`. */
  revoke(project: string, id: string): StoredRule {
    const found = this.#all(project).find((rule) => rule.id === id);
    if (found === undefined) {
      throw new RecintoError("not-found", `project ${project} has no saved rule ${id}`, {
        hint: "recinto rules list shows them",
      });
    }
    this.#edit(project, (document) => {
      const rules = document.get("rules");
      if (!isSeq(rules)) return;
      rules.items = rules.items.filter((item) => field(item, "id") !== id);
    });
    return found;
  }

  #all(project: string): readonly StoredRule[] {
    const file = this.#file(project);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const tag = [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.uid, stat.mode].join(":");
    const cached = this.#cache.get(project);
    if (cached?.tag === tag) return cached.rules;
    const rules = parseRules(readAdminFile(file), file);
    this.#cache.set(project, { tag, rules });
    return rules;
  }

  /** One writer at a time; the new file takes the old one's place only when it is whole, valid and on disk. */
  #edit(project: string, change: (document: Document) => void): void {
    const file = this.#file(project);
    mkdirSync(this.#folder, { recursive: true, mode: 0o755 });
    const unlock = lock(`${file}.lock`);
    try {
      const text = existsSync(file) ? readAdminFile(file) : "";
      parseRules(text, file);
      const document = parseDocument(text);
      if (text.trim() === "") document.commentBefore = HEADER;
      change(document);
      const next = document.toString();
      parseRules(next, file);
      replaceFile(file, next);
    } finally {
      unlock();
    }
  }

  #file(project: string): string {
    // Ids are checked when a project is added; here they must only not be able to name another folder.
    if (!/^[a-z0-9][a-z0-9-]*$/.test(project)) {
      throw new RecintoError("unknown-project", `no project ${JSON.stringify(project)}`);
    }
    return join(this.#folder, `${project}.yaml`);
  }
}

function parseRules(text: string, file: string): readonly StoredRule[] {
  const { value } = parseAdminYaml(text, file, FileSchema, "bad-config");
  return value.rules.map((rule) => ({
    ...rule,
    savedAt: Date.parse(rule.savedAt),
    expiresAt: rule.expiresAt === null ? null : Date.parse(rule.expiresAt),
  }));
}

function fileForm(rule: StoredRule): z.input<typeof StoredRuleSchema> {
  return {
    id: rule.id,
    prefix: [...rule.prefix],
    effects: [...rule.effects],
    paths: [...rule.paths],
    savedAt: new Date(rule.savedAt).toISOString(),
    savedBy: rule.savedBy,
    expiresAt: rule.expiresAt === null ? null : new Date(rule.expiresAt).toISOString(),
    savedFor: rule.savedFor,
  };
}

function field(item: unknown, name: string): unknown {
  return isMap(item) ? item.get(name) : undefined;
}

function replaceFile(file: string, text: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true });
  const fd = openSync(next, "wx", 0o644);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Takes the lock file or throws `busy`; one left behind by a process that is gone is taken over. */
function lock(file: string): () => void {
  for (const attempt of [1, 2]) {
    try {
      const fd = openSync(file, "wx", 0o600);
      writeFileSync(fd, String(process.pid));
      closeSync(fd);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (attempt === 1 && holderIsGone(file)) rmSync(file, { force: true });
    }
  }
  throw new RecintoError("busy", `the rule file is being changed: ${file}`, {
    hint: "try again in a moment; remove the lock file if nobody is changing it",
  });
}

function holderIsGone(file: string): boolean {
  const pid = Number(readFileSync(file, "utf8"));
  // Edits are synchronous: a lock with our own number is from before a restart.
  if (pid === process.pid || !Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
