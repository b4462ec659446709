/** Reads the engine's progress while it builds or imports an image, and finds out whether it succeeded. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { RecintoError } from "../../errors.ts";

/** Throws `image-build-failed` with the engine's own words: a failed build is answered with status 200. */
export async function finishImage(
  answer: NodeJS.ReadableStream,
  onProgress: (line: string) => void,
): Promise<void> {
  for await (const line of createInterface({ input: answer as Readable })) {
    if (line.trim() === "") continue;
    const message = JSON.parse(line) as { stream?: string; status?: string; error?: string };
    if (message.error !== undefined) {
      throw new RecintoError("image-build-failed", message.error);
    }
    const text = (message.stream ?? message.status ?? "").trimEnd();
    if (text !== "") onProgress(text);
  }
}
