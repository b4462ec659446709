/** `recinto approvals`: what waits for a person, and the answers. */
import { Command } from "commander";
import type { AdminClient, Answer, Approval } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { approvalTable, approvalText, ruleText } from "./approval-text.ts";
import { durationOf, wholeNumberOf } from "./arguments.ts";
import { confirm } from "./confirm.ts";
import { withAdmin } from "./context.ts";
import { previewsOf, previewsText, previewText } from "./rule-preview.ts";
import { print, printJson } from "./terminal-text.ts";

export function approvalsCommand(): Command {
  return new Command("approvals")
    .description("what waits for a person, and the answers")
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(approveCommand())
    .addCommand(denyCommand())
    .addCommand(watchCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("questions that wait; with --all the answered ones too")
    .option("--all", "answered and timed out ones too")
    .option("--project <id>", "of one project")
    .option("--json", "as JSON")
    .action((options: { all?: boolean; project?: string; json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const approvals = await admin.approvals({
          ...(options.all ? {} : { state: "pending" as const }),
          ...(options.project === undefined ? {} : { project: options.project }),
        });
        if (options.json) printJson(approvals);
        else if (approvals.length === 0) print("nothing waits\n");
        else print(approvalTable(approvals, Date.now()));
      }),
    );
}

function showCommand(): Command {
  return new Command("show")
    .description("all about one question")
    .argument("<id>", "the question")
    .option("--json", "as JSON")
    .action((id: string, options: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const approval = await admin.approval(id);
        const past = await previewsOf(admin, approval);
        if (options.json) printJson({ ...approval, past });
        else print(approvalText(approval, Date.now()) + previewsText(past));
      }),
    );
}

interface ApproveOptions {
  readonly once?: boolean;
  readonly session?: boolean;
  readonly always?: boolean;
  readonly width?: string;
  readonly for?: string;
  readonly yes?: boolean;
  readonly until?: string;
  readonly phase?: boolean;
}

function approveCommand(): Command {
  return new Command("approve")
    .description(
      "let it run: once, as a grant with an end, or always by a rule that is shown first",
    )
    .argument("<id>", "the question")
    .option("--once", "this one time (the default)")
    .option("--session", "for a question about a host: as long as the session")
    .option("--always", "store a rule; it is printed and asked about first")
    .option("--width <n>", "with --always: which of the rules that show lists", "0")
    .option(
      "--for <duration>",
      "as a grant for so long (2h); with --always: how long the rule holds",
    )
    .option("--until <what>", "as a grant, until this closure fires or this command succeeds")
    .option("--phase", "as a grant, for the phase that is now")
    .option("--yes", "with --always: do not ask")
    .action((id: string, options: ApproveOptions, command: Command) => {
      const answer = approvalOf(options);
      return withAdmin(command, async (admin) => {
        if (
          answer.mode === "always" &&
          !(await agreed(admin, await admin.approval(id), answer, options))
        ) {
          throw new RecintoError("bad-usage", "nothing was approved", {
            hint: "answer y, or give --yes",
          });
        }
        print(`${done(await admin.answer(id, answer))}\n`);
      });
    });
}

function approvalOf(options: ApproveOptions): Extract<Answer, { answer: "approve" }> {
  const ends = options.until !== undefined || options.phase === true;
  if (ends && options.always) {
    throw new RecintoError("bad-usage", "a rule that is kept has --for alone as its end");
  }
  if (!options.always) {
    if (ends || options.for !== undefined) return grantOf(options);
    if (options.once && options.session) {
      throw new RecintoError("bad-usage", "--once and --session are two answers");
    }
    return { answer: "approve", mode: options.session ? "session" : "once" };
  }
  if (options.once || options.session) {
    throw new RecintoError("bad-usage", "--always is an answer of its own");
  }
  return {
    answer: "approve",
    mode: "always",
    width: wholeNumberOf("--width", options.width ?? "0", 0),
    ...(options.for === undefined ? {} : { expiresInMs: durationOf("--for", options.for) }),
  };
}

/** A right with an end, in place of a word for one command. */
function grantOf({ once, session, until, phase, ...options }: ApproveOptions) {
  if (once || session) {
    throw new RecintoError(
      "bad-usage",
      "--for, --until and --phase give a grant: leave --once out",
    );
  }
  // One word names a closure of the contract; several are a command.
  const words = until?.trim().split(/\s+/) ?? [];
  const [closure] = words;
  return {
    answer: "approve",
    mode: "grant",
    ...(options.for === undefined ? {} : { forMs: durationOf("--for", options.for) }),
    ...(phase === true ? { thisPhase: true } : {}),
    ...(closure === undefined
      ? {}
      : { until: words.length === 1 ? { closure } : { command: words } }),
  } as const;
}

async function agreed(
  admin: AdminClient,
  approval: Approval,
  answer: { readonly width: number },
  options: ApproveOptions,
): Promise<boolean> {
  const rules = approval.verdict.always ?? [];
  const rule = rules[answer.width];
  if (rule === undefined) {
    throw new RecintoError(
      "bad-usage",
      rules.length === 0
        ? "no rule can be stored for this command"
        : `there is no width ${answer.width}`,
      { hint: rules.length === 0 ? "approve it once" : `0 to ${rules.length - 1}` },
    );
  }
  const until = options.for === undefined ? "" : ` for ${options.for}`;
  print(`from now on allowed in ${approval.project}${until}: ${ruleText(rule)}\n`);
  const preview = (await previewsOf(admin, approval))[answer.width];
  if (preview !== undefined) print(previewText(preview));
  return options.yes === true || (await confirm("store this rule?"));
}

function denyCommand(): Command {
  return new Command("deny")
    .description("do not let it run")
    .argument("<id>", "the question")
    .option("--reason <text>", "told to the agent")
    .action((id: string, { reason }: { reason?: string }, command: Command) =>
      withAdmin(command, async (admin) => {
        const answer: Answer = { answer: "deny", ...(reason === undefined ? {} : { reason }) };
        print(`${done(await admin.answer(id, answer))}\n`);
      }),
    );
}

function watchCommand(): Command {
  return new Command("watch")
    .description("an inbox: shows each question as it comes and takes the answer")
    .option("--json", "print every change as one JSON object a line; ask nothing")
    .action(({ json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        if (json || !process.stdin.isTTY) return await printChanges(admin);
        const { inbox } = await import("./approvals-inbox.ts");
        await inbox(admin);
      }),
    );
}

async function printChanges(admin: AdminClient): Promise<void> {
  const { printJsonLine } = await import("./terminal-text.ts");
  for await (const approval of admin.watchApprovals()) printJsonLine(approval);
}

function done(approval: Approval): string {
  return `${approval.id}: ${approval.state}`;
}
