/** MCP over an agent's socket, in both of the protocol's eras, before a fake supervisor. */
import { afterEach, describe, expect, test } from "vitest";
import { agentClient } from "../../daemon/api/client.ts";
import { serveMcp } from "../../daemon/mcp/serve-mcp.ts";
import { DECISION, EXIT, VERDICT } from "../api/fake-supervisor.ts";
import { errorIn, type RunningApi, send, startApi } from "../api/running-api.ts";
import { type Connected, connectSocket, ERAS, type Era, upgraded } from "./mcp-client.ts";

let api: RunningApi | undefined;
const open: Connected[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await api?.stop();
  api = undefined;
});

/** The daemon's own wiring, on an API whose supervisor is a fake. */
async function started(): Promise<RunningApi> {
  api = await startApi({
    serveMcp: async (connection, dial, worktree) => {
      const client = agentClient({ socketPath: "-", dial });
      await serveMcp({ client, worktree, version: "1", input: connection, output: connection });
    },
  });
  return api;
}

async function connect(era: Era): Promise<Connected> {
  const { agentSocket } = await started();
  const connected = await connectSocket(agentSocket("alpha"), "/tmp", era);
  open.push(connected);
  return connected;
}

describe.each(Object.keys(ERAS) as Era[])("over the socket, era %s", (era) => {
  test("the tools are there, each with a description and both schemas", async () => {
    const { client } = await connect(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "exec",
      "read_file",
      "write_file",
      "list",
      "status",
      "request_grant",
      "release_grant",
      "use_docs_h-1",
    ]);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description?.length).toBeGreaterThan(20);
      expect(description?.length).toBeLessThan(400);
      expect([inputSchema.type, outputSchema?.type]).toEqual(["object", "object"]);
    }
  });

  test("a command's output, code and notes come back, as text and as data", async () => {
    const { client } = await connect(era);
    (api as RunningApi).supervisor.script = async function* () {
      yield DECISION;
      yield { type: "stdout", data: Buffer.from("one\ntwo\n") };
      yield { type: "stderr", data: Buffer.from("careful\n") };
      yield { type: "note", code: "confined", paths: [], reason: "kept from /etc" };
      yield { ...EXIT, type: "exit", exitCode: 3, durationMs: 1_200 } as typeof EXIT;
    };
    const result = await client.callTool({ name: "exec", arguments: { command: "make" } });
    expect(result).toMatchObject({
      content: [
        {
          type: "text",
          text: "one\ntwo\n[stderr]\ncareful\n[exit code 3, 1.2 s]\n[note: kept from /etc]",
        },
      ],
      structuredContent: {
        exitCode: 3,
        stdout: "one\ntwo\n",
        stderr: "careful\n",
        leftOutBytes: 0,
        timedOut: false,
        outOfMemory: false,
        durationMs: 1_200,
        notes: ["kept from /etc"],
      },
    });
    expect(result.isError ?? false).toBe(false);
  });

  test("a refusal is a tool error with segment, rule, reason and what to do instead", async () => {
    const { client } = await connect(era);
    (api as RunningApi).supervisor.script = async function* () {
      yield { ...DECISION, type: "decision", verdict: DENIED } as typeof DECISION;
      yield {
        type: "refused",
        by: "policy",
        action: "a1",
        reason: "the network is not for agents",
        instead: "ask for a grant",
      };
    };
    const result = await client.callTool({ name: "exec", arguments: { command: "ls; curl x" } });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        error: {
          code: "refused",
          by: "policy",
          reason: "the network is not for agents",
          segment: "curl x",
          rung: "absolute-deny",
          rule: "profile/deny/1",
          instead: "ask for a grant",
        },
      },
    });
    expect(textOf(result)).toBe(
      "refused by the policy: the network is not for agents\nsegment: curl x\nrule: profile/deny/1\ninstead: ask for a grant",
    );
  });

  test("a question shows as progress, and the call waits for the answer (A12)", async () => {
    const { client } = await connect(era);
    const told: (string | undefined)[] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    (api as RunningApi).supervisor.script = async function* () {
      yield DECISION;
      yield { type: "pending", approval: "q-7", waitedMs: 0, timeoutMs: 1_000 };
      yield { type: "pending", approval: "q-7", waitedMs: 10, timeoutMs: 1_000 };
      await answered;
      yield EXIT;
    };
    const calling = client.callTool(
      { name: "exec", arguments: { command: "rm -r x" } },
      {
        onprogress: ({ message }) => {
          told.push(message);
          answer();
        },
      },
    );
    expect((await calling).isError ?? false).toBe(false);
    expect(told).toEqual(["waiting for a person: recinto approvals show q-7 (0 s)"]);
  });

  test("a cancelled call cancels the command", async () => {
    const { client } = await connect(era);
    const stopped = cancellable(api as RunningApi);
    const cancel = new AbortController();
    const calling = client.callTool(
      { name: "exec", arguments: { command: "sleep 60" } },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(calling).rejects.toThrow();
    await stopped;
  });

  test("a client that goes away cancels the command", async () => {
    const { client, close } = await connect(era);
    const stopped = cancellable(api as RunningApi);
    const calling = client.callTool(
      { name: "exec", arguments: { command: "sleep 60" } },
      { onprogress: () => void close() },
    );
    await expect(calling).rejects.toThrow();
    await stopped;
  });

  test("wrong arguments are an error that a model can mend, and nothing runs", async () => {
    const { client } = await connect(era);
    const wrong = await client.callTool({ name: "exec", arguments: { comand: "ls" } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toMatch(/arguments\.command: .*\n.*comand/);
    await expect(client.callTool({ name: "approve", arguments: {} })).rejects.toThrow(
      /no tool "approve"/,
    );
    expect((api as RunningApi).supervisor.callers).toEqual([]);
  });

  test("a session that was ended is opened again", async () => {
    const { client } = await connect(era);
    const first = await client.callTool({ name: "status", arguments: {} });
    (api as RunningApi).supervisor.sessionsOpen.clear();
    const second = await client.callTool({ name: "status", arguments: {} });
    expect([first, second].map(({ structuredContent }) => structuredContent)).toMatchObject([
      { session: "s1", worktree: "/tmp", profile: "default" },
      { session: "s2" },
    ]);
  });
});

test("over the socket the daemon knows the caller from the kernel, not from the connection inside it", async () => {
  const { client } = await connect("2025");
  await client.callTool({ name: "status", arguments: {} });
  const [caller] = (api as RunningApi).supervisor.callers;
  expect(caller).toMatchObject({
    uid: process.getuid?.(),
    pid: process.pid,
    socket: { kind: "agent", project: "alpha" },
  });
});

test("the route is no way round the checks: browsers, other protocols, admins, plain requests", async () => {
  const { agentSocket, adminSocket } = await started();
  const socket = agentSocket("alpha");
  await expect(upgraded(socket, "/tmp", { origin: "http://evil.example" })).rejects.toThrow("403");
  await expect(upgraded(socket, "/tmp", { upgrade: "websocket" })).rejects.toThrow("426");
  await expect(upgraded(adminSocket, "/tmp")).rejects.toThrow("404");
  await expect(upgraded(socket, "\0")).rejects.toThrow("400");
  const plain = await send(socket, "GET", "/v1/mcp?worktree=x");
  expect([plain.status, errorIn(plain).code]).toEqual([426, "bad-upgrade"]);
});

test("bytes that are no message end nothing but their connection", async () => {
  const { agentSocket, supervisor } = await started();
  const socket = await upgraded(agentSocket("alpha"), "/tmp");
  // Cut off while it still sends.
  socket.on("error", () => {});
  socket.write("{]}\n\0\n[[[[\n");
  socket.write("x".repeat(9 * 1024 * 1024));
  await new Promise((resolve) => socket.once("close", resolve).resume());
  expect(supervisor.callers).toEqual([]);
  open.push(await connectSocket(agentSocket("alpha"), "/tmp"));
  expect((await open[0]?.client.listTools())?.tools.length).toBeGreaterThan(0);
});

const DENIED = {
  ...VERDICT,
  verdict: "deny",
  segments: [
    segment("ls", "allow", "scope", "catalogue/ls"),
    segment("curl x", "deny", "absolute-deny", "profile/deny/1"),
  ],
} as const;

function segment(text: string, verdict: string, rung: string, rule: string) {
  const none = { effects: [], classes: [], paths: [], matches: [], cwds: ["/tmp"] };
  return { text, form: text, verdict, rung, rule, reason: rule, ...none };
}

/** The next command runs until it is stopped; resolves then. */
function cancellable(running: RunningApi): Promise<void> {
  return new Promise((resolve) => {
    running.supervisor.script = async function* (_request, signal) {
      yield DECISION;
      yield { type: "started", exec: "e1", confinement: "landlock", at: 1 };
      await new Promise((stopped) => signal.addEventListener("abort", stopped));
      resolve();
    };
  });
}

function textOf({ content }: { content: unknown }): string {
  return (content as { text: string }[])[0]?.text ?? "";
}
