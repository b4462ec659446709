/** Ends everything that one docker exec started, which the engine itself cannot do. */
import { KILL_ROUNDS_MAX } from "../../limits.ts";

/** Every command has this variable with an id of its own; its children inherit it. */
export const EXEC_MARK = "RECINTO_EXEC";

/**
 * Runs inside the sandbox as the command's own user; needs sh, cat, grep, awk and tr of any making. It finds the
 * processes that carry the mark in the environment they began with, the session of the command's first process, orphans
 * that carry no command's mark, and all that descends from these or shares a session with them. KILL is repeated until
 * none is left; other signals are sent once. Exit 0: done; 1: some are left.
 *
 * What it cannot find: a process that began with a forged mark *and* made a session of its own *and* whose parent is
 * gone. The runner, which is the parent of such orphans, closes this.
 */
const SCRIPT = `
mark=$1 signal=$2 main=$3 rounds=$4
targets() {
  marked=$(grep -ls -e "$mark" /proc/[0-9]*/environ | tr -c 0-9 ' ') || return 1
  anyones=$(grep -ls -e "\${mark%%=*}=" /proc/[0-9]*/environ | tr -c 0-9 ' ') || return 1
  cat /proc/[0-9]*/status 2>/dev/null | awk -v marked="$marked" -v anyones="$anyones" -v main="$main" '
    /^State:/ { state = $2 }
    /^Pid:/ { pid = $2; if (state != "Z" && state != "X") parent[pid] = 0 }
    /^PPid:/ && (pid in parent) { parent[pid] = $2 }
    /^NSsid:/ && (pid in parent) { session[pid] = $2 }
    END {
      count = split(marked, list, " ")
      for (i = 1; i <= count; i++) hit[list[i]] = 1
      if (main > 1) hit[main] = 1
      count = split(anyones, list, " ")
      for (i = 1; i <= count; i++) named[list[i]] = 1
      # The sandbox waits in the session of process 1, which nothing else can join.
      # gVisor tells no sessions; its first number after process 1 is what waits.
      for (p in parent) if (parent[p] == 1 && ((p in session) || p != 2) && session[p] != 1 && !(p in named)) hit[p] = 1
      do {
        grew = 0
        for (p in parent) if ((p in hit) && session[p] > 1) taken[session[p]] = 1
        for (p in parent) if (!(p in hit) && ((parent[p] in hit) || (session[p] in taken))) { hit[p] = 1; grew = 1 }
      } while (grew)
      for (p in parent) if ((p in hit) && p != 1) printf "%s ", p
    }'
}
while [ "$rounds" -gt 0 ]; do
  # A full process table lets it start nothing: that it found nothing then says nothing.
  found=$(targets) || { rounds=$((rounds - 1)); continue; }
  [ -n "$found" ] || exit 0
  kill -s "$signal" $found 2>/dev/null
  [ "$signal" = KILL ] || { kill -s CONT $found 2>/dev/null; exit 0; }
  rounds=$((rounds - 1))
done
exit 1
`;

/** The words of the helper. `main`: the command's first process as the sandbox numbers it, or 0 when not known. */
export function killArgv(id: string, signal: string, main: number): readonly string[] {
  const args = [`${EXEC_MARK}=${id}`, signal, String(main), String(KILL_ROUNDS_MAX)];
  return ["/bin/sh", "-c", SCRIPT, "recinto-kill", ...args];
}
