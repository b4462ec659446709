/** One file operation over an agent socket, with bytes on standard streams and everything else told as a line. */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { agentClient } from "../api/client.ts";
import { visible } from "./terminal-text.ts";

type Files = ReturnType<ReturnType<typeof agentClient>["files"]>;

export interface FileSessionOptions {
  readonly socketPath: string;
  readonly waitForStart: boolean;
  readonly worktree: string;
  readonly waitMs?: number;
}

export type FileSession = Awaited<ReturnType<typeof openFileSession>>;

/** Each prints its result; errors are those of the API. */
export async function openFileSession(options: FileSessionOptions) {
  const client = agentClient(options);
  const { session } = await client.openSession(options.worktree).catch((error: unknown) => {
    client.close();
    throw error;
  });
  const files = client.files(session.id);
  const given = {
    ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    onPending: announcer(),
  };
  return {
    close: () => client.close(),
    async read(path: string, range: Parameters<Files["read"]>[1]) {
      await print((await files.read(path, range, given)).bytes);
    },
    async write(path: string, how: Parameters<Files["write"]>[2]) {
      say(await files.write(path, process.stdin, how, given));
    },
    async list(path: string, page: Parameters<Files["list"]>[1]) {
      const { entries, next } = await files.list(path, page, given);
      for (const { kind, mode, size, name, target } of entries) {
        const leads = target === undefined ? "" : ` -> ${target}`;
        line(`${kind.padEnd(6)} ${mode.padStart(4)} ${String(size).padStart(12)} ${name}${leads}`);
      }
      if (next !== null) process.stderr.write(`recinto: more with --after ${visible(next)}\n`);
    },
    async stat(path: string, how: Parameters<Files["stat"]>[1]) {
      say(await files.stat(path, how, given));
    },
    async mkdir(path: string, how: Parameters<Files["mkdir"]>[1]) {
      say(await files.mkdir(path, how, given));
    },
    async remove(path: string, how: Parameters<Files["remove"]>[1]) {
      say(await files.remove(path, how, given));
    },
    async move(from: string, to: string, how: Parameters<Files["move"]>[2]) {
      say(await files.move(from, to, how, given));
    },
    async patch(how: Parameters<Files["patch"]>[1]) {
      for (const { change, path } of (await files.patch(await text(process.stdin), how, given))
        .files) {
        line(`${change} ${path}`);
      }
    },
    async pack(path: string, how: Parameters<Files["pack"]>[1]) {
      const { bytes, counts } = await files.pack(path, how, given);
      await print(bytes);
      const { entries, leftOut } = counts();
      process.stderr.write(`recinto: ${entries} entries packed, ${leftOut} left out\n`);
    },
    async unpack(path: string) {
      say(await files.unpack(path, process.stdin, given));
    },
  };
}

function announcer(): (approval: string) => void {
  const told = new Set<string>();
  return (approval) => {
    if (told.has(approval)) return;
    told.add(approval);
    process.stderr.write(
      `recinto: waiting for a person to answer ${approval} (recinto approvals show ${approval})\n`,
    );
  };
}

/** A reader that goes away, as in `… | head -1`, ends it. */
async function print(bytes: AsyncIterable<Buffer>): Promise<void> {
  let gone = false;
  process.stdout.on("error", () => {
    gone = true;
  });
  for await (const chunk of bytes) {
    if (gone) return;
    if (!process.stdout.write(chunk)) {
      await Promise.race([once(process.stdout, "drain"), once(process.stdout, "close")]);
    }
  }
}

function say(result: object): void {
  line(JSON.stringify(result));
}

function line(words: string): void {
  process.stdout.write(`${visible(words)}\n`);
}
