/** What the kernel is to hold a command to, from what was decided about it. Pure. */
import { RecintoError } from "../errors.ts";
import type { ActionClass, LiveGrant, SegmentVerdict } from "../policy/types.ts";
import type { Confinement } from "./runner/frames.ts";

export interface ConfinementInput {
  /** The verdict's: what each simple command was judged to do, and by which rung. */
  readonly segments: readonly Pick<SegmentVerdict, "classes" | "rung" | "rule">[];
  /** A person approved exactly this command: what it was shown to do is what it may do. */
  readonly approved: boolean;
  readonly grants: readonly LiveGrant[];
  /** What a contract lets it write in place of the worktree; absent or null: there is no contract. */
  readonly writable?: readonly string[] | null;
  readonly worktree: string;
  readonly scratch: readonly string[];
  /** The sandbox's own git folder, where commits go; null: the repository is read-only. */
  readonly privateGitDir: string | null;
}

/** Shared memory is where semaphores and the like of builds live; it is the sandbox's own. */
const SHARED_MEMORY = "/dev/shm";

/** Classes that only look. Everything else writes, or somebody decided that it may. */
const READING: ReadonlySet<ActionClass> = new Set<ActionClass>(["read", "scratch", "loopback"]);

/**
 * Scratch may always be written, since nothing later trusts it, but for a scratch folder that holds a worktree which may
 * not: Landlock gives rights over all that is below a folder. An unknown verb that nobody decided about (the profile's
 * `unknown: confine`) holds the whole command to reading: its processes cannot be told from the rest.
 */
export function confinementOf(input: ConfinementInput): Confinement {
  const { segments, approved, scratch, worktree } = input;
  const around = scratch.filter((folder) => worktree.startsWith(`${folder}/`));
  const writable = new Set(scratch.filter((folder) => !around.includes(folder)));
  const classes = new Set(segments.flatMap((segment) => segment.classes));
  const guessed = segments.some(
    ({ classes, rung }) => !approved && rung === "scope" && classes.includes("unknown"),
  );
  if (segments.length === 0 || guessed) {
    return { writable: [...writable].sort(), readOnly: true, tcp: false };
  }
  let writes = false;
  for (const segment of segments) {
    if (segment.classes.every((cls) => READING.has(cls))) continue;
    writes = true;
    for (const path of placesOf(segment, input)) writable.add(path);
  }
  if (writes) writable.add(SHARED_MEMORY);
  if (writable.has(worktree)) for (const folder of around) writable.add(folder);
  return {
    writable: [...writable].sort(),
    readOnly: !writes && !classes.has("scratch"),
    tcp: writes || classes.has("loopback"),
  };
}

/** Where one segment may write: what its grant names, else the worktree, and the git folder for what commits. */
function placesOf(
  { classes, rung, rule }: ConfinementInput["segments"][number],
  { approved, grants, writable = null, worktree, privateGitDir }: ConfinementInput,
): readonly string[] {
  const grant = rung === "grant" && !approved ? grants.find(({ id }) => id === rule) : undefined;
  const git = privateGitDir !== null && classes.includes("git-write") ? [privateGitDir] : [];
  // A contract names all that is written: its envelope's folders and those of the grants in use.
  if (writable !== null) return [...writable, ...git];
  if (grant !== undefined && grant.paths.length > 0) return grant.paths.map(subtreeOf);
  return [worktree, ...git];
}

/** `dir/**` is the folder; other globs name no subtree, so only a file of just that name could match. */
function subtreeOf(glob: string): string {
  return glob.endsWith("/**") ? glob.slice(0, -"/**".length) : glob;
}

/** What is told about a command: `landlock-7+seccomp: read`, `landlock-7+seccomp: write /srv/shop/dev`. */
export function confinementText(
  landlock: number,
  confinement: Confinement,
  scratch: readonly string[],
): string {
  if (landlock === 0) return MOUNTS_ONLY;
  const usual = new Set([...scratch, SHARED_MEMORY]);
  const places = confinement.writable.filter((path) => !usual.has(path));
  const what = places.length === 0 ? "read" : `write ${places.join(", ")}`;
  return `landlock-${landlock}+seccomp: ${what}`;
}

/** The sandbox's mounts are all that holds a command. */
export const MOUNTS_ONLY = "mounts-only";

/** Words in which programs say that the kernel refused them something. */
const REFUSED =
  /Permission denied|Operation not permitted|Read-only file system|EACCES|EPERM|EROFS/;

/** The next step for a command that failed where its confinement may be why; null: that was not it. */
export function confinedHint(
  confinement: Confinement,
  scratch: readonly string[],
  worktree: string,
  exitCode: number | null,
  stderrEnd: string,
): string | null {
  if (exitCode === 0 || confinement.writable.includes(worktree) || !REFUSED.test(stderrEnd)) {
    return null;
  }
  const places = confinement.writable.filter(
    (path) => path !== SHARED_MEMORY && !scratch.includes(path),
  );
  return places.length === 0
    ? `it was judged to read only, and the kernel held it to that; ask for write to ${worktree} if it has to change something`
    : `it was allowed to write ${places.join(", ")} alone; ask for write to ${worktree} if it has to change more`;
}

/** How one command is held, decided before it starts. */
export interface Held {
  /** What is told about it. */
  readonly text: string;
  readonly confinement: Confinement;
  /** The kernel lets it change nothing outside of its own scratch, and reach nobody. */
  readonly harmless: boolean;
  /** See confinedHint. */
  readonly hint: (exitCode: number | null, stderrEnd: string) => string | null;
}

/** What the policy lets pass only where the kernel keeps it in place; standing.ts has the same. */
const ON_KERNEL: ReadonlySet<ActionClass> = new Set<ActionClass>(["run", "write", "unknown"]);

/**
 * Throws `facts-changed` where the command was let pass because the kernel would hold it, and this sandbox turned out to
 * have no such kernel: it was judged before the sandbox was started.
 */
export function hold(input: ConfinementInput, landlock: number): Held {
  const { scratch, worktree, segments, approved } = input;
  const rests = segments.some(
    ({ rung, classes }) => rung === "scope" && classes.some((cls) => ON_KERNEL.has(cls)),
  );
  if (landlock === 0 && rests && !approved) {
    throw new RecintoError("facts-changed", "the kernel cannot hold commands in this sandbox", {
      hint: "send it again: it is judged by what this sandbox can do",
    });
  }
  const confinement = confinementOf(input);
  return {
    confinement,
    harmless: landlock > 0 && confinement.readOnly && !confinement.tcp,
    text: confinementText(landlock, confinement, scratch),
    hint: (exitCode, stderrEnd) =>
      landlock === 0 ? null : confinedHint(confinement, scratch, worktree, exitCode, stderrEnd),
  };
}
