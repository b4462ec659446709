/** Checks one profile file on this machine, as the daemon would when it loads it. */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { RecintoError } from "../errors.ts";
import { parseProfile, resolveProfile, SHIPPED_PROFILES_DIR } from "../settings/profiles.ts";
import type { Profile } from "../settings/types.ts";

/** Who owns the file is not looked at: a draft in somebody's home is checked like any other. Throws `bad-profile`. */
export function checkProfileFile(file: string, profilesDir: string | undefined): Profile {
  const parsed = parseProfile(textOf(file), {
    name: basename(file).replace(/\.ya?ml$/, ""),
    file,
  });
  const dirs = [profilesDir ?? dirname(file), SHIPPED_PROFILES_DIR];
  return resolveProfile(parsed, dirs);
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const why = cause instanceof TypeError ? "not UTF-8 text" : (cause as Error).message;
    throw new RecintoError("bad-profile", `${file}: ${why}`, {
      hint: "name a readable YAML file",
      cause,
    });
  }
}
