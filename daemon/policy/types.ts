/** The words of the policy: what is asked, what is known about the world, and what the answer is. */

/** Ordered from weakest to strongest; the strictest of several wins. */
export type Decision = "allow" | "ask" | "deny";

/** What a segment does to the world (`engine`: talks to a container engine or cluster, B4). */
export const EFFECTS = [
  "read",
  "write",
  "run",
  "git-write",
  "network",
  "engine",
  "install",
  "process",
  "privilege",
  "unknown",
] as const;
export type Effect = (typeof EFFECTS)[number];

/**
 * The finer kind of an effect that a profile's standing permission is stated in (docs/policy.md).
 * `build` is the declared build, test and lint verbs (effect `run`); `run` is project code of any other kind;
 * `scratch` is a write outside the worktree but in the sandbox's own /tmp or home; `loopback` is the sandbox's
 * own network (effect `network`, but never off the machine).
 */
export type ActionClass =
  | "read"
  | "build"
  | "run"
  | "write"
  | "scratch"
  | "git-write"
  | "loopback"
  | "network"
  | "engine"
  | "install"
  | "process"
  | "privilege"
  | "unknown";

/** The classes a profile may allow by itself. Everything else always asks without a rule or a grant. */
export type StandingClass =
  | "read"
  | "build"
  | "run"
  | "write"
  | "scratch"
  | "git-write"
  | "loopback";
export type Standing = Readonly<Record<StandingClass, "allow" | "ask">>;

/** The rungs of the decision ladder (docs/policy.md). */
export type Rung =
  | "understand"
  | "absolute-deny"
  | "stale-authority"
  | "ceiling"
  | "safety"
  | "denials"
  | "rule"
  | "grant"
  | "scope"
  | "default";

/** One thing that had something to say about a segment. All of them are in the verdict, not the first. */
export interface Match {
  readonly rung: Rung;
  /** Stable id of the rule, pattern, ceiling, grant or scope root, e.g. `safety/recursive-delete`. */
  readonly rule: string;
  readonly decision: Decision;
  /** One sentence for people. */
  readonly reason: string;
}

/** A path that a segment touches, after lexical and real resolution. */
export interface TouchedPath {
  readonly path: string;
  /** Where it really leads, when a link changed it. */
  readonly real?: string;
  readonly access: "read" | "write";
  /** The scope root that holds it, or null when it is outside every one of them. */
  readonly root: string | null;
}

export interface SegmentVerdict {
  /** The source text of this simple command. */
  readonly text: string;
  /** Decoded words, present when all of them are sure. */
  readonly argv?: readonly string[];
  /** Canonical name of what it does, whatever its spelling: `git push`, `sed`; "" when there is no verb. */
  readonly form: string;
  /** Hosts that are named literally, for network uses. */
  readonly hosts?: readonly string[];
  /** The possible working directories when it starts. Empty: not known. */
  readonly cwds: readonly string[];
  readonly verdict: Decision;
  /** The rung, rule and reason that decided. */
  readonly rung: Rung;
  readonly rule: string;
  readonly reason: string;
  readonly effects: readonly Effect[];
  readonly classes: readonly ActionClass[];
  readonly paths: readonly TouchedPath[];
  readonly matches: readonly Match[];
}

export interface Verdict {
  readonly verdict: Decision;
  readonly effects: readonly Effect[];
  readonly classes: readonly ActionClass[];
  /** The scope roots that authorised an automatic allow (A7); empty otherwise. */
  readonly roots: readonly string[];
  readonly segments: readonly SegmentVerdict[];
  /** Why, in one sentence that names segment and rule. */
  readonly reason: string;
  /** For ask and deny: what would pass without asking, one sentence. */
  readonly instead?: string;
  /** Whether *always* may be offered for this verdict, and the rules it would store, narrowest first. */
  readonly always?: readonly SavedRule[];
  /**
   * What the approver must see and what the approval is bound to: scripts and programs of the project that would
   * run, whose content hashes the caller adds (absolute paths).
   */
  readonly bindTo: readonly string[];
  /** Characters that do not print, by code point, when the text has any: `U+202E at 14`. */
  readonly hidden?: readonly string[];
}

/** What an approval with *always* stores (A6): never the literal line. */
export interface SavedRule {
  /** Token prefix, e.g. ["git", "fetch"]. */
  readonly prefix: readonly string[];
  readonly effects: readonly Effect[];
  /** Absolute path prefixes that later uses must stay below; empty: in-scope paths only. */
  readonly paths: readonly string[];
  /** Hosts that approved commands may reach. Then `prefix` is empty: it lets no command pass by itself. */
  readonly hosts?: readonly string[];
}

