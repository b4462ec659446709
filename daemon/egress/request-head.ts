/** The head of a proxied request, read so strictly that no two programs could read it differently. Pure. */
import { normaliseHost, parsePort } from "../policy/hosts.ts";

export interface Header {
  readonly name: string;
  readonly value: string;
}

export type BodyLength = number | "chunked";

export interface RequestHead {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Path and query; "" for CONNECT. */
  readonly path: string;
  /** What goes on to the server, in order: nothing that is between client and proxy only. */
  readonly headers: readonly Header[];
  readonly body: BodyLength;
  /** The client wants another request on this connection. */
  readonly keepAlive: boolean;
  /** It waits for a 100 before it sends the body. */
  readonly expectsContinue: boolean;
  readonly version: "1.0" | "1.1";
}

/** `status` is the answer's. */
export type ParsedHead =
  | { readonly head: RequestHead; readonly refused?: undefined }
  | { readonly refused: string; readonly status: 400 | 417 | 431 | 501 };

/** How the request names its server: any host, or only paths of the one that a tunnel was asked for. */
export type RequestForm =
  | { readonly kind: "proxy" }
  | { readonly kind: "origin"; readonly host: string; readonly port: number };

const HEADERS_MAX = 100;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Between client and proxy only (RFC 9110 §7.6.1), whether or not Connection names them. */
const HOP_BY_HOP = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-authorization",
  "proxy-authenticate",
  "expect",
]);
/** Naming one of these in Connection would make two servers see two requests. */
const NEVER_DROPPED = new Set([
  "host",
  "content-length",
  "authorization",
  "cookie",
  "cache-control",
]);

const bad = (refused: string): ParsedHead => ({ refused, status: 400 });

/** `text`: latin1, from the method to the empty line, which it ends with. */
export function parseRequestHead(text: string, form: RequestForm): ParsedHead {
  const lines = text.split("\r\n");
  // The empty line, and what comes after its end.
  lines.length -= 2;
  if (lines.some((line) => /[\r\n\0]/.test(line))) return bad("a line end that is not CR LF");
  const [first = "", ...rest] = lines;
  const line = /^([A-Z][A-Z-]{0,31}) ([\x21-\x7e]+) HTTP\/(1\.[01])$/.exec(first);
  if (line === null) return bad("not a request line of HTTP/1");
  const [, method = "", target = "", version = ""] = line;
  if (rest.length > HEADERS_MAX)
    return { refused: `more than ${HEADERS_MAX} headers`, status: 431 };
  const headers: Header[] = [];
  for (const each of rest) {
    const colon = each.indexOf(":");
    const name = each.slice(0, Math.max(0, colon));
    if (/^[ \t]/.test(each)) return bad("a header folded over lines");
    if (!TOKEN.test(name)) return bad("not a header");
    const value = each.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, "");
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) return bad(`control characters in ${name}`);
    headers.push({ name, value });
  }
  const all = (name: string) =>
    headers.filter((header) => header.name.toLowerCase() === name).map(({ value }) => value);

  const goal = goalOf(method, target, form);
  if (typeof goal === "string") return bad(goal);
  const hosts = all("host");
  if (hosts.length > 1 || (hosts.length === 0 && version === "1.1")) {
    return bad("not exactly one Host header");
  }
  if (hosts[0] !== undefined) {
    const named = parseAuthority(hosts[0], method === "CONNECT" ? goal.port : goal.standardPort);
    if (named === null || named.host !== goal.host || named.port !== goal.port) {
      return bad("the Host header names another server than the request");
    }
  }

  const body = bodyOf(method, version, all("content-length"), all("transfer-encoding"));
  if (typeof body === "object") return body;
  const connection = all("connection").concat(all("proxy-connection")).join(",").toLowerCase();
  const options = connection.split(",").map((option) => option.trim());
  const dropped = options.find((option) => NEVER_DROPPED.has(option));
  if (dropped !== undefined) return bad(`Connection names ${dropped}`);
  const expect = all("expect");
  if (expect.some((value) => value.toLowerCase() !== "100-continue")) {
    return { refused: "an expectation that is not 100-continue", status: 417 };
  }
  const { host, port, path } = goal;
  return {
    head: {
      method,
      host,
      port,
      path,
      headers: headers.filter(({ name }) => {
        const lower = name.toLowerCase();
        return !HOP_BY_HOP.has(lower) && !options.includes(lower) && !OURS.has(lower);
      }),
      body,
      keepAlive:
        !options.includes("close") && (version === "1.1" || options.includes("keep-alive")),
      expectsContinue: expect.length > 0 && version === "1.1" && body !== 0,
      version: version as RequestHead["version"],
    },
  };
}

/** Written anew from what was understood, never passed on. */
const OURS = new Set(["host", "content-length"]);

interface Goal {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly standardPort: number;
}

function goalOf(method: string, target: string, form: RequestForm): Goal | string {
  if (form.kind === "origin") {
    if (method === "CONNECT") return "CONNECT inside a tunnel";
    const asterisk = method === "OPTIONS" && target === "*";
    if (!target.startsWith("/") && !asterisk) return "not a path";
    if (target.includes("#")) return "a fragment in the path";
    return { host: form.host, port: form.port, path: target, standardPort: 443 };
  }
  if (method === "CONNECT") {
    const named = parseAuthority(target, null);
    return named === null ? "CONNECT needs HOST:PORT" : { ...named, path: "", standardPort: 443 };
  }
  const url = /^http:\/\/([^/?#]+)(\/[^#]*|\?[^#]*)?$/i.exec(target);
  if (url === null) {
    return "this is a proxy: it takes absolute http:// addresses, and CONNECT for everything else";
  }
  const named = parseAuthority(url[1] ?? "", 80);
  if (named === null) return "not a server's name in the address";
  const path = url[2] ?? "/";
  return { ...named, path: path.startsWith("/") ? path : `/${path}`, standardPort: 80 };
}

/** `HOST[:PORT]`, without a user; `standard` null: the port must be said. */
function parseAuthority(
  text: string,
  standard: number | null,
): { readonly host: string; readonly port: number } | null {
  const parts = /^(\[[^\]]*\]|[^:@[\]]+)(?::(\d+))?$/.exec(text);
  if (parts === null) return null;
  const named = normaliseHost(parts[1] ?? "");
  const port = parts[2] === undefined ? standard : parsePort(parts[2]);
  if (named.refused !== undefined || port === null) return null;
  return { host: named.host, port };
}

function bodyOf(
  method: string,
  version: string,
  lengths: readonly string[],
  encodings: readonly string[],
): BodyLength | ParsedHead {
  const [length] = lengths;
  const [encoding] = encodings;
  if (lengths.length > 1 || encodings.length > 1) return bad("the length is said twice");
  if (length !== undefined && encoding !== undefined) return bad("a length and chunks");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return bad("not a length");
  if (encoding !== undefined && version === "1.0") return bad("chunks in HTTP/1.0");
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    return { refused: "an encoding that is not chunked", status: 501 };
  }
  const body = encoding === undefined ? Number(length ?? 0) : "chunked";
  return method === "CONNECT" && body !== 0 ? bad("CONNECT with a body") : body;
}

/** The size in a chunk's first line; extensions are refused, since programs disagree about where they end. */
export function parseChunkSize(line: string): number | null {
  return /^[0-9a-fA-F]{1,8}$/.test(line) ? Number.parseInt(line, 16) : null;
}
