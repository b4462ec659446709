/** X.509 certificates of the daemon's own: one authority, and a leaf for each host that is looked into. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { parseAddress } from "../policy/addresses.ts";

export interface Certified {
  readonly key: KeyObject;
  /** PEM. */
  readonly certificate: string;
}

/** DER (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const octets = (...parts: readonly Uint8Array[]) => der(0x04, ...parts);
const bits = (bytes: Uint8Array, unused = 0) => der(0x03, Buffer.from([unused]), bytes);
const yes = der(0x01, Buffer.from([0xff]));
const integer = (...bytes: readonly number[]) => der(0x02, Buffer.from(bytes));
const text = (value: string) => der(0x0c, Buffer.from(value));

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [40 * first + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

function time(ms: number): Buffer {
  const stamp = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  // Up to 2049 the two-digit form is required (RFC 5280 §4.1.2.5).
  return stamp < "2050" ? der(0x17, Buffer.from(stamp.slice(2))) : der(0x18, Buffer.from(stamp));
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid("2.5.4.3"), text(commonName))));
}

function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(id), ...(critical ? [yes] : []), octets(value));
}

function publicDer(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

function keyId(key: KeyObject): Buffer {
  return createHash("sha256").update(publicDer(key)).digest().subarray(0, 20);
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly from: number;
  readonly until: number;
  readonly extensions: readonly Buffer[];
}

function certify({ subject, issuer, key, signer, from, until, extensions }: Contents): string {
  // Positive, and never with a byte too many.
  const serial = [0x40 | ((randomBytes(1)[0] ?? 0) & 0x3f), ...randomBytes(15)];
  const body = sequence(
    der(0xa0, integer(2)),
    integer(...serial),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(time(from), time(until)),
    nameOf(subject),
    publicDer(key),
    der(
      0xa3,
      sequence(
        ...extensions,
        extension("2.5.29.14", false, octets(keyId(key))),
        extension("2.5.29.35", false, sequence(der(0x80, keyId(signer)))),
      ),
    ),
  );
  const whole = sequence(body, ECDSA_SHA256, bits(sign("sha256", body, signer)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;

/** For clocks that differ a little. */
const SLACK_MS = 60 * 60_000;

export function newAuthority(name: string, now: number, lifeMs: number): Certified {
  const key = newKey();
  const certificate = certify({
    subject: name,
    issuer: name,
    key,
    signer: key,
    from: now - SLACK_MS,
    until: now + lifeMs,
    extensions: [
      extension("2.5.29.19", true, sequence(yes, integer(0))),
      // keyCertSign, cRLSign.
      extension("2.5.29.15", true, bits(Buffer.from([0x06]), 1)),
    ],
  });
  return { key, certificate };
}

/** `host` in its one spelling. */
export function newLeaf(
  authority: Certified,
  issuer: string,
  host: string,
  now: number,
  lifeMs: number,
): Certified {
  const key = newKey();
  const address = parseAddress(host);
  const alternative =
    address === null ? der(0x82, Buffer.from(host)) : der(0x87, Buffer.from(address));
  const certificate = certify({
    // A common name holds 64 characters at most; what counts is the alternative name.
    subject: host.slice(0, 64),
    issuer,
    key,
    signer: authority.key,
    from: now - SLACK_MS,
    until: now + lifeMs,
    extensions: [
      extension("2.5.29.19", true, sequence()),
      // digitalSignature.
      extension("2.5.29.15", true, bits(Buffer.from([0x80]), 7)),
      extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"))),
      extension("2.5.29.17", false, sequence(alternative)),
    ],
  });
  return { key, certificate };
}
