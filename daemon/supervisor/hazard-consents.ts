/** Which links that leave a project a person has accepted: by path, text and end, a project's in one file. */
import { join } from "node:path";
import { isMap, isSeq, YAMLSeq } from "yaml";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { ACCEPTED_LINKS_MAX } from "../limits.ts";
import type { Hazard } from "../worktree/types.ts";
import { HeldFiles } from "./held-files.ts";
import type { Log } from "./ports.ts";

const ConsentSchema = z.strictObject({
  id: z.string().min(1),
  path: z.string().min(1),
  target: z.string(),
  /** null: it led nowhere, or in a circle. */
  resolved: z.string().nullable(),
  acceptedAt: z.iso.datetime(),
  acceptedBy: z.int().min(0),
});
const FileSchema = z.strictObject({ accepted: z.array(ConsentSchema).default([]) });

export type Consent = z.output<typeof ConsentSchema>;

const HEADER = ` Links of this project that lead out of it and that a person has accepted for reading.
 recinto hazards accept and recinto hazards forget change it.`;

export class HazardConsents {
  readonly #files: HeldFiles<typeof FileSchema>;
  readonly #log: Log;

  constructor(stateDir: string, log: Log) {
    this.#files = new HeldFiles({
      folder: join(stateDir, "hazards"),
      schema: FileSchema,
      header: HEADER,
    });
    this.#log = log;
  }

  /**
   * Tells when a link was accepted, in Unix milliseconds; null: it is not, or not as it is now. A file that cannot be
   * believed accepts nothing: more is asked.
   */
  acceptedAt(project: string): (hazard: Hazard) => number | null {
    const held = new Map(this.#held(project).map((consent) => [consent.id, consent]));
    return (hazard) => {
      const consent = held.get(hazard.id);
      return consent !== undefined && covers(consent, hazard)
        ? Date.parse(consent.acceptedAt)
        : null;
    };
  }

  /** Throws `bad-config`, `unsafe-admin-file`. */
  has(project: string, id: string): boolean {
    return this.#files.read(project).accepted.some((consent) => consent.id === id);
  }

  /** In place of what was accepted for the same link before. Throws `busy`. */
  add(project: string, consent: Consent): void {
    this.#change(project, consent.id, consent);
  }

  remove(project: string, id: string): void {
    this.#change(project, id, null);
  }

  #change(project: string, id: string, added: Consent | null): void {
    this.#files.edit(project, (document) => {
      const list = document.get("accepted");
      const others = (isSeq(list) ? list.items : []).filter(
        (item) => !isMap(item) || item.get("id") !== id,
      );
      if (added !== null && others.length >= ACCEPTED_LINKS_MAX) {
        throw new RecintoError("busy", `project ${project} has ${others.length} accepted links`, {
          hint: "forget the ones that are not there any more: recinto hazards forget ID",
        });
      }
      const next = new YAMLSeq(document.schema);
      next.items = added === null ? others : [...others, document.createNode(added)];
      document.set("accepted", next);
    });
  }

  #held(project: string): readonly Consent[] {
    try {
      return this.#files.read(project).accepted;
    } catch (error) {
      this.#log.error({ project, error }, "accepted links are not used");
      return [];
    }
  }
}

/** The id is a short digest of the path, which an agent could make twice: the path counts too. */
function covers(consent: Consent, { path, target, resolved }: Hazard): boolean {
  return (
    consent.path === path &&
    consent.target === (target ?? "") &&
    consent.resolved === (resolved ?? null)
  );
}
