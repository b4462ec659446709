/** How commands run in the sandboxes that are there, for people who look at them. */
import type { SandboxStatus } from "../sandbox/engine.ts";
import type { ExecutorChoice } from "../sandbox/executor.ts";
import type { SandboxKey } from "../sandbox/sandboxes.ts";
import type { Registry } from "../settings/registry.ts";
import type { SandboxPort } from "./ports.ts";
import type { SandboxInfo } from "./supervisor-interface.ts";

export function withExecutors(
  sandboxes: readonly (SandboxStatus & SandboxKey)[],
  port: Pick<SandboxPort, "executor">,
  registry: Registry,
): readonly SandboxInfo[] {
  return sandboxes.map((sandbox) => {
    const project = registry.projects().find(({ id }) => id === sandbox.project);
    if (project === undefined) return sandbox;
    try {
      return {
        ...sandbox,
        executor: shown(port.executor(sandbox, registry.profile(project.profile))),
      };
    } catch {
      return sandbox; // Its profile cannot be used: nothing runs in it until that is mended.
    }
  });
}

/** The choice alone: what runs a command is a choice and much more. */
function shown({ kind, reason, landlock }: ExecutorChoice): ExecutorChoice {
  return { kind, reason, landlock };
}
