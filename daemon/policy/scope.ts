/** Which scope root holds what a segment touches: lexically and where known links really lead, under every possible cwd. */
import type { Description, Use } from "./catalogue/description.ts";
import { matches } from "./globs.ts";
import { isWithin, normalise, type RealPaths, type Resolved, resolve } from "./paths.ts";
import { SOME_NAME } from "./shell/cwd.ts";
import type { Segment, Word } from "./shell/segment.ts";
import type { AcceptedLink, ActionClass, Facts, PolicySettings, TouchedPath } from "./types.ts";

/** Folders and links that paths are held against; made once per decision. */
export interface Scope {
  readonly readRoots: readonly string[];
  readonly worktree: string;
  readonly scratch: readonly string[];
  readonly realpath: RealPaths;
  /** Known links that leave the scope roots: the watcher's, and those the real paths show. */
  readonly escaping: readonly string[];
  /** The watcher's list was given, so that a link which is not in it does not leave. */
  readonly escapingKnown: boolean;
  /** Links that a person has accepted, and where each of them leads: for reading, that is a root of its own. */
  readonly accepted: readonly AcceptedLink[];
  /** `escaping` without the accepted ones, unless one leads elsewhere by now. */
  readonly escapingReads: readonly string[];
}

/** Why something is not in scope: a stable rule id and a clause that follows the name of the segment. */
export interface Objection {
  readonly rule: string;
  readonly reason: string;
}

export interface Located {
  readonly touched: readonly TouchedPath[];
  /** What the profile must allow for this use: its class, or `scratch` where it touches scratch. */
  readonly needs: readonly ActionClass[];
  readonly objections: readonly Objection[];
}

export function scopeOf(settings: PolicySettings, facts: Facts): Scope {
  const { realpath, escapingLinks } = facts;
  const readRoots = [...new Set([settings.worktree, settings.root, ...settings.readable])].map(
    normalise,
  );
  const inside = (path: string): boolean =>
    readRoots.some((root) => isWithin(normalise(path), root));
  const leaving = Object.entries(realpath ?? {}).flatMap(([path, target]) =>
    target !== null && inside(path) && !inside(target) ? [normalise(path)] : [],
  );
  const escaping = [...(escapingLinks ?? []).map(normalise), ...leaving];
  const accepted = (facts.acceptedLinks ?? []).map(({ path, target }) => ({
    path: normalise(path),
    target: normalise(target),
  }));
  const isAccepted = (link: string): boolean => {
    const leads = realpath?.[link] ?? undefined;
    return accepted.some(({ path, target }) =>
      leads === undefined ? link === path : isWithin(link, path) && isWithin(leads, target),
    );
  };
  return {
    readRoots,
    worktree: normalise(settings.worktree),
    scratch: settings.scratch.map(normalise),
    realpath,
    escaping,
    escapingKnown: escapingLinks !== undefined,
    accepted,
    escapingReads: accepted.length === 0 ? escaping : escaping.filter((link) => !isAccepted(link)),
  };
}

/** Where a use takes place: every path it may touch, and what stands against each. */
export function locate(use: Use, segment: Segment, kind: Kind, scope: Scope): Located {
  if (use.path === undefined && use.cwd !== true) {
    return { touched: [], needs: [use.class], objections: [] };
  }
  const region = regionOf(use, kind);
  const { places, objections } =
    use.path === undefined
      ? placesOfCwd(segment, scope)
      : placesOfWord(use.path, segment, use, scope, linksAgainst(region, scope));
  const touched: TouchedPath[] = [];
  const needs = new Set<ActionClass>();
  for (const place of places) {
    if (isStream(place.lexical) && region !== "code") continue;
    const judged = judge(place, region, use, scope);
    touched.push(judged.touched);
    needs.add(judged.needs);
    if (judged.objection !== null) objections.push(judged.objection);
  }
  if (needs.size === 0) needs.add(use.class);
  return { touched, needs: [...needs], objections };
}

/** Objections to the folder a segment starts in, whatever its words are (A1). */
export function cwdObjections(segment: Segment, scope: Scope): readonly Objection[] {
  const { places, objections } = placesOfCwd(segment, scope);
  objections.push(...linksBelow(segment, scope));
  for (const place of places) {
    const roots = [...scope.readRoots, ...scope.scratch];
    if (!rootOf(place, roots)) {
      objections.push({
        rule: "scope/cwd",
        reason: `runs in ${place.real}, which is outside the project`,
      });
    }
  }
  return objections;
}

