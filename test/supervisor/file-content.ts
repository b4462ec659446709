/** Contents for tests of files, their hashes, and the error that a call throws. */
import { createHash } from "node:crypto";
import { RecintoError } from "../../daemon/errors.ts";

export const sha = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

export async function* bytes(...parts: (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part);
}

export async function thrown(act: () => unknown): Promise<RecintoError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof RecintoError) return error;
    throw error;
  }
  throw new TypeError("nothing was thrown");
}
