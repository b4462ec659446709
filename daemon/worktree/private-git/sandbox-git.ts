/** Git inside the sandbox, as its user: the only one that ever reads what the sandbox can write. */
import type { Readable } from "node:stream";
import { RecintoError } from "../../errors.ts";

export interface SandboxGit {
  /** Resolves with any exit code. Everything it prints is the sandbox's word and no more. */
  run(
    words: readonly string[],
    stdin?: string,
  ): Promise<{ exitCode: number; stdout: Buffer; stderr: string }>;
  /** For what may be large: the output as it comes. */
  stream(
    words: readonly string[],
    stdin: string,
  ): Promise<{ stdout: Readable; exited: Promise<number> }>;
}

/** Output of a git in the sandbox that must succeed, trimmed. Throws `engine-failed` with its words. */
export async function sandboxGitText(
  git: SandboxGit,
  words: readonly string[],
  stdin?: string,
): Promise<string> {
  const run = await git.run(words, stdin);
  if (run.exitCode !== 0) {
    throw new RecintoError(
      "engine-failed",
      `git ${words[0]} in the sandbox: ${run.stderr.trim().slice(0, 500)}`,
    );
  }
  return run.stdout.toString().trim();
}
