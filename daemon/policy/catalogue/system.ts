/** Verbs that print what is known about the machine, its users and its processes. */

import type { Word } from "../shell/segment.ts";
import { type Draft, use } from "./draft.ts";
import { type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

const NEVER_ENDS = "never ends";
const SETS = "changes the machine";
const NAMES_FILES = "reads the files that a file names";

/** date without a `+FORMAT` operand sets the clock by it. */
function dateFormat(parsed: ParsedForm, draft: Draft): void {
  for (const word of parsed.operands) {
    const { value } = word;
    const text = value.kind === "unknown" ? value.prefix : textOf(word);
    if (!text?.startsWith("+")) draft.lifts.push(`operand ${word.text} of date sets the clock`);
  }
}

/** ps takes options with and without dashes; none of them writes. */
function processes(parsed: ParsedForm, draft: Draft): void {
  if (parsed.operands.length === 0) use(draft, "read", "processes");
}

/** `%1`, `%%` or `$!`. */
function ownJob(word: Word): boolean {
  return /^%(?:\d+|[%+-])?$/.test(textOf(word) ?? "") || /^"?\$(?:!|\{!\})"?$/.test(word.text);
}

export const system: readonly VerbSpec[] = [
  {
    names: ["uname"],
    flags:
      "-a --all -s --kernel-name -n --nodename -r --kernel-release -v --kernel-version -m --machine -p --processor -i --hardware-platform -o --operating-system",
    anyArgs: true,
    examples: ["uname", "uname -a"],
  },
  {
    names: ["hostname"],
    note: "without a name",
    flags:
      "-a --alias -A --all-fqdns -d --domain -f --fqdn --long -i --ip-address -I --all-ip-addresses -s --short -y --yp --nis -v -V",
    lifts: { "sets the name": "-b --boot -F= --file=" },
    help: "--help -h --version -V",
    examples: ["hostname", "hostname -s"],
  },
  { names: ["whoami", "logname", "users"], anyArgs: true, examples: ["whoami"] },
  {
    names: ["id"],
    flags: "-a -Z --context -g --group -G --groups -n --name -r --real -u --user -z --zero",
    operands: "data",
    anyArgs: true,
    examples: ["id", "id -un"],
  },
  { names: ["groups"], operands: "data", anyArgs: true, examples: ["groups"] },
  {
    names: ["date"],
    note: "operands begin with +",
    flags:
      "-d= --date= --debug -I=? --iso-8601=? --resolution -R --rfc-email --rfc-822 --rfc-2822 --rfc-3339= -u --utc --universal",
    reads: "-f= --file= -r= --reference=",
    lifts: { "sets the clock": "-s= --set=" },
    operands: "data",
    refine: dateFormat,
    examples: [
      "date",
      "date +%s",
      "date -u -d 2020-01-01 +%F",
      "date -Iseconds",
      "date -r README.md",
    ],
  },
  {
    names: ["cal", "ncal"],
    flags: "-1 -3 -n= -s -m -j -y -Y -w -h -J -e -M -S -b -B= -A= -C -d= -H= -N",
    operands: "data",
    examples: ["cal"],
  },
  {
    names: ["uptime"],
    flags: "-p --pretty -s --since -r --raw -c --container",
    anyArgs: true,
    help: "--help -h --version -V",
    examples: ["uptime"],
  },
  {
    names: ["env"],
    note: "alone; before a command it is a wrapper",
    flags: "-0 --null -i -u= --unset= --list-signal-handling",
    lifts: {
      "splits text into a command": "-S= --split-string=",
      "moves to another folder": "-C= --chdir=",
    },
    strict: true,
    operands: "data",
    refine: (parsed, draft) => {
      if (parsed.operands.length > 0) draft.lifts.push("env runs its words");
    },
    examples: ["env", "env -0"],
  },
  {
    names: ["printenv"],
    flags: "-0 --null",
    operands: "data",
    anyArgs: true,
    examples: ["printenv", "printenv HOME"],
  },
  { names: ["nproc"], flags: "--all --ignore=", anyArgs: true, examples: ["nproc", "nproc --all"] },
  { names: ["arch"], anyArgs: true, examples: ["arch"] },
  { names: ["tty"], flags: "-s --silent --quiet", anyArgs: true, examples: ["tty -s"] },
  {
    names: ["locale"],
    flags:
      "-a --all-locales -m --charmaps -c --category-name -k --keyword-name -v --verbose --usage",
    operands: "data",
    examples: ["locale", "locale -a"],
  },
  {
    names: ["getconf"],
    flags: "-a -v=",
    operands: { rest: "data" },
    examples: ["getconf PAGE_SIZE", "getconf -a"],
  },
  {
    names: ["lscpu"],
    flags:
      "-a --all -b --online -B --bytes -C=? --caches=? -c --offline -J --json -e=? --extended=? -p=? --parse=? -x --hex -y --physical --output-all --hierarchic=?",
    trees: "-s= --sysroot=",
    help: "--help -h --version -V",
    examples: ["lscpu", "lscpu -J"],
  },
  {
    names: ["lsblk"],
    flags:
      "-A --noempty -D --discard -E= --dedup= -I= --include= -J --json -M --merge -O --output-all -P --pairs -S --scsi -N --nvme -v --virtio -T=? --tree=? -a --all -b --bytes -d --nodeps -e= --exclude= -f --fs -i --ascii -l --list -m --perms -n --noheadings -o= --output= -p --paths -r --raw -s --inverse -t --topology -w= --width= -x= --sort= -y --shell -z --zoned",
    trees: "--sysroot=",
    operands: "read",
    examples: ["lsblk", "lsblk -J"],
  },
  {
    names: ["free"],
    flags:
      "-b --bytes --kilo --mega --giga --tera --peta -k --kibi -m --mebi -g --gibi --tebi --pebi -h --human --si -l --lohi -L --line -t --total -v --committed -w --wide -c=",
    lifts: { [NEVER_ENDS]: "-s= --seconds=" },
    examples: ["free", "free -h"],
  },
  {
    names: ["vmstat"],
    note: "an interval needs a count",
    flags:
      "-a --active -f --forks -m --slabs -n --one-header -s --stats -d --disk -D --disk-sum -p= --partition= -S= --unit= -w --wide -t --timestamp -y --no-first",
    operands: { lead: ["data", "data"] },
    refine: (parsed, draft) => {
      if (parsed.operands.length === 1)
        draft.lifts.push("vmstat with an interval and no count never ends");
    },
    examples: ["vmstat", "vmstat -s"],
  },
  {
    names: ["ps"],
    noOptions: true,
    operands: "data",
    anyArgs: true,
    refine: processes,
    examples: ["ps", "ps aux", "ps -ef --sort=-pid"],
  },
  { names: ["pstree"], noOptions: true, operands: "data", anyArgs: true, examples: ["pstree"] },
  {
    names: ["pgrep", "pidof"],
    flags:
      "-d= --delimiter= -l --list-name -a --list-full -v --inverse -w --lightweight -c --count -f --full -g= --pgroup= -G= --group= -i --ignore-case -n --newest -o --oldest -O= --older= -P= --parent= -s= --session= -t= --terminal= -u= --euid= -U= --uid= -x --exact -L --logpidfile -r= --runstates= -A --ignore-ancestors --cgroup= --ns= --nslist= -q --quiet",
    reads: "-F= --pidfile=",
    operands: "data",
    help: "--help -h --version -V",
    examples: ["pgrep -l sh", "pgrep -f none"],
  },
  {
    names: ["top"],
    note: "batch mode with -n",
    flags:
      "-b --batch-mode -c --cmdline-toggle -d= --delay= -E= --scale-summary-mem= -e= --scale-task-mem= -H --threads-show -i --idle-toggle -n= --iterations= -O --list-fields -o= --sort-override= -p= --pid= -S --accum-time-toggle -s --secure-mode -U= --filter-any-user= -u= --filter-only-euser= -w=? --width=? -1 --single-cpu-toggle",
    refine: (parsed, draft) => {
      const names = parsed.options.map((option) => option.name);
      const batch = names.includes("-b") || names.includes("--batch-mode");
      const ends = names.includes("-n") || names.includes("--iterations");
      if (!batch || !ends) draft.lifts.push("top without -b and -n never ends");
    },
    help: "--help -h --version -V",
    examples: ["top -b -n 1", "top -bn1"],
  },
  {
    names: ["lsof"],
    note: "host and port names are looked up unless -n and -P",
    flags:
      "-a -b -C -E -h -H -K -l -n -N -O -P -q -Q -R -t -U -v -V -w -X -c= -d= -F=? -g=? -i=? -o=? -p= -s=? -S=? -T=? -u= -x=?",
    lifts: {
      [NEVER_ENDS]: "-r=? +r=?",
      "keeps a device cache file": "-D= -A= -k= -m= -Z=?",
      "searches whole folders": "+d= +D= -e= -L=? +L=? -f=? +f=?",
    },
    operands: "read",
    examples: ["lsof -nP -i"],
  },
  {
    names: ["ss"],
    flags:
      "-h -V -H --no-header -O --oneline -n --numeric -r --resolve -a --all -l --listening -o --options -e --extended -m --memory -p --processes -T --threads -i --info --tipcinfo -s --summary --tos --cgroup -b --bpf -Z --context -z --contexts -N= --net= -4 --ipv4 -6 --ipv6 -0 --packet -t --tcp -M --mptcp -S --sctp -u --udp -d --dccp -w --raw -x --unix --tipc --vsock --xdp -f= --family= --inet-sockopt -A= --query= --socket=",
    reads: "-F= --filter=",
    writes: "-D= --diag=",
    lifts: { "closes sockets": "-K --kill", [NEVER_ENDS]: "-E --events" },
    operands: "data",
    examples: ["ss -tlnp", "ss -s"],
  },
  {
    names: ["netstat"],
    flags:
      "-r --route -i --interfaces=? -I=? -g --groups -s --statistics -M --masquerade -v --verbose -W --wide -n --numeric --numeric-hosts --numeric-ports --numeric-users -N --symbolic -e --extend -p --programs -o --timers -l --listening -a --all -F --fib -C --cache -Z --context -4 --inet -6 --inet6 -A= -t --tcp -u --udp -U --udplite -S --sctp -w --raw -x --unix",
    lifts: { [NEVER_ENDS]: "-c --continuous" },
    operands: "none",
    examples: ["netstat -tln", "netstat -rn"],
  },
  {
    names: ["who"],
    flags:
      "-a --all -b --boot -d --dead -H --heading --ips -l --login --lookup -m -p --process -q --count -r --runlevel -s --short -t --time -T -w -u --users --message --mesg --writable",
    operands: { lead: ["read"], rest: "data" },
    anyArgs: true,
    examples: ["who", "who -b"],
  },
  {
    names: ["w"],
    flags:
      "-h --no-header -u --no-current -s --short -f --from -o --old-style -i --ip-addr -p --pids",
    operands: "data",
    anyArgs: true,
    examples: ["w"],
  },
  {
    names: ["last", "lastb"],
    flags:
      "-a --hostlast -d --dns -F --fulltimes -i --ip -n= --limit= -R --nohostname -s= --since= -t= --until= -p= --present= -w --fullnames -x --system --time-format=",
    reads: "-f= --file=",
    digits: true,
    operands: "data",
    examples: ["last -n 1"],
  },
  {
    names: ["whereis"],
    flags: "-b -m -s -u -l -f -g",
    lifts: { "searches other folders": "-B -M -S" },
    operands: "data",
    help: "--help -h --version -V",
    examples: ["whereis ls", "whereis -b ls"],
  },
  {
    names: ["getent"],
    note: "only what is on this machine; hosts are looked up",
    flags: "-i --no-idn -s= --service=",
    operands: "data",
    refine: (parsed, draft) => {
      const table = textOf(parsed.operands[0]) ?? "";
      if (!["passwd", "group", "services", "protocols", "shells", "aliases"].includes(table))
        use(draft, "network", "getent");
    },
    examples: ["getent passwd root", "getent group"],
  },
  {
    names: ["kill"],
    note: "-l lists, -0 only asks; a job of the same command is run",
    class: "process",
    custom: (words, draft) => {
      const first = textOf(words[0]);
      const reading = first === "-l" || first === "-L" || first === "-0";
      // The shell's own jobs: a command started them and may end them.
      if (words.length > 0 && words.every((word) => ownJob(word))) {
        use(draft, "run", "own job", { cwd: true });
        return;
      }
      use(
        draft,
        reading && (first !== "-0" || !words.slice(1).some((word) => textOf(word)?.startsWith("-")))
          ? "read"
          : "process",
        "verb",
      );
    },
    examples: ["kill -l", "kill -l 9"],
  },
  {
    names: ["pkill", "killall", "skill", "renice", "ionice", "chrt", "taskset"],
    noOptions: true,
    operands: "data",
    class: "process",
    help: "--help --version",
    examples: [],
  },
  {
    names: ["xargs"],
    note: "reaches the catalogue only when what it runs could not be told",
    noOptions: true,
    operands: "data",
    refine: (_parsed, draft) => {
      draft.lifts.push("xargs runs a command that is not known");
    },
    examples: [],
  },
  {
    names: ["sysctl"],
    flags: "-a --all -A -X -e --ignore -N --names -n --values -r= --pattern= -b --binary -d -h",
    lifts: { [SETS]: "-w --write -q --quiet", [NAMES_FILES]: "-p=? --load=? -f --system" },
    operands: "data",
    refine: (parsed, draft) => {
      for (const word of parsed.operands)
        if (textOf(word)?.includes("=") ?? true)
          draft.lifts.push(`operand ${word.text} of sysctl ${SETS}`);
    },
    examples: ["sysctl -n kernel.ostype"],
  },
];
