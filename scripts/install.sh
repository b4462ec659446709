#!/usr/bin/env bash
# Installs recintod as a system service from this checkout, or upgrades the one that is there. Twice is once; state,
# configuration and the previous program stay.
# Usage: ./scripts/install.sh [--dry-run] [--no-start] [--with-socket]
#   --dry-run      says what it would do and does nothing
#   --no-start     installs only; systemctl start recintod is yours
#   --with-socket  systemd holds the admin socket, so that callers wait while the daemon restarts
# RECINTO_ROOT=DIR installs below DIR, for packages and tests: nothing is started then.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)

dry=no start=yes socket=no
for word in "$@"; do
  case $word in
    --dry-run) dry=yes ;;
    --no-start) start=no ;;
    --with-socket) socket=yes ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) printf 'install: unknown option %s: see ./scripts/install.sh --help\n' "$word" >&2; exit 64 ;;
  esac
done
root=${RECINTO_ROOT:-}
[ -z "$root" ] || start=no

say() { printf 'install: %s\n' "$*" >&2; }
# One step: said in a dry run, done otherwise.
run() {
  if [ "$dry" = no ]; then
    "$@"
    return
  fi
  case $1 in
    stage_program) say "would: put program and production packages into $program, and the program before into $program.previous" ;;
    write_config) say "would: write $2 (adminGroup: recinto)" ;;
    *) say "would: $*" ;;
  esac
}

if [ "$dry" = no ] && [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
  say "a service is installed by root. Run:  sudo ./scripts/install.sh"
  exit 77
fi
if [ "$start" = yes ] && [ ! -d /run/systemd/system ]; then
  say "this machine was not started by systemd: use docker-compose.yml, or --no-start to install the files alone"
  [ "$dry" = yes ] || exit 69
fi
node=$(readlink -f "$(command -v node)") || { say "there is no node: install Node.js 20"; exit 69; }
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 10) ? 0 : 1)' || {
  say "node $(node --version) is too old: Recinto needs 20.10 or later"
  exit 69
}

# Copies a file whose content or mode differs; says nothing where nothing changes.
install_file() {
  local from=$1 to=$root$2 mode=$3
  if [ -e "$to" ] && cmp -s "$from" "$to" && [ "$(stat -c %a "$to")" = "$mode" ]; then return; fi
  changed=yes
  run install -D -m "$mode" "$from" "$to"
}

# What was installed before, by the stamp of its build: the same one is not installed again.
program=$root/usr/lib/recinto
stamp() { (cd "$1" && cat package.json && find dist profiles images -type f ! -name '.built' -print0 | sort -z | xargs -0 sha256sum) 2>/dev/null | sha256sum | cut -d' ' -f1; }

launcher() {
  printf '#!/bin/sh\n# Made by install.sh.\nexec %s /usr/lib/recinto/dist/%s "$@"\n' "$1" "$2"
}

stage_program() {
  local new=$program.new binary=$node
  rm -rf "$new"
  mkdir -p "$new/bin"
  cp -a "$here/package.json" "$here/package-lock.json" "$here/dist" "$here/profiles" "$here/images" "$here/node_modules" "$new/"
  # Nothing is fetched: what is only for development goes.
  (cd "$new" && npm prune --omit=dev --ignore-scripts --offline --no-audit --no-fund --loglevel=error >&2)
  # A node in somebody's home could be changed by that somebody: the service gets a copy.
  case $node in
    /usr/* | /opt/*) ;;
    *) cp "$node" "$new/bin/node" && binary=/usr/lib/recinto/bin/node ;;
  esac
  launcher "$binary" main.js >"$new/bin/recintod"
  launcher "$binary" cli.js >"$new/bin/recinto"
  if [ -e "$here/dist/shell.js" ]; then launcher "$binary" shell.js >"$new/bin/recinto-sh"; fi
  chmod 0755 "$new"/bin/*
  stamp "$here" >"$new/.stamp"
  chown -R 0:0 "$new" 2>/dev/null || true
  chmod -R go-w,a+rX "$new"
  # The one before stays, for `mv` back where the new one disappoints (docs/operations.md).
  rm -rf "$program.previous"
  [ ! -e "$program" ] || mv "$program" "$program.previous"
  mv "$new" "$program"
}

write_config() {
  printf '%s\n' '# recintod: docs/profiles.md lists every key.' 'adminGroup: recinto' >"$1"
  chmod 0644 "$1"
}

changed=no
if [ "$dry" = no ] || [ ! -e "$here/dist/.built" ]; then run "$here/scripts/build" --quiet; fi
if [ "$(cat "$program/.stamp" 2>/dev/null)" != "$(stamp "$here")" ]; then
  changed=yes
  run stage_program
fi
for name in recinto recintod recinto-sh; do
  [ -e "$program/bin/$name" ] || [ "$dry" = yes ] || continue
  [ "$(readlink "$root/usr/local/bin/$name" 2>/dev/null)" = "/usr/lib/recinto/bin/$name" ] && continue
  changed=yes
  run mkdir -p "$root/usr/local/bin"
  run ln -sfn "/usr/lib/recinto/bin/$name" "$root/usr/local/bin/$name"
done
install_file "$here/scripts/recinto.sysusers" /etc/sysusers.d/recinto.conf 644
install_file "$here/scripts/recinto.tmpfiles" /etc/tmpfiles.d/recinto.conf 644
install_file "$here/scripts/recintod.service" /etc/systemd/system/recintod.service 644
if [ "$socket" = yes ]; then install_file "$here/scripts/recintod.socket" /etc/systemd/system/recintod.socket 644; fi
for page in "$here"/docs/man/*.[18]; do
  [ -e "$page" ] || continue
  install_file "$page" "/usr/local/share/man/man${page##*.}/${page##*/}" 644
done
if [ -e "$here/scripts/completion.bash" ]; then
  install_file "$here/scripts/completion.bash" /usr/share/bash-completion/completions/recinto 644
fi

if [ -z "$root" ]; then
  run systemd-sysusers /etc/sysusers.d/recinto.conf
  run systemd-tmpfiles --create /etc/tmpfiles.d/recinto.conf
fi
# The admin's own: written once, never again.
config=$root/etc/recinto/config.yaml
if [ ! -e "$config" ]; then
  changed=yes
  run mkdir -p "$root/etc/recinto"
  run write_config "$config"
fi

if [ "$start" = yes ]; then
  run systemctl daemon-reload
  run systemctl enable --quiet recintod.service
  if [ "$socket" = yes ]; then run systemctl enable --quiet recintod.socket; fi
  if [ "$changed" = yes ] && systemctl is-active --quiet recintod.service 2>/dev/null; then
    say "upgrading: recintod restarts"
    if [ "$socket" = yes ]; then
      run systemctl stop recintod.service
      run systemctl start recintod.socket
    fi
    run systemctl restart recintod.service
  else
    if [ "$socket" = yes ]; then run systemctl start recintod.socket; fi
    run systemctl start recintod.service
  fi
fi
if [ "$dry" = yes ]; then
  say "nothing was changed"
elif [ "$changed" = no ]; then
  say "everything was installed already"
else
  say "installed. Next: usermod -aG recinto YOU; recinto doctor; recinto project add"
fi
