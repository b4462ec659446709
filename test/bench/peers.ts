/** Sandboxes of others that may be on this machine, to run a command in beside ours; nothing is fetched for it. */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";

export interface Peer {
  readonly name: string;
  /** Words that run `bash -c true` in it; null: it is not here. */
  readonly argv: readonly string[] | null;
  readonly absent: string;
}

/** As one would confine a command by hand: nothing writable, no network, no other process in sight. */
const BWRAP = [
  "bwrap",
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
  ...["--unshare-all", "--die-with-parent"],
  ...["bash", "-c", "true"],
];

export function peers(): readonly Peer[] {
  return [
    found("bubblewrap", BWRAP, "no bwrap that works here (apt-get install bubblewrap)"),
    found(
      "sandbox_runtime",
      sandboxRuntime(),
      "no @anthropic-ai/sandbox-runtime that works here (npm install --no-save it, with bubblewrap and socat)",
    ),
  ];
}

function found(name: string, argv: readonly string[] | null, absent: string): Peer {
  try {
    const [program = "", ...words] = argv ?? [];
    if (argv !== null) execFileSync(program, words, { stdio: "ignore", timeout: 20_000 });
    return { name, argv, absent };
  } catch {
    return { name, argv: null, absent };
  }
}

/** By its command line, where the package is beside ours. */
function sandboxRuntime(): readonly string[] | null {
  const { resolve } = createRequire(import.meta.url);
  try {
    const cli = resolve("@anthropic-ai/sandbox-runtime/dist/cli.js");
    return [process.execPath, cli, "bash -c true"];
  } catch {
    return null;
  }
}
