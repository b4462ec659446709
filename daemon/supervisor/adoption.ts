/** Before the first command nothing of a former daemon runs on: asked until the engine has answered once. */
import type { SandboxPort } from "./ports.ts";

/** Adopts at most once; throws what the engine throws, and then the next call tries again. */
export function adoptOnce(sandboxes: Pick<SandboxPort, "adopt">): () => Promise<void> {
  let adopted: Promise<void> | null = null;
  return () => {
    adopted ??= sandboxes.adopt().then(
      () => undefined,
      (error: unknown) => {
        adopted = null;
        throw error;
      },
    );
    return adopted;
  };
}
