/** The interactive inbox: one question at a time, and a bare Enter approves nothing. */
import { isCancel, select, text } from "@clack/prompts";
import type { AdminClient, Answer, Approval } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { approvalText, ruleText } from "./approval-text.ts";
import { previewsOf, previewsText } from "./rule-preview.ts";
import { print, visible } from "./terminal-text.ts";

/** Runs until the person leaves (Ctrl-C) or the daemon closes the stream. */
export async function inbox(admin: AdminClient): Promise<void> {
  const leaving = new AbortController();
  const waiting = new Map<string, Approval>();
  const later = new Set<string>();
  let wake = () => {};
  let asked: { readonly id: string; readonly over: AbortController } | undefined;

  const reading = (async () => {
    for await (const approval of admin.watchApprovals(leaving.signal)) {
      if (approval.state === "pending") waiting.set(approval.id, approval);
      else {
        waiting.delete(approval.id);
        if (asked?.id === approval.id) asked.over.abort();
      }
      wake();
    }
    leaving.abort();
    wake();
  })();

  print("waiting for questions; Ctrl-C leaves\n");
  try {
    while (!leaving.signal.aborted) {
      const next = [...waiting.values()].find(({ id }) => !later.has(id));
      if (next === undefined) {
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), reading]);
        continue;
      }
      asked = { id: next.id, over: new AbortController() };
      const answer = await ask(admin, next, asked.over.signal);
      if (answer === "leave") break;
      if (answer === "over") print(`${next.id} was answered elsewhere or is over\n`);
      else if (answer === "later") later.add(next.id);
      else await send(admin, next.id, answer);
      if (answer !== "later") waiting.delete(next.id);
    }
  } finally {
    leaving.abort();
    await reading.catch(() => {});
  }
}

async function send(admin: AdminClient, id: string, answer: Answer): Promise<void> {
  try {
    print(`${id}: ${(await admin.answer(id, answer)).state}\n`);
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
    // What was approved may have changed meanwhile: the person is told, and goes on with the next.
    print(`${id}: ${visible(error.message)} (${visible(error.hint)})\n`);
  }
}

async function ask(
  admin: AdminClient,
  approval: Approval,
  over: AbortSignal,
): Promise<Answer | "later" | "over" | "leave"> {
  print(`\n${approvalText(approval, Date.now())}`);
  const rules = approval.verdict.always ?? [];
  // The first choice is what Enter takes, so it is the one that decides nothing.
  const choice = await select({
    message: "answer",
    signal: over,
    options: [
      { value: "later", label: "decide later" },
      { value: "once", label: "approve once" },
      ...(approval.host === undefined
        ? []
        : [{ value: "session", label: "approve for the session" }]),
      ...(rules.length > 0 ? [{ value: "always", label: "approve always …" }] : []),
      { value: "deny", label: "deny" },
    ],
  });
  if (over.aborted) return "over";
  if (isCancel(choice)) return "leave";
  if (choice === "session") return { answer: "approve", mode: "session" };
  if (choice === "once") return { answer: "approve", mode: "once" };
  if (choice === "always") {
    print(previewsText(await previewsOf(admin, approval)));
    return await askWidth(approval, rules.map(ruleText), over);
  }
  if (choice === "deny") {
    const reason = await text({
      message: "reason, told to the agent (may be empty)",
      signal: over,
    });
    if (over.aborted) return "over";
    if (isCancel(reason)) return "later";
    return { answer: "deny", ...(reason ? { reason } : {}) };
  }
  return "later";
}

async function askWidth(
  approval: Approval,
  rules: readonly string[],
  over: AbortSignal,
): Promise<Answer | "later" | "over"> {
  const width = await select({
    message: `from now on allowed in ${approval.project}`,
    signal: over,
    options: [
      { value: -1, label: "none of these: decide later" },
      ...rules.map((label, value) => ({ value, label })),
    ],
  });
  if (over.aborted) return "over";
  if (isCancel(width) || width < 0) return "later";
  return { answer: "approve", mode: "always", width };
}