/** A folder chosen by a wildcard may be a link: every one that leaves below what is known of it stands against it. */
function linksBelow(segment: Segment, scope: Scope): Objection[] {
  if (scope.escaping.length === 0) return [];
  const link = (segment.cwds ?? []).flatMap((cwd) => {
    const at = `${cwd}/`.indexOf(`/${SOME_NAME}/`);
    return at < 0 ? [] : (scope.escaping.find((path) => isWithin(path, cwd.slice(0, at))) ?? []);
  })[0];
  return link === undefined ? [] : [leavingLink(link)];
}

/** What a command is as a whole, where that says which region its uses may take place in. */
export interface Kind {
  readonly git: boolean;
  readonly builds: boolean;
}

export function kindOf({ form, uses }: Description): Kind {
  return {
    git: form === "git" || form.startsWith("git "),
    builds: uses.some((use) => use.class === "build"),
  };
}

/** `read`: any scope root; `write`: worktree or scratch; `code`: the worktree only, for what runs and for git. */
type Region = "read" | "write" | "code";

function regionOf(use: Use, { git, builds }: Kind): Region {
  if (use.class === "build" || use.class === "run" || use.class === "git-write") return "code";
  // Whatever git reads, it reads through a repository whose own settings may run programs.
  if (git && use.effect === "read") return "code";
  // What a build or a test is given it may run: the tests of another worktree are code of another worktree.
  if (builds && use.effect === "read" && use.via !== "redirect") return "code";
  if (use.code === true || use.class === "unknown") return "code";
  return use.effect === "write" || use.class === "write" || use.class === "scratch"
    ? "write"
    : "read";
}

interface Places {
  readonly places: readonly Resolved[];
  readonly objections: Objection[];
}

const UNKNOWN_CWD: Objection = {
  rule: "scope/unknown-cwd",
  reason: "runs in a folder that cannot be told from the text",
};

function placesOfCwd(segment: Segment, scope: Scope): Places {
  if (segment.cwds === null) return { places: [], objections: [UNKNOWN_CWD] };
  return {
    places: segment.cwds.map((cwd) => resolve(cwd, "/", scope.realpath)),
    objections: [],
  };
}

/** Links that stand against a use: an accepted one is only ever read through. */
function linksAgainst(region: Region, scope: Scope): readonly string[] {
  return region === "read" ? scope.escapingReads : scope.escaping;
}

function placesOfWord(
  word: Word,
  segment: Segment,
  use: Use,
  scope: Scope,
  links: readonly string[],
): Places {
  const objections: Objection[] = [];
  const found: Resolved[] = [];
  const under = (path: string): void => {
    if (path.startsWith("/")) found.push(resolve(path, "/", scope.realpath));
    else if (segment.cwds === null) objections.push(UNKNOWN_CWD);
    else for (const cwd of segment.cwds) found.push(resolve(path, cwd, scope.realpath));
  };
  const { value } = word;
  switch (value.kind) {
    case "literal":
      under(value.value);
      break;
    case "oneOf":
      for (const text of value.values) under(text);
      break;
    case "number":
      under("0");
      break;
    case "glob":
      placesOfGlob(value.base, value.pattern, under);
      objections.push(...linksInGlob(value, word, segment, scope, links));
      break;
    case "listed": {
      const before = found.length;
      for (const base of value.bases) under(base);
      for (const place of found.slice(before)) {
        const link = links.find((path) => isWithin(path, place.lexical));
        if (link !== undefined) objections.push(leavingLink(link));
      }
      if (value.split && use.effect !== "read") {
        objections.push({
          rule: "scope/split-names",
          reason: `changes what ${word.text} lists, where a name with a blank in it becomes another path`,
        });
      }
      break;
    }
    case "unknown": {
      const { sample } = value;
      // `$(mktemp)/x`: whatever the name is, it lies where the sample does; only scratch has no file that matters.
      if (sample !== undefined && !value.many && inScratch(sample, scope)) {
        under(sample);
        const link = links.find((path) => inScratch(path, scope));
        if (link !== undefined) objections.push(leavingLink(link));
        break;
      }
      objections.push({
        rule: "scope/unknown-path",
        reason: `names a path that cannot be told from the text: ${word.text} (${value.why})`,
      });
      break;
    }
  }
  return { places: found, objections };
}

function inScratch(path: string, scope: Scope): boolean {
  return path.startsWith("/") && scope.scratch.some((root) => isWithin(normalise(path), root));
}

