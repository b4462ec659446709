/** The rules that approvals with *always* stored: one admin-held YAML file per project, changed whole or not at all. */
import { join } from "node:path";
import { isMap, isSeq } from "yaml";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { SAVED_RULES_MAX } from "../limits.ts";
import { ruleOfSaved } from "../policy/generalise.ts";
import { EFFECTS, type Rule } from "../policy/types.ts";
import { HeldFiles } from "./held-files.ts";
import type { StoredRule } from "./supervisor-interface.ts";

const time = z.iso.datetime().transform((text) => Date.parse(text));

const StoredRuleSchema = z
  .strictObject({
    id: z.string().min(1),
    prefix: z.array(z.string().min(1)),
    effects: z.array(z.enum(EFFECTS)),
    paths: z.array(z.string().startsWith("/")),
    hosts: z.array(z.string().min(1)).min(1).exactOptional(),
    savedAt: time,
    savedBy: z.int().min(0),
    expiresAt: time.nullable(),
    savedFor: z.string(),
  })
  .refine(({ prefix, hosts }) => (prefix.length === 0) === (hosts !== undefined), {
    error: "names either the first words of a command or hosts",
  });
const FileSchema = z.strictObject({ rules: z.array(StoredRuleSchema).default([]) });

const HEADER = ` Rules that approvals with "always" stored for this project.
 recinto rules list and recinto rules revoke show and remove them; edits by hand count at once.`;

export class RuleStore {
  readonly #files: HeldFiles<typeof FileSchema>;
  readonly #now: () => number;

  constructor(stateDir: string, now: () => number) {
    this.#files = new HeldFiles({
      folder: join(stateDir, "rules"),
      schema: FileSchema,
      header: HEADER,
    });
    this.#now = now;
  }

  /** Live rules of a project, in the order in which they were saved. Throws `bad-config`, `unsafe-admin-file`. */
  list(project: string): readonly StoredRule[] {
    const now = this.#now();
    return this.#all(project).filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  /** The same as the policy reads them: a token prefix, any rest, its effects and paths. */
  policyRules(project: string): readonly Rule[] {
    // A rule about hosts says where an approved command may go, never that one is.
    const commands = this.list(project).filter(({ hosts }) => hosts === undefined);
    return commands.map((rule) => ({
      ...ruleOfSaved(rule, `saved/${rule.id}`, "project"),
      justification: `approved with always by uid ${rule.savedBy} on ${new Date(rule.savedAt).toISOString()}`,
    }));
  }

  /** Adds a rule and drops expired ones; everything else in the file, comments too, stays as it is. */
  save(project: string, rule: StoredRule): void {
    this.#files.edit(project, (document) => {
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
          hint: `revoke some (recinto rules list ${project}), or put a broader rule into the profile`,
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
        hint: `recinto rules list ${project} shows them`,
      });
    }
    this.#files.edit(project, (document) => {
      const rules = document.get("rules");
      if (!isSeq(rules)) return;
      rules.items = rules.items.filter((item) => field(item, "id") !== id);
    });
    return found;
  }

  #all(project: string): readonly StoredRule[] {
    return this.#files.read(project).rules;
  }
}

function fileForm(rule: StoredRule): z.input<typeof StoredRuleSchema> {
  return {
    id: rule.id,
    prefix: [...rule.prefix],
    effects: [...rule.effects],
    paths: [...rule.paths],
    ...(rule.hosts === undefined ? {} : { hosts: [...rule.hosts] }),
    savedAt: new Date(rule.savedAt).toISOString(),
    savedBy: rule.savedBy,
    expiresAt: rule.expiresAt === null ? null : new Date(rule.expiresAt).toISOString(),
    savedFor: rule.savedFor,
  };
}

function field(item: unknown, name: string): unknown {
  return isMap(item) ? item.get(name) : undefined;
}
