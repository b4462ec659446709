/** Reads a contract file on this machine: every mistake and warning with its place; no daemon needed. */
import { readFileSync } from "node:fs";
import { compileContract } from "../authority/contract.ts";
import { lintContract } from "../authority/lint.ts";
import type { Contract } from "../authority/types.ts";
import { RecintoError } from "../errors.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../settings/profiles.ts";

export interface CheckedContract {
  readonly contract: Contract | null;
  /** `FILE:LINE:COLUMN: KEY: what is wrong`, one each. */
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
}

/** `profile`: what the envelope is held against; absent: nothing. Throws `bad-contract` for what is no text. */
export function checkContractFile(
  file: string,
  text: string,
  profile: { readonly name: string; readonly dir?: string } | undefined,
): CheckedContract {
  const at = ({
    line,
    column,
    key,
    message,
  }: {
    line: number;
    column: number;
    key: string;
    message: string;
  }) => `${file}:${line}:${column}: ${key === "" ? "" : `${key}: `}${message}`;
  const compiled = compileContract(text);
  if (compiled.problems !== undefined) {
    return { contract: null, mistakes: compiled.problems.map(at), warnings: [] };
  }
  const { contract, locate } = compiled;
  const standings =
    profile === undefined
      ? {}
      : {
          [profile.name]: loadProfile(profile.name, [
            ...(profile.dir === undefined ? [] : [profile.dir]),
            SHIPPED_PROFILES_DIR,
          ]).policy.standing,
        };
  const warnings = lintContract(contract, locate, standings);
  return {
    contract,
    mistakes: [],
    warnings: warnings.map((one) => at({ ...one, message: `${one.code}: ${one.message}` })),
  };
}

/** Of a file, or of standard input for `-`. */
export function contractText(file: string): string {
  try {
    const bytes = readFileSync(file === "-" ? 0 : file);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const why = cause instanceof TypeError ? "not UTF-8 text" : (cause as Error).message;
    throw new RecintoError("bad-contract", `${file}: ${why}`, {
      hint: "name a readable YAML file",
      cause,
    });
  }
}
