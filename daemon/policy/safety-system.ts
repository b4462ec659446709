/** Safety patterns: privilege, permissions, the kernel, services and other machinery of the system. */
import type { SafetyPattern } from "./safety.ts";
import { type Argv, long, operands, short } from "./view.ts";

function always(): boolean {
  return true;
}

function someWord(argv: Argv, regex: RegExp): boolean {
  return argv.some((word, i) => i > 0 && word !== null && regex.test(word));
}

const PRIVILEGE = /^(?:sudo|su|doas|pkexec|runuser|gosu|su-exec|sg|newgrp|run0|please|sudoedit)$/;
const NAMESPACE =
  /^(?:chroot|unshare|nsenter|setpriv|capsh|bwrap|firejail|systemd-nspawn|pivot_root|machinectl|fakechroot|proot)$/;

/** Modes that give a bit beyond the permissions of owner, group and others, or write to all. */
function modeMatches(argv: Argv, octal: RegExp, symbolic: (clause: string) => boolean): boolean {
  return argv.slice(1).some((word) => {
    if (word === null) return false;
    if (/^[0-7]{1,5}$/.test(word)) return octal.test(word);
    return word.split(",").some(symbolic);
  });
}

/** `o+w`, `a=rw`, `+w`: write for others or for all. */
function givesAllWrite(clause: string): boolean {
  const [, who, bits] = /^([ugoa]*)[+=](.*)$/s.exec(clause) ?? [];
  return who !== undefined && (who === "" || /[oa]/.test(who)) && bits?.includes("w") === true;
}

