/** A question on the terminal that only a clear yes answers: a bare Enter and the end of input are no. */

export async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // End of input instead of an answer is no answer.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  const said = await Promise.race([lines.question(`${question} [y/N] `), ended]);
  lines.close();
  return /^y(es)?$/i.test(said.trim());
}
