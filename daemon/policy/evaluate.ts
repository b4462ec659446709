/** The decision: a command and what is known about the world in, a verdict with every reason out. Pure (A9). */
import { describe } from "./catalogue/describe.ts";
import type { Description } from "./catalogue/description.ts";
import { generalise } from "./generalise.ts";
import { insteadOf } from "./instead.ts";
import { judgeSegment, viewOf } from "./judge.ts";
import { isWithin } from "./paths.ts";
import { authorisingRoots } from "./permission.ts";
import { describeUnknown, namedAlike, reachesOut } from "./project-verbs.ts";
import { type Scope, scopeOf } from "./scope.ts";
import type { Problem, Segment, Understanding } from "./shell/segment.ts";
import { understand } from "./shell/understand.ts";
import type { Decision, EvaluateInput, Match, SegmentVerdict, Verdict } from "./types.ts";
import type { SegmentView } from "./view.ts";

/**
 * Judges a command. Never throws: whatever goes wrong while judging is an ask with the rule `understand/internal-error`,
 * and what was judged before it is in the verdict.
 */
export function evaluate(input: EvaluateInput): Verdict {
  try {
    return judgeAll(input);
  } catch (error) {
    return verdictOf(input, [failed(input.request.command, error)], [], [], []);
  }
}

const ORDER: readonly Decision[] = ["allow", "ask", "deny"];

/** The stricter of two decisions. */
export function stricter(a: Decision, b: Decision): Decision {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b;
}

function judgeAll(input: EvaluateInput): Verdict {
  const { request, settings, facts } = input;
  const { segments, problems } = understand(request.command, {
    cwd: request.cwd,
    home: settings.home,
    env: {},
    // A repository further down would only be deeper, so that what is in scope from here is in scope from there.
    ...(isWithin(request.cwd, settings.worktree) ? { toplevel: settings.worktree } : {}),
  });
  const scope = scopeOf(settings, facts);
  const views: SegmentView[] = [];
  const verdicts = segments.map((segment): SegmentVerdict => {
    try {
      const description = descriptionOf(segment, segments, input);
      const view = viewOf(segment, segments, description, scope);
      views.push(view);
      return judgeSegment(view, input, scope, problems, views.slice(0, -1));
    } catch (error) {
      return failed(segment.text, error);
    }
  });
  if (verdicts.length === 0) verdicts.push(nothing(input, { segments, problems }));
  return verdictOf(input, verdicts, views, problems, rootsOf(verdicts, views, scope));
}

function descriptionOf(
  segment: Segment,
  segments: readonly Segment[],
  { settings, facts }: EvaluateInput,
): Description {
  const { localBins } = facts;
  if (segment.inner === true) {
    // What it does is in other segments: left are the redirects and the environment of the call.
    const { words } = segment;
    const form = words[0]?.value.kind === "literal" ? words[0].value.value : "";
    return { ...describe({ segment: { ...segment, words: [] }, segments, localBins }), form };
  }
  const description = describe({ segment, segments, localBins });
  if (!description.known) return describeUnknown(description, segment, settings.verbs);
  const alike = namedAlike(segment);
  if (alike === null) return description;
  const { uses } = describe({ segment: alike, segments, localBins });
  return { ...description, uses: [...description.uses, ...uses.filter(reachesOut)] };
}

function rootsOf(
  verdicts: readonly SegmentVerdict[],
  views: readonly SegmentView[],
  scope: Scope,
): readonly string[] {
  const all = verdicts.flatMap((verdict, index) => {
    const view = views[index];
    return view === undefined ? [] : authorisingRoots(verdict, view, scope);
  });
  return [...new Set(all)];
}

function verdictOf(
  input: EvaluateInput,
  segments: readonly SegmentVerdict[],
  views: readonly SegmentView[],
  problems: readonly Problem[],
  roots: readonly string[],
): Verdict {
  const verdict = segments.map((segment) => segment.verdict).reduce(stricter);
  const deciding = segments.find((segment) => segment.verdict === verdict) as SegmentVerdict;
  const hidden = problems
    .concat(views.flatMap((view) => view.segment.problems))
    .filter(({ code }) => code.endsWith("-character"))
    .map(({ message }) => /U\+.*$/.exec(message)?.[0] ?? message);
  const instead = verdict === "allow" ? undefined : insteadOf(deciding, input);
  const always = verdict === "ask" ? generalise(segments, input.settings, input.rules.rules) : [];
  return {
    verdict,
    effects: [...new Set(segments.flatMap((segment) => segment.effects))],
    classes: [...new Set(segments.flatMap((segment) => segment.classes))],
    roots: verdict === "allow" ? roots : [],
    segments,
    reason:
      verdict === "allow"
        ? `every part stays in ${roots.join(" and ") || "the project"}`
        : `\`${shorten(deciding.text)}\` ${deciding.reason} (${deciding.rule})`,
    ...(instead === undefined ? {} : { instead }),
    ...(always.length === 0 ? {} : { always }),
    bindTo: boundFiles(views),
    ...(hidden.length === 0 ? {} : { hidden: [...new Set(hidden)] }),
  };
}

/** Longest part of a segment's text that a reason quotes, UTF-16 units. */
const QUOTED_CHARS_MAX = 120;

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= QUOTED_CHARS_MAX ? line : `${line.slice(0, QUOTED_CHARS_MAX)}…`;
}

/** Files whose content is executed: an approval holds only while they stay as they are. */
function boundFiles(views: readonly SegmentView[]): readonly string[] {
  const files = views.flatMap(({ description, located }) =>
    description.uses.flatMap((use, index) =>
      use.code === true
        ? (located[index]?.touched.map(({ path, real }) => real ?? path) ?? [])
        : [],
    ),
  );
  return [...new Set(files)];
}

const NO_USES = {
  cwds: [],
  form: "",
  effects: [],
  classes: [],
  paths: [],
} as const;

/** A text without any command: there is nothing to allow. */
function nothing({ request }: EvaluateInput, { problems }: Understanding): SegmentVerdict {
  const found = problems.length > 0 ? problems : [EMPTY];
  const matches = found.map(
    ({ code, message }): Match => ({
      rung: "understand",
      rule: `understand/${code}`,
      decision: "ask",
      reason: message,
    }),
  );
  const [{ rung, rule, reason }] = matches as [Match];
  return { text: request.command, ...NO_USES, verdict: "ask", rung, rule, reason, matches };
}

const EMPTY: Problem = { code: "empty", message: "holds no command", at: -1 };

function failed(text: string, error: unknown): SegmentVerdict {
  const match: Match = {
    rung: "understand",
    rule: "understand/internal-error",
    decision: "ask",
    reason: `could not be judged: ${error instanceof Error ? error.message : String(error)}`,
  };
  const { rung, rule, reason } = match;
  return {
    text,
    ...NO_USES,
    effects: ["unknown"],
    classes: ["unknown"],
    verdict: "ask",
    rung,
    rule,
    reason,
    matches: [match],
  };
}