export const SYSTEM_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "privilege",
    reason: "takes the rights of another user",
    test: (argv, view) =>
      PRIVILEGE.test((argv[0] ?? "").replace(/^.*\//, "")) ||
      view.segment.wrappers.some((name) => PRIVILEGE.test(name)),
    match: ["sudo ls", "su - root -c 'id'", "doas rm x", "env sudo -n id", "ls | sudo tee x"],
    not_match: ["echo sudo", "grep -rn sudo docs", "man sudo"],
  },
  {
    id: "namespace",
    reason: "leaves or changes the namespaces and root of the sandbox",
    test: (argv, view) =>
      NAMESPACE.test((argv[0] ?? "").replace(/^.*\//, "")) ||
      view.segment.wrappers.some((name) => NAMESPACE.test(name)),
    match: ["unshare -r ./deploy.sh", "chroot / sh", "nsenter -t 1 -a", "unshare -r ls"],
    not_match: ["grep -n chroot README.md"],
  },
  {
    id: "world-writable",
    reason: "lets everyone write",
    verbs: ["chmod", "install", "mkdir"],
    test: (argv) => {
      const modes = argv[0] === "chmod" ? argv : modeOptions(argv);
      return modeMatches(modes, /[2367]$/, givesAllWrite);
    },
    match: [
      "chmod 777 x",
      "chmod -R 0777 .",
      "chmod a+w x",
      "chmod o=rwx x",
      "chmod 666 x",
      "chmod u=rwx,o+w x",
      "mkdir -m 777 x",
    ],
    not_match: ["chmod 755 x", "chmod +x run.sh", "chmod u+w x", "chmod 644 a b", "mkdir -p 777"],
  },
  {
    id: "setuid",
    reason: "makes a program run with the rights of its owner or group",
    verbs: ["chmod", "install", "mkdir"],
    test: (argv) => {
      const modes = argv[0] === "chmod" ? argv : modeOptions(argv);
      return modeMatches(modes, /^0*[2-7][0-7]{3}$/, (clause) =>
        /^[ugoa]*[+=][rwxXt]*s/.test(clause),
      );
    },
    match: [
      "chmod u+s x",
      "chmod 4755 x",
      "chmod 2755 x",
      "chmod 06755 x",
      "chmod g+xs x",
      "install -m 4755 a b",
      "chmod +s x",
    ],
    not_match: ["chmod 1777 d", "chmod 755 s", "chmod u-s x", "chmod 0755 x"],
  },
  {
    id: "change-owner",
    reason: "gives files to another user",
    verbs: ["chown", "chgrp"],
    test: (argv) => operands(argv).length > 0 || long(argv, "--reference"),
    match: ["chown root x", "chown -R 0:0 .", "chgrp wheel x", "chown --reference=/etc/passwd x"],
    not_match: ["chown --version", "ls -l chown"],
  },
  {
    id: "file-capabilities",
    reason: "gives a program capabilities, or locks files with attributes",
    verbs: [
      "setcap",
      "chattr",
      "setfacl",
      "setfattr",
      "chcon",
      "restorecon",
      "setsebool",
      "setenforce",
      "aa-disable",
      "aa-teardown",
    ],
    test: (argv) => operands(argv).length > 0,
    match: ["setcap cap_net_raw+ep x", "chattr -i x", "setfacl -m u:x:rwx .", "setenforce 0"],
    not_match: ["getcap x", "lsattr x"],
  },
  {
    id: "kernel-modules",
    reason: "loads or removes parts of the kernel",
    verbs: ["insmod", "rmmod", "modprobe", "kexec", "depmod", "dkms", "bpftool", "kldload"],
    test: always,
    match: ["insmod x.ko", "modprobe -r snd", "rmmod x"],
    not_match: ["lsmod", "grep insmod x"],
  },
  {
    id: "kernel-settings",
    reason: "changes settings of the running kernel",
    verbs: ["sysctl", "dmesg", "ulimit", "swapoff", "swapon"],
    test: (argv) =>
      argv[0] === "sysctl"
        ? short(argv, "wpf") || long(argv, "--write", "--load", "--system") || someWord(argv, /=/)
        : argv[0] === "dmesg"
          ? short(argv, "cCDEn") ||
            long(argv, "--clear", "--read-clear", "--console-off", "--console-level")
          : /^swap/.test(argv[0] ?? ""),
    match: [
      "sysctl -w kernel.x=1",
      "sysctl net.ipv4.ip_forward=1",
      "sysctl --system",
      "dmesg -C",
      "swapoff -a",
    ],
    not_match: ["sysctl kernel.hostname", "sysctl -a", "dmesg"],
  },
  {
    id: "mount",
    reason: "changes what is mounted where",
    verbs: [
      "mount",
      "umount",
      "fusermount",
      "losetup",
      "mount.nfs",
      "sshfs",
      "bindfs",
      "cryptmount",
    ],
    test: (argv) => operands(argv).length > 0 || short(argv, "a"),
    match: ["mount --bind / ./root", "umount -l /tmp", "losetup /dev/loop0 x.img", "mount -a"],
    not_match: ["mount", "findmnt", "mount -l"],
  },
  {
    id: "firewall",
    reason: "changes the firewall or the network's set-up",
    verbs: [
      "iptables",
      "ip6tables",
      "nft",
      "ufw",
      "firewall-cmd",
      "ipset",
      "ebtables",
      "arptables",
      "ip",
      "ifconfig",
      "route",
      "tc",
      "nmcli",
      "resolvectl",
      "iptables-restore",
    ],
    test: (argv) => {
      if (/^(?:ip6?tables|ebtables|arptables)$/.test(argv[0] ?? "")) {
        return !someWord(argv, /^(?:-[A-Za-z]*[LS][A-Za-z]*|--list(?:-rules)?|--version|-V)$/);
      }
      if (argv[0] === "ip" || argv[0] === "tc" || argv[0] === "nmcli") {
        return someWord(
          argv,
          /^(?:add|del|delete|set|change|replace|flush|up|down|exec|append|restore|modify|connect|disconnect)$/,
        );
      }
      if (argv[0] === "ifconfig") return operands(argv).length > 1;
      if (argv[0] === "route") return someWord(argv, /^(?:add|del|delete|flush|change)$/);
      if (argv[0] === "nft") return !someWord(argv, /^(?:list|-v|--version)$/);
      if (argv[0] === "ufw") return !someWord(argv, /^(?:status|show|version)$/);
      if (argv[0] === "firewall-cmd")
        return !someWord(argv, /^--(?:list.*|get.*|state|query.*|version)$/);
      return true;
    },
    match: [
      "iptables -F",
      "iptables --flush",
      "nft flush ruleset",
      "ufw disable",
      "ip link set eth0 down",
      "route del default",
    ],
    not_match: ["iptables -L -n", "ip addr", "nft list ruleset", "ip route show", "ufw status"],
  },
  {
    id: "services",
    reason: "stops, starts or changes services of the system",
    verbs: [
      "systemctl",
      "service",
      "initctl",
      "rc-service",
      "rc-update",
      "update-rc.d",
      "chkconfig",
      "launchctl",
      "sv",
      "supervisorctl",
      "svcadm",
      "loginctl",
    ],
    test: (argv) => {
      if (argv[0] === "service") return argv.length > 2 && argv[2] !== "status";
      return someWord(
        argv,
        /^(?:stop|start|restart|disable|enable|mask|unmask|kill|isolate|reload|daemon-reload|daemon-reexec|reset-failed|edit|set-property|set-default|revert|link|preset|emergency|rescue|halt|poweroff|reboot|suspend|hibernate|kexec|exit|try-restart|reload-or-restart|down|up|term|unload|load|bootout|bootstrap|kickstart|remove|defaults|off|on|add|del|delete|shutdown|terminate-.*|kill-.*|lock-.*)$/,
      );
    },
    match: [
      "systemctl stop docker",
      "systemctl --user disable x",
      "systemctl mask x",
      "service nginx stop",
      "supervisorctl stop all",
    ],
    not_match: [
      "systemctl status docker",
      "systemctl list-units",
      "service nginx status",
      "sv task list",
    ],
  },
  {
    id: "scheduled",
    reason: "makes something run later, outside the session",
    verbs: ["crontab", "at", "batch", "atd", "systemd-run", "anacron", "cron"],
    test: (argv) => !(argv[0] === "crontab" && /^-l$/.test(argv[1] ?? "")),
    match: [
      "crontab -r",
      "crontab x.txt",
      "at now <<< ./x",
      "echo ./x | at now",
      "systemd-run ./x",
    ],
    not_match: ["crontab -l", "grep crontab x"],
  },
  {
    id: "accounts",
    reason: "changes users, groups or passwords",
    verbs: [
      "useradd",
      "adduser",
      "userdel",
      "deluser",
      "usermod",
      "groupadd",
      "addgroup",
      "groupdel",
      "delgroup",
      "groupmod",
      "gpasswd",
      "passwd",
      "chpasswd",
      "chsh",
      "chfn",
      "visudo",
      "vipw",
      "vigr",
      "newusers",
      "chage",
    ],
    test: always,
    match: [
      "useradd x",
      "passwd root",
      "usermod -aG docker me",
      "visudo",
      "echo root:x | chpasswd",
    ],
    not_match: ["grep passwd README.md", "id", "getent passwd"],
  },
  {
    id: "clock-and-name",
    reason: "changes the clock, the name or the locale of the machine",
    verbs: ["timedatectl", "hwclock", "hostnamectl", "localectl", "ntpdate", "date", "hostname"],
    test: (argv) =>
      argv[0] === "date"
        ? (short(argv, "s") &&
            argv.some((w) => w !== null && /^-[a-zA-Z]*s/.test(w) && !/^-[dIrf]/.test(w))) ||
          long(argv, "--set")
        : argv[0] === "hostname"
          ? operands(argv).length > 0 || short(argv, "Fb") || long(argv, "--file", "--boot")
          : argv[0] === "ntpdate" ||
            someWord(
              argv,
              /^(?:set-.*|--set.*|--systohc|--hctosys|-[swr]|hostname|chassis|deployment|location|icon-name)$/,
            ),
    match: [
      "date -s '2020-01-01'",
      "date --set=now",
      "hostname evil",
      "timedatectl set-time 10:00",
      "hwclock --systohc",
    ],
    not_match: [
      "date",
      "date -d yesterday +%s",
      "hostname",
      "hostname -I",
      "date -Is",
      "date -d 's'",
    ],
  },
  {
    id: "package-system",
    reason: "removes packages of the system, or forces them",
    verbs: [
      "apt",
      "apt-get",
      "aptitude",
      "dpkg",
      "yum",
      "dnf",
      "rpm",
      "pacman",
      "zypper",
      "apk",
      "snap",
      "flatpak",
      "brew",
      "port",
      "emerge",
    ],
    test: (argv) =>
      someWord(
        argv,
        /^(?:remove|purge|autoremove|erase|uninstall|rm|del|-P|--purge|--remove|-R[a-z]*|-e|--erase|-r|dist-upgrade|full-upgrade|upgrade|--force-.*)$/,
      ),
    match: [
      "apt-get purge -y git",
      "dpkg -r bash",
      "apk del git",
      "pacman -Rns x",
      "brew uninstall x",
    ],
    not_match: ["apt list", "dpkg -l", "apt-get install x", "rpm -qa"],
  },
];

/** The values of `-m` and `--mode`. */
function modeOptions(argv: Argv): Argv {
  const modes: (string | null)[] = [argv[0] ?? null];
  argv.forEach((word, i) => {
    if (word === null || i === 0) return;
    const attached = /^(?:--mode=|-m)(.+)$/.exec(word);
    if (attached !== null) modes.push(attached[1] as string);
    else if (/^-[a-zA-Z]*m$/.test(word) || word === "--mode") modes.push(argv[i + 1] ?? null);
  });
  return modes;
}
