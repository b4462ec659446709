/** What went wrong, as one of the catalogue's errors: what a client may be told. */
import type { Logger } from "pino";
import { RecintoError } from "../errors.ts";
import { REQUEST_HEAD_BYTES_MAX, REQUEST_TIMEOUT_MS } from "../limits.ts";

export function protocolError(error: NodeJS.ErrnoException): RecintoError {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new RecintoError(
        "head-too-large",
        `the request head is over the limit of ${REQUEST_HEAD_BYTES_MAX} bytes`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RecintoError(
        "request-timeout",
        `the request head was not there after ${REQUEST_TIMEOUT_MS} ms`,
      );
    default:
      return new RecintoError("bad-http", `the request is not HTTP/1.1 (${error.code ?? "?"})`);
  }
}

/** What a client is told: our own errors as they are; anything else is a bug, and its details stay in the log. */
export function toRecintoError(error: unknown, log: Logger): RecintoError {
  if (error instanceof RecintoError) {
    if (error.status >= 500) log.error({ err: error }, error.message);
    return error;
  }
  log.error({ err: error }, "unexpected error");
  return new RecintoError("internal", "something went wrong inside recintod");
}
