/** What Docker and its socket say when something fails, in Recinto's own errors. */
import { RecintoError } from "../../errors.ts";

const AWAY = new Set(["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "ABORT_ERR"]);

/** `doing` completes the sentence "the engine failed to …". */
export function engineError(error: unknown, doing: string, socketPath: string): RecintoError {
  if (error instanceof RecintoError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const said = saidBy(error);
  if (statusCode === undefined) {
    if (code === "EACCES" || code === "EPERM") {
      return new RecintoError(
        "engine-unreachable",
        `may not open the engine's socket ${socketPath}`,
        {
          hint: "run recintod as root or as a member of the socket's group",
          cause: error,
        },
      );
    }
    if (code === undefined || AWAY.has(code)) {
      const message = `the container engine does not answer at ${socketPath} (${code ?? said})`;
      return new RecintoError("engine-unreachable", message, { cause: error });
    }
  }
  if (statusCode === 404 && /no such image/i.test(said)) {
    return new RecintoError("image-missing", `failed to ${doing}: ${said}`, { cause: error });
  }
  // Docker 20 says "Unknown runtime specified runsc", later ones "unknown or invalid runtime name: runsc".
  if (/unknown (or invalid )?runtime/i.test(said)) {
    return new RecintoError("runtime-missing", `failed to ${doing}: ${said}`, { cause: error });
  }
  return new RecintoError("engine-failed", `the engine failed to ${doing}: ${said}`, {
    details: statusCode === undefined ? {} : { status: statusCode },
    cause: error,
  });
}

/** The status of the engine's answer, or null where there was none. */
export function statusOf(error: unknown): number | null {
  const { statusCode } = error as { statusCode?: number };
  return statusCode ?? null;
}

/** The engine's own words without the client's decoration. */
function saidBy(error: unknown): string {
  const { json, message } = error as { json?: { message?: string }; message?: string };
  return (json?.message ?? message ?? String(error)).trim().replace(/^\(HTTP code \d+\) /, "");
}
