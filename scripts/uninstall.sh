#!/usr/bin/env bash
# Takes the service away: program, units, links. State and configuration stay, unless --purge.
# Usage: ./scripts/uninstall.sh [--dry-run] [--purge]
#   --purge    also the journal, saved rules and configuration, and the sandboxes in the engine. There is no way back.
set -euo pipefail

dry=no purge=no
for word in "$@"; do
  case $word in
    --dry-run) dry=yes ;;
    --purge) purge=yes ;;
    -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) printf 'uninstall: unknown option %s: see ./scripts/uninstall.sh --help\n' "$word" >&2; exit 64 ;;
  esac
done
root=${RECINTO_ROOT:-}

say() { printf 'uninstall: %s\n' "$*" >&2; }
run() {
  if [ "$dry" = yes ]; then say "would: $*"; else "$@"; fi
}
if [ "$dry" = no ] && [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
  say "run it as root:  sudo ./scripts/uninstall.sh"
  exit 77
fi

if [ -z "$root" ] && [ -d /run/systemd/system ]; then
  for unit in recintod.socket recintod.service; do
    if [ -e "/etc/systemd/system/$unit" ]; then run systemctl disable --now --quiet "$unit"; fi
  done
fi
# Containers of this installation and nobody else's: their label is made of the state directory.
if [ "$purge" = yes ] && [ -z "$root" ]; then
  label=io.recinto.owner=$(printf /var/lib/recinto | sha256sum | cut -c1-12)
  if sandboxes=$(docker ps -aq --filter "label=$label" 2>/dev/null); then
    for id in $sandboxes; do run docker rm -f "$id"; done
  else
    say "no docker client or no engine answers: sandboxes stay, if there are any. Later:  docker rm -f \$(docker ps -aq --filter label=$label)"
  fi
fi
rm_list=(
  /usr/lib/recinto /usr/lib/recinto.previous /usr/lib/recinto.new
  /usr/local/bin/recinto /usr/local/bin/recintod /usr/local/bin/recinto-sh
  /etc/systemd/system/recintod.service /etc/systemd/system/recintod.socket
  /etc/sysusers.d/recinto.conf /etc/tmpfiles.d/recinto.conf
  /usr/local/share/man/man1/recinto.1 /usr/local/share/man/man8/recintod.8
  /usr/share/bash-completion/completions/recinto
)
if [ "$purge" = yes ]; then rm_list+=(/var/lib/recinto /etc/recinto /run/recinto); fi
for path in "${rm_list[@]}"; do
  if [ -e "$root$path" ] || [ -L "$root$path" ]; then run rm -rf "$root$path"; fi
done
if [ -z "$root" ] && [ -d /run/systemd/system ]; then run systemctl daemon-reload; fi
if [ "$purge" = no ]; then say "state in /var/lib/recinto and configuration in /etc/recinto stay; --purge removes them"; fi
