/** Ways out of real sandboxes to a server in a namespace of the test's own: who gets one, where to, and until when. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { interceptBy, loadAuthority } from "../../daemon/egress/interception.ts";
import { hostNetwork } from "../../daemon/egress/reach.ts";
import { parseRange } from "../../daemon/policy/addresses.ts";
import { machineClock } from "../../daemon/sandbox/clock.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { Sandboxes } from "../../daemon/sandbox/sandboxes.ts";
import { LABELS } from "../../daemon/sandbox/spec.ts";
import type { PendingApproval, RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, type answering, run, World } from "../supervisor/world.ts";
import { noNamespaces, Outside } from "./outside.ts";
import { IMAGES, PROGRAM, SOCKET, whyNot } from "./rig.ts";

const missing = (await whyNot()) ?? noNamespaces();
if (missing !== null) console.warn(`skipped: ${missing}`);
const once = { answer: "approve", mode: "once" } as const;
const SECRET = `secret-${randomBytes(8).toString("hex")}`;

/** Connects to every port that listens on loopback and asks it for the outside; prints what any of them says. */
const STEAL = `import socket
for line in open("/proc/net/tcp"):
    words = line.split()
    if len(words) < 4 or words[3] != "0A": continue
    port = int(words[1].split(":")[1], 16)
    try:
        c = socket.create_connection(("127.0.0.1", port), 2)
        c.settimeout(2)
        c.sendall(b"GET http://files.example/hello HTTP/1.1\\r\\nHost: files.example\\r\\nConnection: close\\r\\n\\r\\n")
        print("port answers", c.recv(999))
    except OSError as error:
        print("port refuses", error)
`;

