/** Refuses requests that a browser was made to send: no page may drive the daemon. */
import type { IncomingMessage } from "node:http";
import { RecintoError } from "../errors.ts";
import { echo } from "./router.ts";

/** Names by which a client may call a socket that has no host. */
const HOSTS: readonly (string | undefined)[] = [undefined, "", "localhost", "recinto"];

/** A browser can be made to send requests; it always says so in one of these headers (a rebound name shows in Host). */
export function refuseBrowsers(request: IncomingMessage): void {
  for (const name of ["origin", "referer"] as const) {
    const value = request.headers[name];
    if (value !== undefined) {
      throw new RecintoError("browser-refused", `the request has ${name}: ${echo(value)}`);
    }
  }
  if (!HOSTS.includes(request.headers.host)) {
    throw new RecintoError("browser-refused", `the request is for ${echo(request.headers.host)}`, {
      hint: "send Host: localhost or recinto",
    });
  }
}
