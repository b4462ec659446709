/** Commands held to what was decided about them, in a real sandbox: what tests of confinement share. */
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfinementInput } from "../../daemon/sandbox/confinement.ts";
import type { ExecutorKind } from "../../daemon/sandbox/executor.ts";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import type { Profile } from "../../daemon/settings/types.ts";
import { AGENT, outputOf, Rig } from "./rig.ts";

export type Decided = Pick<ConfinementInput, "segments" | "approved" | "grants">;

export const judged = (...classes: Decided["segments"][number]["classes"]): Decided => ({
  segments: [{ classes, rung: "scope", rule: "scope/test" }],
  approved: false,
  grants: [],
});

export class Confined {
  readonly rig: Rig;
  readonly handle: SandboxHandle;
  readonly worktree: string;

  private constructor(rig: Rig, handle: SandboxHandle) {
    this.rig = rig;
    this.handle = handle;
    this.worktree = handle.worktree;
  }

  static async make(
    executor: ExecutorKind,
    { git = false, ...more }: Partial<Omit<Profile, "git">> & { readonly git?: boolean } = {},
  ): Promise<Confined> {
    const rig = await Rig.make({ executor, ...more });
    const worktree = git ? rig.gitWorktree("confined") : rig.folder("confined");
    return new Confined(rig, await rig.daemon().ensure(rig.project, rig.profile, worktree));
  }

  /** What commands of a test find: `file` and `src/auth/`, the agent's. */
  refresh(): void {
    mkdirSync(join(this.worktree, "src/auth"), { recursive: true });
    writeFileSync(join(this.worktree, "file"), "text");
    for (const name of ["src", "src/auth", "file"]) {
      chownSync(join(this.worktree, name), AGENT.uid, AGENT.gid);
    }
  }

  /** `decided` null: nothing but the sandbox holds it, which is what a difference is shown against. */
  start(command: string, decided: Decided | null) {
    const how = decided === null ? {} : { confinement: this.handle.confine(decided).confinement };
    return this.handle.exec({ command, cwd: this.worktree, stdin: false, ...how });
  }

  async run(command: string, decided: Decided | null) {
    const { stdout, stderr, exit } = await outputOf(await this.start(command, decided));
    const held = decided === null ? null : this.handle.confine(decided);
    const hint = held?.hint(exit.exitCode, stderr) ?? null;
    return { stdout, stderr, code: exit.exitCode, text: held?.text, hint };
  }

  close(): Promise<void> {
    return this.rig.close();
  }
}