/** What an agent wants done. Paths are absolute and lexically normalised by the caller. */
export interface PolicyRequest {
  readonly command: string;
  readonly cwd: string;
}

/**
 * What is known about the world when judging. The policy never looks for itself: an unknown fact asks.
 * `realpath` maps an absolute lexical path to where it leads (links resolved, as the sandbox sees it);
 * null means it does not exist. A path that is not a key is not known to be behind a link.
 */
export interface Facts {
  /** Current branch of the worktree. null: detached. undefined: not known. */
  readonly branch?: string | null;
  readonly realpath?: Readonly<Record<string, string | null>>;
  /** Names in node_modules/.bin and alike. undefined: not known. */
  readonly localBins?: readonly string[];
  /** Absolute paths of known links that leave the scope roots. */
  readonly escapingLinks?: readonly string[];
  /** Those of them that a person has accepted for reading, as long as they lead there. */
  readonly acceptedLinks?: readonly AcceptedLink[];
  /** The session was frozen by an escaping link (`onEscape: freeze`). */
  readonly frozen?: boolean;
}

export interface AcceptedLink {
  readonly path: string;
  /** Absolute, as the sandbox sees it. */
  readonly target: string;
}

/** The policy part of a profile, resolved (`extends` applied), plus where the session works. */
export interface PolicySettings {
  readonly profile: string;
  readonly standing: Standing;
  /** Project root: scope for reading. */
  readonly root: string;
  /** The agent's worktree: scope for writing, running and git. */
  readonly worktree: string;
  /** More roots that an admin made readable. */
  readonly readable: readonly string[];
  /** Writable scratch folders of the sandbox, e.g. /tmp and the home's cache. */
  readonly scratch: readonly string[];
  readonly home: string;
  /** Branch globs that are protected (ceilings). */
  readonly protectedBranches: readonly string[];
  /** More protected file globs, on top of the fixed list of instruction and host-executed files. */
  readonly protectedFiles: readonly string[];
  /** The profile's own verbs. */
  readonly verbs: readonly ProjectVerb[];
  /** `ask`, or `confine`: an unknown verb runs read-only without network (needs kernel confinement). */
  readonly unknown: "ask" | "confine";
  /**
   * Whether the kernel will hold commands to their verdict. false: what rests on that (`run`, `write`, `unknown:
   * confine`) asks whatever the profile allows. Absent: it will.
   */
  readonly kernelConfinement?: boolean;
  readonly denials: { readonly consecutive: number; readonly total: number };
}

/** A verb a project names in its profile. */
export interface ProjectVerb {
  readonly name: string;
  readonly class: "read" | "build" | "run" | "write";
  /** Options whose value is a path, e.g. ["--out", "-C"]. */
  readonly pathOptions: readonly string[];
  /** First operands that are read-only whatever `class` says. */
  readonly readSubcommands: readonly string[];
}

/** Where a rule comes from; higher wins (B1). `admin` is the profile and contract: its denies are absolute. */
export type RuleSource = "admin" | "session" | "project" | "user" | "builtin";

export interface Rule {
  readonly id: string;
  readonly source: RuleSource;
  readonly action: Decision;
  readonly tool: "exec" | "read" | "write";
  /** Token pattern: words, `*` for any rest or any one word; or a path glob for read and write. */
  readonly pattern: readonly string[];
  readonly justification?: string;
  /** A stored *always*: later uses must have no other effect and stay below `paths`. */
  readonly effects?: readonly Effect[];
  readonly paths?: readonly string[];
}

export interface RuleSet {
  readonly rules: readonly Rule[];
}

/** A live grant as the policy sees it (issue 6 fills it; the shape is fixed now). */
export interface LiveGrant {
  readonly id: string;
  readonly effects: readonly Effect[];
  /** Path globs of kind `dir/**` or single files, absolute. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  readonly commands: readonly (readonly string[])[];
}

export interface Authority {
  readonly grants: readonly LiveGrant[];
  /** A handle was presented that is closed, forged or another session's: deny (rung 2). */
  readonly stale?: { readonly handle: string; readonly reason: string };
}

/** Denial counters as they stand (B2). Keys are classes of action, see denials.ts. */
export interface DenialState {
  readonly consecutive: Readonly<Record<string, number>>;
  readonly total: number;
}

export interface EvaluateInput {
  readonly request: PolicyRequest;
  readonly settings: PolicySettings;
  readonly facts: Facts;
  readonly rules: RuleSet;
  readonly authority: Authority;
  readonly denials: DenialState;
}
