/** Looks into TLS for the hosts that an admin named: our certificate inside, the server's own checked outside. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import {
  connect,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  TLSSocket,
} from "node:tls";
import { EGRESS_CONNECT_TIMEOUT_MS, EGRESS_LEAVES_KEPT_MAX } from "../limits.ts";
import { parseAddress } from "../policy/addresses.ts";
import { TRUST_FILES } from "../settings/sandbox-home.ts";
import { type Certified, newAuthority, newLeaf } from "./certificates.ts";
import type { Interception } from "./connection.ts";

const NAME = "Recinto egress authority";
const DAY_MS = 24 * 60 * 60_000;
const AUTHORITY_LIFE_MS = 5 * 365 * DAY_MS;
const LEAF_LIFE_MS = 7 * DAY_MS;

/**
 * The authority of this installation: made on first use, made anew in its last month. The key is in `folder`, root's
 * alone; `folder/trust` holds what sandboxes may see.
 */
export function loadAuthority(folder: string, now: number): Certified & { readonly trust: string } {
  const trust = join(folder, "trust");
  const keyFile = join(folder, "authority.key");
  const certificateFile = join(trust, TRUST_FILES.own);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(keyFile) && existsSync(certificateFile)) {
    const certificate = readFileSync(certificateFile, "utf8");
    const key = createPrivateKey(readFileSync(keyFile, "utf8"));
    const known = new X509Certificate(certificate);
    const fresh = Date.parse(known.validTo) - 30 * DAY_MS > now;
    if (fresh && known.checkPrivateKey(key)) return { key, certificate, trust };
  }
  const made = newAuthority(NAME, now, AUTHORITY_LIFE_MS);
  mkdirSync(trust, { recursive: true });
  // Whatever the daemon's mask: commands of any user read it.
  chmodSync(trust, 0o755);
  const key = made.key.export({ type: "pkcs8", format: "pem" }) as string;
  replace(keyFile, key, 0o600);
  replace(certificateFile, made.certificate, 0o644);
  const all = [...rootCertificates, made.certificate].join("\n");
  replace(join(trust, TRUST_FILES.all), all, 0o644);
  return { ...made, trust };
}

function replace(path: string, text: string, mode: number): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
}

/** `trusted`: what servers may be certified by; absent: what everybody trusts. */
export function interceptBy(
  authority: Certified,
  now: () => number,
  trusted?: readonly string[],
): Interception {
  const leaves = new Map<string, { readonly context: SecureContext; readonly until: number }>();
  const contextFor = (host: string): SecureContext => {
    const known = leaves.get(host);
    if (known !== undefined && known.until > now()) return known.context;
    const { key, certificate } = newLeaf(authority, NAME, host, now(), LEAF_LIFE_MS);
    const context = createSecureContext({
      key: key.export({ type: "pkcs8", format: "pem" }),
      cert: certificate,
      minVersion: "TLSv1.2",
    });
    if (leaves.size >= EGRESS_LEAVES_KEPT_MAX) leaves.clear();
    leaves.set(host, { context, until: now() + LEAF_LIFE_MS - DAY_MS });
    return context;
  };
  return {
    answer: (client, host) => {
      const secured = new TLSSocket(client as never, {
        isServer: true,
        secureContext: contextFor(host),
        ALPNProtocols: ["http/1.1"],
      });
      return settled(secured, "secure");
    },
    ask: (server, host) => {
      const secured = connect({
        socket: server,
        host,
        ...(parseAddress(host) === null ? { servername: host } : {}),
        ALPNProtocols: ["http/1.1"],
        minVersion: "TLSv1.2",
        ...(trusted === undefined ? {} : { ca: [...trusted] }),
      });
      return settled(secured, "secureConnect");
    },
  };
}

function settled(socket: TLSSocket, event: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new RangeError("no answer in time")),
      EGRESS_CONNECT_TIMEOUT_MS,
    );
    const over = (error?: Error) => {
      clearTimeout(timer);
      reject(error ?? new RangeError("closed"));
    };
    socket.once("error", over);
    socket.once("close", () => over());
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off("error", over);
      resolve(socket);
    });
  });
}
