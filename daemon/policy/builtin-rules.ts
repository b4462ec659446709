/** The rules that come with the program: what asks in any project unless somebody with more to say decides otherwise. */
import type { Rule } from "./types.ts";

/**
 * Lowest of the four sources (B1). Each would ask without the rule too; what the rule adds is the reason that is read.
 * A file with `merge: false` drops them.
 */
export const BUILTIN_RULES: readonly Rule[] = [
  ...ask("publish", "what is published is out of reach; people and pipelines release", [
    "npm publish *",
    "pnpm publish *",
    "yarn publish *",
    "yarn npm publish *",
    "cargo publish *",
    "gem push *",
    "twine upload *",
    "docker push *",
  ]),
  ...ask("deploy", "it changes what runs elsewhere; people and pipelines deploy", [
    "kubectl apply *",
    "kubectl delete *",
    "helm install *",
    "helm upgrade *",
    "terraform apply *",
    "terraform destroy *",
    "tofu apply *",
    "pulumi up *",
  ]),
  ...ask("forge", "others see it at once: say what you would write, a person sends it", [
    "gh pr create *",
    "gh pr comment *",
    "gh issue create *",
    "gh issue comment *",
    "gh release create *",
    "glab mr create *",
  ]),
];

/** What an agent can do instead, by the rules' name. */
export const BUILTIN_INSTEAD: Readonly<Record<string, string>> = {
  "builtin/publish": "build it and say that it is ready; a person releases it",
  "builtin/deploy": "write the manifest or the plan into the worktree; a person applies it",
  "builtin/forge": "write the text into your answer; a person sends it",
};

function ask(name: string, justification: string, patterns: readonly string[]): readonly Rule[] {
  return patterns.map((pattern, index) => ({
    id: `builtin/${name}/${index + 1}`,
    source: "builtin",
    action: "ask",
    tool: "exec",
    pattern: pattern.split(" "),
    justification,
  }));
}
