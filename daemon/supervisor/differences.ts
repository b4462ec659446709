/** What is no longer as it was when a person approved it, in sentences. */
import type { BoundFacts } from "./types.ts";

/** Empty: nothing changed. Compares every name in either. */
export function differences(shown: BoundFacts, now: BoundFacts): readonly string[] {
  const changed: string[] = [];
  if (shown.branch !== now.branch) {
    changed.push(`the branch was ${branchName(shown.branch)}, now it is ${branchName(now.branch)}`);
  }
  for (const path of names(shown.realpath, now.realpath)) {
    const [was, is] = [shown.realpath[path], now.realpath[path]];
    if (was === is) continue;
    changed.push(`${path} led to ${placeName(was)}, now to ${placeName(is)}`);
  }
  for (const path of names(shown.content, now.content)) {
    const [was, is] = [shown.content[path] ?? null, now.content[path] ?? null];
    if (was === is) continue;
    if (was === null) changed.push(`${path} was not there, now it is`);
    else if (is === null) changed.push(`${path} is not there any more`);
    else changed.push(`the content of ${path} changed`);
  }
  return changed;
}

function names(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>) {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
}

function branchName(branch: string | null | undefined): string {
  return branch === undefined ? "unknown" : (branch ?? "detached");
}

function placeName(target: string | null | undefined): string {
  return target ?? "nothing";
}
