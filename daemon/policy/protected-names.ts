/** Files whose change always asks (A4): instruction files, files a host's tools run, and everything of git's own. */
import { matches } from "./globs.ts";

/** Files by name, at any depth, in any case: a case-insensitive host reads `agents.md` as `AGENTS.md`. */
const FILES = new Set([
  "agents.md",
  "agents.override.md",
  "agent.md",
  "claude.md",
  "claude.local.md",
  "gemini.md",
  "qwen.md",
  "crush.md",
  "warp.md",
  "conventions.md",
  "copilot-instructions.md",
  ".cursorrules",
  ".cursorignore",
  ".cursorindexingignore",
  ".windsurfrules",
  ".clinerules",
  ".roorules",
  ".goosehints",
  ".rules",
  ".mcp.json",
  "mcp.json",
  ".aider.conf.yml",
  ".envrc",
  ".gitmodules",
  ".gitattributes",
  ".pre-commit-config.yaml",
  ".pre-commit-config.yml",
  "lefthook.yml",
  "lefthook.yaml",
  ".lefthook.yml",
  ".lefthook.yaml",
  "lefthook-local.yml",
  ".recinto.yaml",
  "recinto.yaml",
]);

/** Folders by name, at any depth: all that they hold. */
const FOLDERS = new Set([
  ".git",
  ".cursor",
  ".claude",
  ".codex",
  ".gemini",
  ".windsurf",
  ".clinerules",
  ".roo",
  ".kiro",
  ".continue",
  ".aider",
  ".amazonq",
  ".junie",
  ".vscode",
  ".idea",
  ".fleet",
  ".zed",
  ".husky",
  ".githooks",
  ".devcontainer",
  ".recinto",
]);

/** Folders that hold a protected file beside others: protected when changed as a whole. */
const HOLDERS = new Set([".github"]);

/** Names as a case-insensitive or normalising file system would compare them. */
function fold(name: string): string {
  // Trailing dots and blanks, NTFS's `git~1` and characters HFS ignores spell `.git` on some hosts.
  const plain = name
    .normalize("NFKC")
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return plain === "git~1" ? ".git" : plain;
}

/** A file of this name is protected wherever it lies. */
export function isProtectedFile(name: string): boolean {
  return FILES.has(quickFold(name));
}

/** All that a folder of this name holds is protected. */
export function isProtectedFolder(name: string): boolean {
  return FOLDERS.has(quickFold(name));
}

/** The same as `fold`; most names need none of its work. */
function quickFold(name: string): string {
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name) ? name : fold(name);
}

/**
 * The protected name on a path, or null. `tree`: everything at and below the path changes, so a folder that holds
 * protected files counts too. `extra`: the profile's own globs, relative to `worktree`.
 */
export function protectedName(
  path: string,
  tree: boolean,
  extra: readonly string[] = [],
  worktree = "",
): string | null {
  const below = worktree !== "" && path.startsWith(`${worktree}/`);
  // Folders above the worktree are the host's business: a project may well live below `~/.claude/`.
  const relative = below ? path.slice(worktree.length + 1) : path;
  const parts = relative.split("/");
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (part === "") continue;
    const name = fold(part);
    if (FOLDERS.has(name)) return part;
    if (i === parts.length - 1 && FILES.has(name)) return part;
    if (i === parts.length - 1 && tree && HOLDERS.has(name)) return part;
  }
  return (
    extra.find((glob) => {
      const bare = glob.replace(/^\/+/, "");
      return (
        [relative, path.slice(1)].some((each) => matches(bare, each, { ignoreCase: true })) ||
        matches(`**/${bare}`, relative, { ignoreCase: true }) ||
        (bare.endsWith("/**") && matches(bare.slice(0, -3), relative, { ignoreCase: true }))
      );
    }) ?? null
  );
}

/** Every fixed name that a pattern such as `*.md` or `.c*` could stand for. */
export function protectedByGlob(pattern: string): string | null {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  for (const [i, part] of parts.entries()) {
    const isLast = i === parts.length - 1;
    const names = isLast ? [...FILES, ...FOLDERS] : [...FOLDERS];
    const literal = !/[*?[(]/.test(part);
    const hit = names.find((name) =>
      literal
        ? fold(part) === name
        : (part.startsWith(".") || !name.startsWith(".")) &&
          matches(part, name, { ignoreCase: true }),
    );
    if (hit !== undefined) return hit;
  }
  return null;
}
