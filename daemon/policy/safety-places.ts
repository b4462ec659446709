/** Safety patterns: places that always ask, by whatever verb they are reached: credentials, system folders, sockets. */
import type { SafetyPattern } from "./safety.ts";

function writesTo(where: RegExp): SafetyPattern["test"] {
  return (_argv, view) => view.places.some(({ path, write }) => write && where.test(path));
}

/** The same for folders of the machine: a project that lies below one is not part of it. */
function writesToMachine(where: RegExp): SafetyPattern["test"] {
  return (_argv, view) =>
    view.places.some(({ path, write, own }) => write && !own && where.test(path));
}

/** Words too, for verbs of which nothing is known. Never for text that is only searched or printed. */
function namesOrReaches(where: RegExp): SafetyPattern["test"] {
  return (argv, view) =>
    view.places.some(({ path }) => where.test(path)) ||
    ((!view.description.known || CLIENTS.test(view.verb)) &&
      argv.some((word) => word !== null && where.test(word)));
}

/** Programs that take paths in ways that no use says, such as `--unix-socket`. */
const CLIENTS =
  /^(?:curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|rsync|docker|podman|nerdctl|crictl|ctr)$/;

export const PLACE_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "ssh-keys",
    reason: "reaches SSH keys or settings",
    test: namesOrReaches(
      /(?:^|\/)\.ssh(?:\/|$)|\/ssh_host_[a-z0-9]+_key|(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
    ),
    match: ["cat ~/.ssh/id_rsa", "echo k >> ~/.ssh/authorized_keys", "cat keys/id_ed25519"],
    not_match: ["grep -rn .ssh docs", "find . -name id_rsa.md", "cat docs/ssh.md"],
  },
  {
    id: "gpg-keys",
    reason: "reaches GnuPG keys",
    test: namesOrReaches(/(?:^|\/)\.gnupg(?:\/|$)/i),
    match: ["ls ~/.gnupg", "cp -r $HOME/.gnupg backup"],
    not_match: ["echo .gnupg", "cat gnupg.md"],
  },
  {
    id: "cloud-credentials",
    reason: "reaches credentials of a cloud account",
    test: namesOrReaches(
      /(?:^|\/)(?:\.aws(?:\/|$)|\.azure(?:\/|$)|\.config\/(?:gcloud|doctl|rclone|op)(?:\/|$)|\.oci(?:\/|$)|application_default_credentials\.json|\.boto$|\.s3cfg$)/i,
    ),
    match: ["cat $HOME/.aws/credentials", "cat ~/.config/gcloud/credentials.db", "ls ~/.azure"],
    not_match: ["grep -rn aws src", "cat docs/aws/credentials.md"],
  },
  {
    id: "kube-credentials",
    reason: "reaches credentials of a cluster",
    test: namesOrReaches(
      /(?:^|\/)\.kube(?:\/|$)|^\/etc\/kubernetes\/|^\/(?:var\/)?run\/secrets(?:\/|$)|^\/etc\/rancher\//i,
    ),
    match: ["cat ~/.kube/config", "cat /var/run/secrets/kubernetes.io/serviceaccount/token"],
    not_match: ["cat k8s/config.yaml", "grep kube README.md"],
  },
  {
    id: "tool-credentials",
    reason: "reaches a file that holds passwords or tokens of a tool",
    test: namesOrReaches(
      /(?:^|\/)(?:\.netrc|_netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.mylogin\.cnf|\.pypirc|\.vault-token|\.docker\/config\.json|\.config\/gh\/hosts\.yml|\.config\/git\/credentials|\.config\/hub|\.cargo\/credentials(?:\.toml)?|\.gem\/credentials|\.terraform\.d\/credentials.*|\.terraformrc|\.password-store(?:\/.*)?|\.local\/share\/keyrings(?:\/.*)?|\.mozilla(?:\/.*)?|\.config\/(?:google-chrome|chromium)(?:\/.*)?|\.htpasswd|keychain-db)$/i,
    ),
    match: ["cat ~/.netrc", "cat ~/.docker/config.json", "head ~/.git-credentials"],
    not_match: ["cat docs/netrc.md", "grep -n netrc README.md"],
  },
  {
    id: "system-passwords",
    reason: "reaches the passwords of the system",
    test: namesOrReaches(
      /^\/etc\/(?:shadow|gshadow|sudoers)(?:-|\.d\/.*)?$|^\/etc\/(?:ssl\/private|ppp)\//,
    ),
    match: ["cat /etc/shadow", "grep root /etc/sudoers"],
    not_match: ["grep -n /etc/shadow README.md", "cat etc/shadow"],
  },
  {
    id: "process-secrets",
    reason: "reads the environment, memory or files of another process",
    test: namesOrReaches(
      /^\/proc\/(?:[^/]+\/)+(?:environ|mem|maps|fd|root|cwd|exe|task|stack|cmdline)(?:\/|$)|^\/proc\/kcore$/,
    ),
    match: ["cat /proc/1/environ", "ls /proc/1/root", "cat /proc/self/environ"],
    not_match: ["cat proc/1/environ", "grep -n /proc/1/environ README.md"],
  },
  {
    id: "shell-history",
    reason: "reaches the history of what people typed",
    test: namesOrReaches(
      /(?:^|\/)\.(?:bash|zsh|python|psql|mysql|sqlite|node_repl|lesshst|ash)_?history$/i,
    ),
    match: ["cat ~/.bash_history", "tail $HOME/.zsh_history"],
    not_match: ["cat docs/history.md"],
  },
  {
    id: "startup-files",
    reason: "writes a file that runs when a shell or a session starts",
    test: writesTo(
      /(?:^|\/)\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|login|xinitrc|xprofile|inputrc|pam_environment|config\/(?:fish|autostart|systemd)\/.*|local\/share\/systemd\/.*)$/,
    ),
    match: ["echo x >> ~/.bashrc", "cp evil ~/.profile", "tee -a ~/.zshrc < x"],
    not_match: ["cat ~/.bashrc", "echo x > bashrc.md"],
  },
  {
    id: "tool-settings",
    reason: "writes settings by which a tool can be made to run something else",
    test: writesTo(
      /(?:^|\/)(?:\.gitconfig|\.config\/git\/config|\.npmrc|\.yarnrc(?:\.yml)?|\.pip\/pip\.conf|\.config\/pip\/pip\.conf|\.cargo\/config(?:\.toml)?|\.m2\/settings\.xml|\.gradle\/init\..*|\.pnpmrc|\.bundle\/config|\.vimrc|\.emacs|\.tmux\.conf|\.screenrc|\.gdbinit|\.lldbinit|\.psqlrc|\.sqliterc|\.pdbrc|\.irbrc|\.curlrc|\.wgetrc)$/,
    ),
    match: [
      "echo script-shell=./x >> .npmrc",
      "cp x ~/.gitconfig",
      "echo '[build]' > .cargo/config.toml",
    ],
    not_match: ["cat .npmrc", "echo x > npmrc.md"],
  },
  {
    id: "write-etc",
    reason: "writes to the system's settings",
    test: writesToMachine(/^\/(?:private\/)?etc(?:\/|$)/),
    match: ["echo x >| /etc/motd", "cp x /etc/hosts", "sed -i s/a/b/ /etc/passwd"],
    not_match: ["echo x > etc/motd", "cat /etc/hosts"],
  },
  {
    id: "write-boot",
    reason: "writes where the system starts from",
    test: writesToMachine(/^\/(?:boot|efi)(?:\/|$)/),
    match: ["cp x /boot/vmlinuz", "rm /boot/grub/grub.cfg"],
    not_match: ["ls /boot", "mkdir boot"],
  },
  {
    id: "write-kernel",
    reason: "writes to the running kernel",
    test: writesToMachine(/^\/(?:sys|proc)(?:\/|$)/),
    match: [
      "echo 1 > /proc/sys/kernel/sysrq",
      "echo mem > /sys/power/state",
      "echo b | tee /proc/sysrq-trigger",
    ],
    not_match: ["cat /proc/cpuinfo", "echo x > sys/y"],
  },
  {
    id: "write-system",
    reason: "writes to folders that hold the system's programs",
    test: writesToMachine(
      /^\/(?:usr|bin|sbin|lib|lib64|opt|var\/(?:lib|spool|run)|run|root|srv|Library|System)$|^\/(?:usr|bin|sbin|lib|lib64|var\/(?:lib|spool|run)|run|root|Library|System)\//,
    ),
    match: ["cp x /usr/local/bin/ls", "rm -f /var/lib/dpkg/lock", "mv a /lib/x.so"],
    not_match: ["ls /usr/bin", "mkdir usr"],
  },
  {
    id: "engine-socket",
    reason: "reaches the socket of a container engine, which is root on the host",
    test: (argv, view) => {
      const socket =
        /(?:docker|containerd|crio|podman|buildkitd|cri-dockerd)\.sock$|\/run\/(?:docker|containerd|podman)(?:\/|$)/;
      return (
        view.places.some(({ path }) => socket.test(path)) ||
        (/^(?:docker|podman|curl|wget|nc|ncat|socat|nerdctl|crictl|ctr)$/.test(view.verb) &&
          argv.some((word) => word !== null && /[a-z]\.sock(?:\b|$)/.test(word))) ||
        (!view.description.known && argv.some((word) => word !== null && socket.test(word)))
      );
    },
    match: [
      "docker -H unix:///var/run/docker.sock ps",
      "curl --unix-socket /var/run/docker.sock http://x/containers/json",
      "ls /var/run/docker.sock",
      "cat < /run/containerd/containerd.sock",
    ],
    not_match: ["grep -rn docker.sock docs", "echo /var/run/docker.sock"],
  },
  {
    id: "recinto-sockets",
    reason: "reaches the sockets or state of recinto itself",
    test: namesOrReaches(/^\/(?:var\/)?run\/recinto(?:\/|$)|^\/(?:var\/lib|etc)\/recinto(?:\/|$)/),
    match: [
      "ls /run/recinto",
      "curl --unix-socket /run/recinto/admin.sock http://x/",
      "cat /var/lib/recinto/journal.db",
    ],
    not_match: ["ls recinto", "grep -rn /run/recinto docs"],
  },
];
