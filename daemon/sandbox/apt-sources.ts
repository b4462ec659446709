/** Where packages come from: the machine's own apt settings, since no mirror is written down here. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { RecintoError } from "../errors.ts";

const run = promisify(execFile);

const TARGET_FORMAT = "$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)\t$(SIGNED_BY)";
/** What apt prints for a field that a source does not have. */
const UNSET = "$(SIGNED_BY)";
/** Options of apt that say how a mirror is reached. */
const TRANSPORT = /^Acquire::(?:https?::[\w:.-]+|Retries) "[^"]*";$/;

export interface AptSettings {
  /** One-line sources. */
  readonly sources: readonly string[];
  /** Options in the syntax of apt.conf, such as a proxy. */
  readonly options: readonly string[];
}

/** Throws `image-build-failed` on a machine that is no Debian or has no source of Debian packages. */
export async function machineAptSettings(suite: string): Promise<AptSettings> {
  const asked = [
    run("apt-get", ["indextargets", "--format", TARGET_FORMAT, "Created-By: Packages"]),
    run("apt-config", ["dump"]),
  ] as const;
  const [targets, config] = await Promise.all(asked).catch((cause: unknown) => {
    throw noSources("apt does not answer", cause);
  });
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? "";
  const sources = debianSources(targets.stdout, codename, suite);
  if (sources.length === 0)
    throw noSources(`apt has no source of ${codename || "Debian"} packages`);
  return { sources, options: transportOptions(config.stdout) };
}

/** The machine's sources of its own release (with updates and security), for `suite` instead. */
export function debianSources(targets: string, codename: string, suite: string): string[] {
  const own = new RegExp(`^(?:${codename}|stable)(-updates|-security)?$`);
  const lines = targets.split("\n").flatMap((line) => {
    const [uri = "", release = "", component = "", signedBy = UNSET] = line.split("\t");
    const found = own.exec(release);
    if (found === null || component !== "main") return [];
    const option = signedBy === UNSET || signedBy === "" ? "" : `[signed-by=${signedBy}] `;
    return [`deb ${option}${uri} ${suite}${found[1] ?? ""} main`];
  });
  return [...new Set(lines)];
}

export function transportOptions(dump: string): string[] {
  return dump.split("\n").filter((line) => TRANSPORT.test(line));
}

function noSources(why: string, cause?: unknown): RecintoError {
  return new RecintoError("image-build-failed", `cannot tell where to get packages: ${why}`, {
    hint: "build on Debian, or make the image elsewhere and name its id in the profile",
    cause,
  });
}
