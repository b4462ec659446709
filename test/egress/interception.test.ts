/** Hosts that the proxy looks into: certificates that programs accept, a secret that goes along, servers that are checked. */
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createSecureContext, TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newAuthority, newLeaf } from "../../daemon/egress/certificates.ts";
import { interceptBy, loadAuthority } from "../../daemon/egress/interception.ts";
import { hostRule, ProxyRig } from "./proxy-rig.ts";

const DAY = 24 * 60 * 60_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recinto-authority-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the authority of an installation", () => {
  test("is made once, its key root's alone, and made anew before it ends", () => {
    const now = Date.now();
    const first = loadAuthority(folder, now);
    expect(loadAuthority(folder, now + DAY).certificate).toBe(first.certificate);
    expect(statSync(join(folder, "authority.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(first.trust, "bundle.pem"), "utf8")).toContain(first.certificate);
    expect(loadAuthority(folder, now + 5 * 365 * DAY).certificate).not.toBe(first.certificate);
  });

  test.each(["a.example", "8.8.8.8", `${"long-label.".repeat(9)}example`])(
    "certifies %s as other programs check it",
    (host) => {
      const { key, certificate, trust } = loadAuthority(folder, Date.now());
      const leaf = newLeaf({ key, certificate }, "Recinto egress authority", host, Date.now(), DAY);
      const file = join(folder, "leaf.pem");
      writeFileSync(file, leaf.certificate);
      const name = /^[\d.]+$/.test(host) ? "-verify_ip" : "-verify_hostname";
      const words = ["verify", "-x509_strict", "-purpose", "sslserver", name, host];
      const said = execFileSync("openssl", [...words, "-CAfile", join(trust, "recinto.pem"), file]);
      expect(said.toString()).toBe(`${file}: OK\n`);
      expect(new X509Certificate(leaf.certificate).ca).toBe(false);
    },
  );
});

describe("a host that is looked into", () => {
  const world = newAuthority("The world", Date.now(), DAY);
  let rig: ProxyRig;
  let heard: string;
  afterEach(() => rig.close());

  /** A server of the world with a certificate for `name`. */
  async function start(name: string): Promise<string> {
    const authority = loadAuthority(folder, Date.now());
    rig = new ProxyRig(interceptBy(authority, Date.now, [world.certificate]));
    heard = "";
    const leaf = newLeaf(world, "The world", name, Date.now(), DAY);
    const secureContext = createSecureContext({
      key: leaf.key.export({ type: "pkcs8", format: "pem" }),
      cert: leaf.certificate,
    });
    await rig.outside((socket) => {
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      secured.on("error", () => undefined);
      secured.on("data", (chunk) => {
        heard += chunk;
        if (heard.endsWith("\r\n\r\n"))
          secured.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    return authority.certificate;
  }

  async function ask(
    certificate: string,
    text: string,
  ): Promise<{ issuer: string; answer: string }> {
    const right = rig.right(["a.example"], {
      intercepted: [hostRule("a.example")],
      methods: ["GET"],
      injections: [
        { host: hostRule("a.example"), header: "authorization", value: "Bearer s3cret" },
      ],
    });
    const client = await rig.connect(right);
    client.socket.write("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n");
    await client.sees(/200 Connection established\r\n\r\n/);
    client.socket.removeAllListeners("data");
    const secured = connect({ socket: client.socket, servername: "a.example", ca: [certificate] });
    let answer = "";
    secured.on("data", (chunk) => {
      answer += chunk;
    });
    await new Promise((resolve, reject) => {
      secured.once("secureConnect", resolve);
      secured.once("error", reject);
    });
    const issuer = secured.getPeerCertificate().issuer.CN as string;
    secured.write(text);
    await new Promise((resolve) => secured.once("end", resolve).once("close", resolve));
    return { issuer, answer };
  }

  const GET =
    "GET /x HTTP/1.1\r\nHost: a.example\r\nAuthorization: placeholder\r\nConnection: close\r\n\r\n";

  test("is asked with the secret, over a connection whose certificate is ours", async () => {
    const { issuer, answer } = await ask(await start("a.example"), GET);
    expect(issuer).toBe("Recinto egress authority");
    expect(answer).toContain("HTTP/1.1 200 OK");
    expect(heard).toContain("authorization: Bearer s3cret\r\n");
    expect(heard).not.toContain("placeholder");
    expect(JSON.stringify(rig.entries)).not.toContain("s3cret");
    expect(rig.entries[0]).toMatchObject({
      event: "egress.opened",
      data: { kind: "intercepted", host: "a.example", port: 443, method: "GET", path: "/x" },
    });
  });

  test("is held to the same server and the profile's methods inside", async () => {
    const certificate = await start("a.example");
    const other = await ask(certificate, GET.replace("Host: a.example", "Host: b.example"));
    expect(other.answer).toContain("the Host header names another server");
    const post = await ask(certificate, "DELETE / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect(post.answer).toContain("of this profile's methods (GET) none is DELETE");
    expect(heard).toBe("");
  });

  test("gets no request and no secret when its own certificate is for another", async () => {
    const { answer } = await ask(await start("b.example"), GET);
    expect(answer).toContain("HTTP/1.1 502 Bad Gateway");
    expect(answer).toContain("the certificate of a.example was not accepted");
    expect(heard).toBe("");
  });
});