describe.skipIf(missing)("ways out", () => {
  const engine = new DockerEngine(SOCKET);
  const owner = `test-${randomBytes(6).toString("hex")}`;
  const outside = new Outside();
  const worlds: World[] = [];

  beforeAll(async () => {
    await outside.open();
    await buildImage({ name: "base", imagesDir: IMAGES, store: engine, onProgress: console.log });
  });
  afterAll(async () => {
    for (const world of worlds) await world.end();
    for (const { id } of await engine.list({ [LABELS.owner]: owner })) await engine.remove(id);
    outside.close();
  });

  async function start(network: string, more = ""): Promise<{ world: World; session: string }> {
    const world = new World();
    worlds.push(world);
    const authority = loadAuthority(join(world.folder, "authority"), Date.now());
    const runner = {
      program: PROGRAM,
      socketsDir: join(world.folder, "runners"),
      trustDir: authority.trust,
    };
    world.openSandboxes = (hooks) =>
      new Sandboxes({ engine, owner, imagesDir: IMAGES, clock: machineClock, runner, ...hooks });
    world.egress = {
      network: {
        ...hostNetwork,
        // Every name is the one server; what it stands for would be refused.
        resolve: async (host) => [host === "inside.example" ? "10.0.0.1" : outside.address],
        allowed: [parseRange(outside.address)],
      },
      interception: interceptBy(authority, Date.now, [outside.world.certificate]),
    };
    writeFileSync(join(world.folder, "token"), `Bearer ${SECRET}\n`, { mode: 0o600 });
    const text = network.replaceAll("FOLDER", world.folder);
    world.profile = `extends: dev\ngit: none\napprovalWait: 20s\nlimits: {wallClock: 60s}\n${text}\n${more}`;
    await world.start();
    return { world, session: await world.open() };
  }

  /** Approves commands once, and hosts as `host` says. Collects what was asked. */
  function person(world: World, host: Parameters<typeof answering>[1] = once) {
    const asked: PendingApproval[] = [];
    const over = new AbortController();
    const watching = (async () => {
      for await (const approval of world.supervisor.watchApprovals(admin(), over.signal)) {
        if (approval.state !== "pending") continue;
        asked.push(approval);
        const answer = approval.host === undefined ? once : host;
        await world.supervisor.answer(admin(), approval.id, answer);
      }
    })();
    return {
      asked,
      leave: async () => {
        over.abort();
        await watching.catch(() => undefined);
      },
    };
  }

  const CURL = "curl -sS --max-time 20";

  test("network: none: nothing leaves, and the question says that approving changes nothing", async () => {
    const { world, session } = await start("");
    const someone = person(world);
    const { events, stdout, last } = await run(
      world,
      session,
      `${CURL} http://files.example/hello`,
    );
    await someone.leave();
    expect(someone.asked[0]?.cannotTakeEffect).toEqual([
      "the network: profile test says network: none",
    ]);
    expect(events).toContainEqual({
      type: "note",
      code: "no_way_out",
      paths: [],
      reason: "nothing leaves this sandbox: profile test says network: none",
    });
    expect({ stdout, last }).toMatchObject({ stdout: "", last: { exitCode: 6 } });
    expect(outside.heard).toEqual([]);
  });

  describe("network: {ask: true}", () => {
    let world: World;
    let session: string;
    beforeAll(async () => {
      ({ world, session } = await start("network: {ask: true}"));
    });

    test("an approved command reaches the host that a person read in it, on record", async () => {
      const someone = person(world);
      const { stdout, events } = await run(world, session, `${CURL} http://files.example/hello`);
      await someone.leave();
      expect(stdout).toBe("hello from outside\n");
      expect(events.find(({ type }) => type === "started")).toMatchObject({
        confinement: expect.stringMatching(/^landlock-\d+\+seccomp: .*; out by the proxy$/),
      });
      expect(someone.asked.map(({ cannotTakeEffect }) => cannotTakeEffect)).toEqual([[]]);
      const [opened, closed] = world.recorded("egress.opened", "egress.closed");
      const authority = world.recorded("approval.answered").at(-1)?.[1].authority as { id: string };
      expect([opened?.[1], closed?.[1]]).toMatchObject([
        { authority: authority.id, host: "files.example", port: 80, addresses: [outside.address] },
        { authority: authority.id, received: 19 },
      ]);
      expect(authority).toMatchObject({ hosts: ["files.example"] });
    });

    test("git fetches over HTTP", async () => {
      const someone = person(world);
      const { stdout, last } = await run(
        world,
        session,
        "git clone -q http://files.example/repo.git got && cat got/file",
      );
      await someone.leave();
      expect({ stdout, last }).toMatchObject({ stdout: "fetched\n", last: { exitCode: 0 } });
    });

    test("a name that leads inside is refused, whoever approved it", async () => {
      const someone = person(world);
      const { stdout } = await run(world, session, `${CURL} http://inside.example/`);
      await someone.leave();
      expect(stdout).toBe("recinto: inside.example leads to 10.0.0.1: a private network\n");
    });

    test("another command of the same sandbox cannot use it, and finds nothing that it could use", async () => {
      const someone = person(world);
      const over = new AbortController();
      let stolen: Promise<{ stdout: string }> | undefined;
      const slow = run(world, session, `${CURL} -N http://files.example/slow`, {
        signal: over.signal,
        on: (event: RunEvent) => {
          if (event.type !== "stdout" || stolen !== undefined) return;
          world.write(join(world.worktree(), "steal.py"), STEAL);
          const script =
            "python3 steal.py; for f in /proc/[0-9]*/environ; do cat $f | tr '\\0' '\\n'; done 2>/dev/null | grep -i proxy; echo searched";
          stolen = run(world, session, { command: "bash", stdin: Buffer.from(script) });
          void stolen.finally(() => over.abort());
        },
      });
      await slow.catch(() => undefined);
      await someone.leave();
      const { stdout } = (await stolen) ?? { stdout: "it never ran" };
      expect(stdout).toMatch(/^port (answers b''|refuses)(?:.|\n)*searched\n$/);
      expect(stdout).not.toContain("outside");
      expect(stdout).not.toMatch(/proxy=/i);
    });

    test("a host that was not named waits for a person: once, then for the session", async () => {
      const away = `${CURL} -L http://files.example/away`;
      const refusing = person(world, { answer: "deny", reason: "not there" });
      expect((await run(world, session, away)).stdout).toBe(
        "recinto: other.example:80 is not reached: a person: not there\n",
      );
      await refusing.leave();
      expect(refusing.asked.map(({ host }) => host)).toEqual([undefined, "other.example:80"]);

      const allowing = person(world, { answer: "approve", mode: "session" });
      expect((await run(world, session, away)).stdout).toBe("hello from outside\n");
      expect((await run(world, session, away)).stdout).toBe("hello from outside\n");
      await allowing.leave();
      expect(allowing.asked.map(({ host }) => host)).toEqual([
        undefined,
        "other.example:80",
        undefined,
      ]);
    });

    test("always for the project is a rule that is listed, and revoking it cuts what rests on it", async () => {
      const always = { answer: "approve", mode: "always", width: 0 } as const;
      const someone = person(world, always);
      let revoked = 0;
      const { last } = await run(world, session, `${CURL} -LN http://files.example/forth`, {
        on: async (event) => {
          if (event.type !== "stdout" || revoked > 0) return;
          const rules = await world.supervisor.rules(admin(), "web");
          expect(rules).toMatchObject([
            { prefix: [], hosts: ["third.example:80"], effects: ["network"], expiresAt: null },
          ]);
          revoked = performance.now();
          await world.supervisor.revokeRule(admin(), "web", rules[0]?.id ?? "");
        },
      });
      await someone.leave();
      expect(last).toMatchObject({ type: "exit", exitCode: 18 });
      expect(performance.now() - revoked).toBeLessThan(2_000);
      expect(world.recorded("egress.closed").at(-1)?.[1]).toMatchObject({
        host: "third.example",
        reason: "the rule for this host was revoked",
      });
      expect(await world.supervisor.rules(admin(), "web")).toEqual([]);
    });
  });

  test("one docker exec a command ties it as well", async () => {
    const { world, session } = await start("network: {ask: true}", "executor: once");
    const someone = person(world);
    const { stdout } = await run(world, session, `${CURL} http://files.example/hello`);
    await someone.leave();
    expect(stdout).toBe("hello from outside\n");
  });

  test("plain docker exec ties nothing to a command, so nothing leaves", async () => {
    const { world, session } = await start("network: {ask: true}", "executor: plain");
    const someone = person(world);
    const { events } = await run(world, session, `${CURL} http://files.example/hello`);
    await someone.leave();
    expect(someone.asked[0]?.cannotTakeEffect[0]).toMatch(
      /^the network: its commands run by plain/,
    );
    expect(events).toContainEqual(expect.objectContaining({ code: "no_way_out" }));
  });

  test("HTTPS that an admin has looked into: programs trust it, and the secret goes along", async () => {
    const { world, session } = await start(
      "network: {ask: true, intercept: [files.example], inject: [{host: files.example, header: Authorization, valueFrom: FOLDER/token}]}",
    );
    const someone = person(world);
    outside.heard.length = 0;
    const url = "https://files.example/hello";
    const script = `import urllib.request as u; print(u.urlopen("${url}").read())`;
    const { stdout } = await run(
      world,
      session,
      `${CURL} ${url}; python3 -c '${script}'; git ls-remote -q https://files.example/repo.git`,
    );
    await someone.leave();
    expect(stdout).toMatch(
      /^hello from outside\nb'hello from outside\\n'\n(?:[0-9a-f]{40}\t\S+\n){2}$/,
    );
    for (const { headers } of outside.heard) {
      expect(headers).toMatchObject({ authorization: `Bearer ${SECRET}` });
    }
    expect(stdout).not.toContain(SECRET);
    expect(world.recorded("egress.opened")[0]?.[1]).toMatchObject({ kind: "intercepted" });
  });

  test("a secret goes along that no command, journal or log ever sees", async () => {
    const { world, session } = await start(
      "network: {ask: true, inject: [{host: files.example, header: Authorization, valueFrom: FOLDER/token}]}",
    );
    const someone = person(world);
    outside.heard.length = 0;
    const { stdout } = await run(
      world,
      session,
      `${CURL} -v -H 'Authorization: Bearer placeholder' http://files.example/hello 2>&1; env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'`,
    );
    await someone.leave();
    expect(outside.heard).toMatchObject([{ headers: { authorization: `Bearer ${SECRET}` } }]);
    expect(stdout).toContain("hello from outside");
    expect(stdout).toContain("placeholder");
    expect(stdout).not.toContain(SECRET);
    const state = join(world.folder, "state");
    for (const file of readdirSync(state, { recursive: true, encoding: "utf8" })) {
      try {
        expect(readFileSync(join(state, file)).includes(SECRET), file).toBe(false);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
      }
    }
  });
});
