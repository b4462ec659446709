/** Container engines, clusters and infrastructure: what only looks at them has the effect `engine`. */

import { use } from "./draft.ts";
import { asks } from "./packages.ts";
import { type Form, given, textOf, type VerbSpec } from "./spec.ts";

/** A command that changes the engine or starts something on it. */
const changes: Form = {
  class: "unknown",
  custom: (_words, draft) => {
    use(draft, "unknown", draft.form, { cwd: true, tree: true });
    draft.lifts.push(`${draft.form} changes what runs outside the sandbox`);
  },
};

/** The forms of a tool that only look, by sub-command; what is under a group is given as `group child`. */
function looking(
  plain: string,
  groups: Readonly<Record<string, string>> = {},
): NonNullable<Form["sub"]> {
  return {
    [plain]: asks("engine"),
    ...Object.fromEntries(
      Object.entries(groups).map(([group, children]) => [
        group,
        { sub: { [children]: asks("engine") }, otherSub: changes, noSub: {} },
      ]),
    ),
  };
}

const ELSEWHERE = "picks another engine or configuration";

export const engines: readonly VerbSpec[] = [
  {
    names: ["docker", "podman", "nerdctl"],
    note: "looks at an engine that a sandbox does not have",
    flags: "-D --debug -l= --log-level=",
    lifts: {
      [ELSEWHERE]:
        "-H= --host= -c= --context= --config= --tls --tlscacert= --tlscert= --tlskey= --tlsverify --url= --remote --connection=",
    },
    sub: looking("ps images inspect logs info version stats top port diff history events", {
      container: "ls list ps inspect logs stats top port diff",
      image: "ls list inspect history",
      network: "ls list inspect",
      volume: "ls list inspect",
      context: "ls list show inspect",
      system: "df info events",
      compose: "ps logs config ls images top version",
      buildx: "ls inspect version du",
      manifest: "inspect",
    }),
    otherSub: changes,
    noSub: {},
    help: "--version -v --help -h help",
    examples: ["docker --version"],
  },
  {
    names: ["docker-compose"],
    flags: "--ansi= --compatibility --no-ansi",
    lifts: { [ELSEWHERE]: "-H= --host= --context= --tls" },
    reads: "-f= --file= --env-file= --project-directory=",
    sub: looking("ps logs config images top version ls"),
    otherSub: changes,
    noSub: asks("engine"),
    help: "",
    // Even this asks the engine.
    examples: [],
  },
  {
    names: ["kubectl", "oc"],
    note: "looks at a cluster",
    flags: "-n= --namespace= -v= --request-timeout= --warnings-as-errors",
    lifts: {
      [ELSEWHERE]:
        "--kubeconfig= --context= --cluster= --user= -s= --server= --token= --as= --as-group= --certificate-authority=",
    },
    sub: looking(
      "get describe logs top version cluster-info api-resources api-versions explain events diff",
      {
        config: "view get-contexts current-context get-clusters get-users",
        auth: "can-i whoami",
        rollout: "status history",
      },
    ),
    otherSub: changes,
    // Even its help looks for a cluster.
    noSub: asks("engine"),
    help: "",
    examples: [],
  },
  {
    names: [
      "helm",
      "kustomize",
      "k9s",
      "minikube",
      "kind",
      "k3d",
      "crictl",
      "ctr",
      "argocd",
      "flux",
      "skaffold",
      "istioctl",
    ],
    sub: looking("list ls status history show search version env lint template get"),
    otherSub: changes,
    noSub: {},
    help: "--version --help -h help",
    examples: ["helm --help"],
  },
  {
    names: ["terraform", "tofu", "terragrunt"],
    chdirs: "-chdir=",
    oneDash: true,
    sub: {
      ...looking("show validate version output providers graph test plan", {
        state: "list show",
        workspace: "list show",
      }),
      fmt: {
        oneDash: true,
        flags: "-check -diff -list= -recursive -no-color -write=",
        operands: "tree",
        refine: (parsed, draft) => {
          const keeps =
            given(parsed, "-check") ||
            parsed.options.some(
              ({ name, value }) => name === "-write" && textOf(value) === "false",
            );
          if (!keeps) use(draft, "write", draft.form, { cwd: true, tree: true });
        },
      },
    },
    otherSub: changes,
    noSub: {},
    help: "--version -version -v --help -h -help",
    examples: ["terraform --version"],
  },
  {
    names: [
      "ansible",
      "ansible-playbook",
      "pulumi",
      "vagrant",
      "packer",
      "nomad",
      "consul",
      "vault",
      "systemd-run",
      "lxc",
      "incus",
      "virsh",
    ],
    note: "known by name; everything they do asks",
    help: "--version --help -h",
    custom: (words, draft, context) => changes.custom?.(words, draft, context),
    class: "unknown",
    examples: ["ansible --version"],
  },
];