/** A glob stays below its base, unless a part such as `.*` may expand to `..`. */
function placesOfGlob(base: string, pattern: string, under: (path: string) => void): void {
  under(base);
  const climbs = restOf(base, pattern).filter(
    (part) => part.startsWith(".") && matches(part, ".."),
  );
  if (climbs.length > 0) under(`${base === "" ? "." : base}${"/..".repeat(climbs.length)}`);
}

/** The parts of a pattern that come after its base. */
function restOf(base: string, pattern: string): readonly string[] {
  const rest = base !== "" && pattern.startsWith(base) ? pattern.slice(base.length) : pattern;
  return rest.split("/").filter((part) => part !== "" && part !== ".");
}

function linksInGlob(
  value: { readonly base: string; readonly pattern: string },
  word: Word,
  segment: Segment,
  scope: Scope,
  links: readonly string[],
): Objection[] {
  if (links.length === 0) return [];
  const parts = restOf(value.base, value.pattern);
  const cwds = value.base.startsWith("/") ? ["/"] : (segment.cwds ?? []);
  const bases = cwds.map((cwd) => resolve(value.base, cwd, scope.realpath).lexical);
  const hit = links.find((link) =>
    bases.some((base) => {
      if (!isWithin(link, base) || link === base) return false;
      const names = link.slice(base === "/" ? 1 : base.length + 1).split("/");
      return (
        parts.some((part) => part.includes("**")) ||
        (names.length <= parts.length && names.every((name, i) => matches(parts[i] ?? "", name)))
      );
    }),
  );
  return hit === undefined ? [] : [{ ...leavingLink(hit), reason: linkInGlob(word.text, hit) }];
}

function linkInGlob(text: string, link: string): string {
  return `${text} may expand to ${link}, a link that leaves the project`;
}

function leavingLink(link: string): Objection {
  return {
    rule: "scope/leaving-link",
    reason: `goes through ${link}, a link that leaves the project`,
  };
}

/** The command's own streams: whatever they are, it has them already. */
function isStream(path: string): boolean {
  return (
    path === "/dev/null" ||
    path === "/dev/stdin" ||
    path === "/dev/stdout" ||
    path === "/dev/stderr" ||
    /^\/dev\/fd\/\d+$/.test(path)
  );
}

/** The root that holds a path both as written and where it leads. */
function rootOf({ lexical, real }: Resolved, roots: readonly string[]): string | null {
  if (lexical !== real && !roots.some((root) => isWithin(lexical, root))) return null;
  return roots.find((root) => isWithin(real, root)) ?? null;
}

/** Where an accepted link leads, for what is named through it. */
function acceptedRoot({ lexical, real }: Resolved, { accepted }: Scope): string | null {
  const link = accepted.find(
    ({ path, target }) => isWithin(lexical, path) && isWithin(real, target),
  );
  return link?.target ?? null;
}

interface Judged {
  readonly touched: TouchedPath;
  readonly needs: ActionClass;
  readonly objection: Objection | null;
}

function judge(place: Resolved, region: Region, use: Use, scope: Scope): Judged {
  const access = region === "write" || use.effect === "git-write" ? "write" : "read";
  const roots = region === "read" ? scope.readRoots : [scope.worktree];
  const root = rootOf(place, roots) ?? (region === "read" ? acceptedRoot(place, scope) : null);
  const scratch = root === null && region !== "code" ? rootOf(place, scope.scratch) : null;
  const { lexical, real } = place;
  const touched: TouchedPath = {
    path: lexical,
    ...(real === lexical ? {} : { real }),
    access,
    root: root ?? scratch,
  };
  const needs = scratch === null ? use.class : "scratch";
  return { touched, needs, objection: objectionTo(place, touched, region, use, scope) };
}

function objectionTo(
  { lexical, real }: Resolved,
  { access, root }: TouchedPath,
  region: Region,
  use: Use,
  scope: Scope,
): Objection | null {
  const link = linksAgainst(region, scope).find(
    (path) => isWithin(lexical, path) || isWithin(real, path),
  );
  if (link !== undefined) return leavingLink(link);
  const where = real === lexical ? lexical : `${lexical}, which leads to ${real}`;
  if (root === null) {
    const verb = region === "code" ? "works in" : access === "write" ? "writes" : "reads";
    const inProject = scope.readRoots.some((path) => isWithin(real, path));
    const outside =
      region === "read" || !inProject ? "outside the project" : "outside this worktree";
    return { rule: `scope/outside-${access}`, reason: `${verb} ${where}, ${outside}` };
  }
  if (access === "write" && real !== lexical && use.cwd !== true) {
    return { rule: "scope/write-through-link", reason: `writes through a link: ${where}` };
  }
  return null;
}
