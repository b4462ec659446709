/** A hostile client of an agent's socket, run as the agent's own user: `SOCKET MODE [JSON]`; prints one JSON line. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [socketPath, mode, given = "{}"] = process.argv.slice(2);
const options = JSON.parse(given);

function call(method, path, body, { wait = 20_000, abort } = {}) {
  return new Promise((resolve) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request(
      { socketPath, method, path, headers, agent: false, timeout: wait },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
          if (abort?.(text)) sent.destroy();
        });
        response.on("error", () => undefined);
        response.on("close", () => resolve({ status: response.statusCode, text }));
      },
    );
    sent.on("error", (error) => resolve({ error: error.code ?? error.message }));
    sent.on("timeout", () => sent.destroy());
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const MODES = {
  /** Opens `count` connections, sends the beginning of a request on each and holds as many as it is allowed to. */
  async connections({ count, holdMs, first = "POST /v1/sess" }) {
    let opened = 0;
    let refused = 0;
    const held = new Set();
    for (let made = 0; made < count; made++) {
      const connection = connect(socketPath);
      // Whoever does not read does not learn that it is over.
      connection.resume();
      connection.on("error", () => undefined);
      connection.on("close", () => held.delete(connection));
      const [how] = await Promise.race([
        once(connection, "connect").then(
          () => ["open"],
          () => ["refused"],
        ),
        once(connection, "close").then(
          () => ["refused"],
          () => ["refused"],
        ),
      ]);
      if (how === "open") {
        opened += 1;
        held.add(connection);
        connection.write(first);
      } else refused += 1;
      if (made % 100 === 0) await sleep(1);
    }
    await sleep(200);
    const most = held.size;
    console.log(JSON.stringify({ holding: most }));
    await sleep(holdMs);
    return { opened, refused, most, left: held.size };
  },

  /** Runs `count` long commands one after another. */
  async runs({ session, count }) {
    const command = `cat docs/a.md # ${"x".repeat(2_000)}`;
    for (let done = 0; done < count; done++) {
      const { status } = await call("POST", `/v1/sessions/${session}/exec`, { command });
      if (status !== 200) throw new Error(`status ${status}`);
    }
    return { count };
  },

  /** Asks `count` questions at once and never takes an answer. */
  async asks({ session, count }) {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        call(
          "POST",
          `/v1/sessions/${session}/exec`,
          { command: `rm -r folder${at}`, waitMs: 30_000 },
          {
            wait: 4_000,
          },
        ),
      ),
    );
    const kinds = {};
    for (const { status, text = "", error } of answers) {
      const kind =
        error ??
        `${status}${text.includes('"pending"') ? " pending" : ""}${text.includes("too-many-pending") ? " too-many-pending" : ""}`;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    return { kinds };
  },

  /** The same requests about what is somebody else's and about what is not there at all. */
  async oracle({ theirs, paths }) {
    const told = [];
    for (const [method, path, body] of paths) {
      const ask = (id) => call(method, path.replaceAll("ID", id), body);
      const strip = ({ status, text = "", error }, id) => [
        status,
        error,
        text.replaceAll(id, "ID").replace(/"requestId":"[^"]*"/, ""),
      ];
      const real = strip(await ask(theirs), theirs);
      const none = strip(await ask("s-aaaaaaaaaaaa"), "s-aaaaaaaaaaaa");
      told.push({
        path: `${method} ${path}`,
        same: JSON.stringify(real) === JSON.stringify(none),
        real,
      });
    }
    return { told };
  },

  async giants() {
    const sizes = {};
    // 0: cut off with so much unread that the answer was lost on the way, which is a refusal too.
    for (const [name, head, body] of [
      ["length", "content-length: 99999999999\r\n", ""],
      [
        "chunks",
        "transfer-encoding: chunked\r\n",
        `${(1 << 24).toString(16)}\r\n${"x".repeat(1 << 24)}\r\n`.repeat(4),
      ],
      ["head", `x: ${"y".repeat(1 << 20)}\r\n`, ""],
      ["both", "content-length: 5\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"],
      ["lengths", "content-length: 5\r\ncontent-length: 6\r\n", "hello"],
      ["folded", "x: a\r\n b\r\n", ""],
      ["nul", "x: a\0b\r\n", ""],
      ["lf", "x: a\ny: b\r\n", ""],
    ]) {
      const connection = connect(socketPath);
      let text = "";
      connection.setEncoding("latin1");
      connection.on("data", (chunk) => (text += chunk));
      connection.on("error", () => undefined);
      connection.write(
        `POST /v1/sessions HTTP/1.1\r\nhost: recinto\r\ncontent-type: application/json\r\n${head}\r\n${body}`,
      );
      await Promise.race([once(connection, "close").catch(() => undefined), sleep(3_000)]);
      connection.destroy();
      sizes[name] = Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
    }
    return { sizes };
  },
};

console.log(JSON.stringify(await MODES[mode](options)));
process.exit(0);
