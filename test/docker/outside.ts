/** An outside that the test made itself: a network namespace with one server, reached over a pair of interfaces. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newAuthority, newLeaf } from "../../daemon/egress/certificates.ts";

/** Serves files, redirects, an answer without end, and says on stdout what it was asked. */
const SERVER = `
import http from "node:http";
import https from "node:https";
import { createReadStream, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
const [files, address] = process.argv.slice(2);
const answer = (request, response) => {
  console.log(JSON.stringify({ method: request.method, host: request.headers.host, url: request.url, headers: request.headers }));
  const { pathname } = new URL(request.url, "http://outside");
  if (pathname === "/slow") {
    const timer = setInterval(() => response.write("more\\n"), 20);
    request.socket.on("close", () => { clearInterval(timer); console.log(JSON.stringify({ closed: request.headers.host })); });
  } else if (pathname === "/away" || pathname === "/forth") {
    const location = pathname === "/away" ? "http://other.example/hello" : "http://third.example/slow";
    response.writeHead(302, { location }).end();
  } else {
    const file = createReadStream(join(files, normalize(pathname)));
    file.on("error", () => response.writeHead(404).end("nothing here\\n"));
    file.on("open", () => file.pipe(response));
  }
};
https.createServer({ key: readFileSync(join(files, ".key")), cert: readFileSync(join(files, ".cert")) }, answer).listen(443, address);
http.createServer(answer).listen(80, address, () => console.log(JSON.stringify({ ready: true })));
`;

const DAY_MS = 24 * 60 * 60_000;

export class Outside {
  readonly name = `rc${process.pid}`;
  readonly files = mkdtempSync(join(tmpdir(), "recinto-outside-"));
  /** Of the server; a range for documentation, which nobody routes. */
  readonly address = "198.51.100.2";
  /** Who certifies its servers. */
  readonly world = newAuthority("The world", Date.now(), DAY_MS);
  /** One line for each request and closed connection. */
  readonly heard: Record<string, unknown>[] = [];
  #server: ChildProcess | undefined;

  async open(): Promise<void> {
    const ip = (...words: string[]) => execFileSync("ip", words, { stdio: "pipe" });
    ip("netns", "add", this.name);
    ip("link", "add", `${this.name}a`, "type", "veth", "peer", "name", `${this.name}b`);
    ip("link", "set", `${this.name}b`, "netns", this.name);
    ip("address", "add", "198.51.100.1/30", "dev", `${this.name}a`);
    ip("link", "set", `${this.name}a`, "up");
    ip("-n", this.name, "address", "add", `${this.address}/30`, "dev", `${this.name}b`);
    ip("-n", this.name, "link", "set", `${this.name}b`, "up");
    const script = join(this.files, ".server.mjs");
    writeFileSync(script, SERVER);
    writeFileSync(join(this.files, "hello"), "hello from outside\n");
    const leaf = newLeaf(this.world, "The world", "files.example", Date.now(), DAY_MS);
    writeFileSync(join(this.files, ".key"), leaf.key.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(join(this.files, ".cert"), leaf.certificate);
    this.#repository();
    const words = ["netns", "exec", this.name, process.execPath, script, this.files, this.address];
    const server = spawn("ip", words, { stdio: ["ignore", "pipe", "inherit"] });
    this.#server = server;
    let text = "";
    await new Promise<void>((resolve) => {
      server.stdout.on("data", (chunk) => {
        text += chunk;
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        this.heard.push(...lines.map((line) => JSON.parse(line)));
        if (this.heard.length > 0) resolve();
      });
    });
    this.heard.length = 0;
  }

  /** What git fetches from any server of files. */
  #repository(): void {
    const work = join(this.files, ".work");
    mkdirSync(work);
    const script = `set -e
      git init -q -b main . && echo fetched > file && git add file
      git -c user.name=t -c user.email=t@t commit -q -m first
      git clone -q --bare . ../repo.git && git -C ../repo.git update-server-info`;
    execFileSync("bash", ["-c", script], { cwd: work, stdio: "pipe" });
  }

  close(): void {
    this.#server?.kill();
    for (const words of [
      ["link", "delete", `${this.name}a`],
      ["netns", "delete", this.name],
    ]) {
      try {
        execFileSync("ip", words, { stdio: "pipe" });
      } catch {
        // It was never made.
      }
    }
    rmSync(this.files, { recursive: true, force: true });
  }
}

/** Why there is none here, or null. */
export function noNamespaces(): string | null {
  try {
    execFileSync("ip", ["netns", "add", `rcp${process.pid}`], { stdio: "pipe" });
    execFileSync("ip", ["netns", "delete", `rcp${process.pid}`], { stdio: "pipe" });
    return null;
  } catch (error) {
    const reason = `no network namespaces here (iproute2, root): ${(error as Error).message}`;
    if (process.env.RECINTO_REQUIRE_ENGINE === "1") throw new Error(reason);
    return reason;
  }
}
