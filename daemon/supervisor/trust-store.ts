/** Which contents of policy files in worktrees a person has trusted (B1): by name and SHA-256, a project's in one file. */
import { join } from "node:path";
import { isMap, isSeq } from "yaml";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { TRUSTED_CONTENTS_MAX } from "../limits.ts";
import { HeldFiles } from "./held-files.ts";

const TrustedSchema = z.strictObject({
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  trustedAt: z.iso.datetime(),
  trustedBy: z.int().min(0),
});
const FileSchema = z.strictObject({ trusted: z.array(TrustedSchema).default([]) });

type Trusted = z.output<typeof TrustedSchema>;

const HEADER = ` Policy files in the worktrees of this project that a person has read and trusted, by content.
 recinto policy trust and recinto policy distrust change it.`;

export class TrustStore {
  readonly #files: HeldFiles<typeof FileSchema>;

  constructor(stateDir: string) {
    this.#files = new HeldFiles({
      folder: join(stateDir, "trust"),
      schema: FileSchema,
      header: HEADER,
    });
  }

  /** Throws `bad-config`, `unsafe-admin-file`. */
  trusts(project: string, name: string, sha256: string): boolean {
    return this.#files
      .read(project)
      .trusted.some((one) => one.name === name && one.sha256 === sha256);
  }

  add(project: string, trusted: Trusted): void {
    if (this.trusts(project, trusted.name, trusted.sha256)) return;
    this.#files.edit(project, (document) => {
      const list = document.get("trusted");
      const added = document.createNode(trusted);
      if (!isSeq(list) || list.items.length === 0) {
        document.set("trusted", document.createNode([added]));
        return;
      }
      if (list.items.length >= TRUSTED_CONTENTS_MAX) {
        throw new RecintoError(
          "busy",
          `project ${project} has ${list.items.length} trusted contents`,
          {
            hint: "distrust the ones that are not there any more: recinto policy distrust PROJECT FILE",
          },
        );
      }
      list.add(added);
    });
  }

  /** Forgets every trusted content of a name; how many there were. */
  remove(project: string, name: string): number {
    const before = this.#files.read(project).trusted.filter((one) => one.name === name).length;
    if (before === 0) return 0;
    this.#files.edit(project, (document) => {
      const list = document.get("trusted");
      if (!isSeq(list)) return;
      list.items = list.items.filter((item) => !isMap(item) || item.get("name") !== name);
    });
    return before;
  }
}
