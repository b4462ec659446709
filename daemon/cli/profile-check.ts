/** Checks one profile file on this machine, as the daemon would when it loads it. */
import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RecintoError } from "../errors.ts";
import { readAdminFile } from "../settings/admin-file.ts";
import type { FileProblem } from "../settings/admin-yaml.ts";
import { parseProfile, resolveProfile, SHIPPED_PROFILES_DIR } from "../settings/profiles.ts";
import type { Profile } from "../settings/types.ts";

/** Throws `bad-profile`, with every mistake in `details.problems`. */
export function checkProfileFile(file: string, profilesDir: string | undefined): Profile {
  const text = textOf(file);
  if (text.split("\n").every((line) => /^\s*(?:#.*)?$|^---\s*$/.test(line))) {
    throw new RecintoError("bad-profile", `${file} is empty`, {
      hint: "write `extends: default`, then what is different; docs/profiles.md has every key",
    });
  }
  const parsed = parseProfile(text, {
    name: basename(file).replace(/\.ya?ml$/, ""),
    file,
  });
  const dirs = [profilesDir ?? dirname(file), SHIPPED_PROFILES_DIR];
  return resolveProfile(parsed, dirs);
}

/**
 * Why the daemon would not read the file as it lies there, and the command that mends it; null: it would. A draft is
 * checked all the same, since it may be copied to its place by root.
 */
export function unsafeFile(file: string): { readonly why: string; readonly fix: string } | null {
  // The daemon trusts the shipped ones as it trusts itself.
  if (join(dirname(resolve(file)), "/") === SHIPPED_PROFILES_DIR) return null;
  try {
    readAdminFile(file);
    return null;
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
    // A draft's folder may be anybody's, /tmp say: then it is the file that has to move.
    const moves = error.code === "unsafe-admin-file" && error.details.path !== resolve(file);
    const fix = moves ? "put it into the profiles folder, /etc/recinto/profiles" : error.hint;
    return { why: error.message, fix };
  }
}

/** Every mistake, one a line, as `FILE:LINE:COLUMN: KEY: what is wrong`; null: the error has none to list. */
export function listProblems(error: unknown): readonly string[] | null {
  if (!(error instanceof RecintoError)) return null;
  const { file, problems } = error.details as { file?: string; problems?: readonly FileProblem[] };
  if (file === undefined || problems === undefined) return null;
  return problems.map(
    ({ line, column, key, message }) =>
      `${file}:${line}:${column}: ${key === "" ? "" : `${key}: `}${message}`,
  );
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
