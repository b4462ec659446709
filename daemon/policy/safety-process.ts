/** Safety patterns: processes that are killed, machines that are stopped, and processes that outlive the command. */
import type { SafetyPattern } from "./safety.ts";
import { long, operands, short } from "./view.ts";

export const PROCESS_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "kill-hard",
    reason: "kills processes without letting them end",
    verbs: ["kill"],
    test: (argv) =>
      argv.some(
        (word, i) =>
          word !== null &&
          (/^-(?:0*9|(?:SIG)?KILL|(?:SIG)?STOP|s(?:SIG)?KILL|n9)$/i.test(word) ||
            (/^(?:-s|-n|--signal)$/.test(word) &&
              /^(?:9|(?:SIG)?(?:KILL|STOP))$/i.test(argv[i + 1] ?? "")) ||
            /^--signal=(?:9|(?:SIG)?(?:KILL|STOP))$/i.test(word)),
      ),
    match: ["kill -9 1234", "kill -KILL 12", "kill -s KILL 12", "kill -SIGKILL 5", "kill -n 9 5"],
    not_match: ["kill -l", "kill 1234", "kill -TERM 12", "kill -0 12"],
  },
  {
    id: "kill-init",
    reason: "signals the first process or every process",
    verbs: ["kill"],
    test: (argv) =>
      argv
        .slice(1)
        .some((word, i) => word === "1" || (word === "-1" && i > 0) || (word === "0" && i === 0)),
    match: ["kill 1", "kill -TERM -1", "kill -- -1", "kill 0"],
    not_match: ["kill 1234", "kill -l"],
  },
  {
    id: "kill-by-name",
    reason: "kills every process of a name, whoever started it",
    verbs: ["pkill", "killall", "killall5", "skill", "slay", "xkill", "fuser"],
    test: (argv) => (argv[0] === "fuser" ? short(argv, "k") || long(argv, "--kill") : true),
    match: ["pkill node", "killall -9 python", "fuser -k 8080/tcp", "pkill -f 'node.*next'"],
    not_match: ["pgrep node", "fuser 8080/tcp", "grep pkill x"],
  },
  {
    id: "power",
    reason: "stops or restarts the machine",
    verbs: ["shutdown", "reboot", "poweroff", "halt", "init", "telinit", "pm-suspend", "rtcwake"],
    test: (argv) => !/^--(?:help|version)$/.test(argv[1] ?? ""),
    match: ["reboot", "shutdown -h now", "poweroff -f", "init 0", "halt"],
    not_match: ["shutdown --help", "grep -rn reboot src", "echo halt"],
  },
  {
    id: "detached",
    reason: "leaves a process behind that no longer belongs to the command",
    verbs: ["nohup", "setsid", "disown", "daemonize", "start-stop-daemon", "daemon"],
    test: (argv) => argv[0] === "disown" || operands(argv).length > 0,
    match: ["(sleep 1000; ./x) & disown", "start-stop-daemon --start ./x", "daemonize ./x"],
    not_match: ["sleep 1 &", "grep nohup x"],
  },
  {
    id: "fork-bomb",
    reason: "starts itself again and again",
    test: (argv, view) => {
      const name = argv[0] ?? null;
      // `:` is a builtin, and the classic name of the function.
      if (name === null || (view.description.known && name !== ":")) return false;
      if (!view.segment.context.includes("function")) return false;
      const calls = view.segments.filter(
        ({ words, context }) =>
          context.includes("function") &&
          words[0]?.value.kind === "literal" &&
          words[0].value.value === name,
      );
      return (
        (view.segment.pipedTo !== null || view.segment.context.includes("background")) &&
        calls.length > 1
      );
    },
    match: [":(){ :|:& };:", "f(){ f|f& }; f"],
    not_match: ["f() { ls | wc -l; }; f", "g() { ls & ls; }"],
  },
  {
    id: "exhaust",
    reason: "prints or fills without end",
    verbs: ["yes", "stress", "stress-ng", "fallocate"],
    test: (argv, view) =>
      argv[0] === "fallocate"
        ? argv.some((word) => word !== null && /\d+(?:[TPE]|\d{12})/i.test(word))
        : argv[0] !== "yes" || view.segment.redirects.some(({ kind }) => /write|append/.test(kind)),
    match: ["yes > big.txt", "stress-ng --vm 8", "fallocate -l 10T x"],
    not_match: ["yes | head -3", "fallocate -l 1M x"],
  },
];
