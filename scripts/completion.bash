# bash completion for recinto. Made by scripts/generate-docs.ts. Do not edit.
_recinto_words() {
  case "$1" in
    "") words="run ps logs attach kill agent files mcp hook approvals policy project profile contract phase grants rules session denials events stats journal hazards sandboxes git image top metrics health eval doctor --version --run-dir --config --wait --help" ;;
    "run") words="--project --worktree --tty --interactive --detach --timeout --idle-timeout --wait-for --cwd --grant --json --stdin --no-stdin --help" ;;
    "ps") words="--project --worktree --session --all --json --help" ;;
    "logs") words="--project --worktree --session --follow --since --json --help" ;;
    "attach") words="--project --worktree --session --since --help" ;;
    "kill") words="--project --worktree --session --signal --help" ;;
    "agent") words="--project --worktree --uid --rules --help" ;;
    "files") words="read write list stat mkdir remove move patch pack unpack --help" ;;
    "files read") words="--project --worktree --offset --length --wait-for --help" ;;
    "files write") words="--project --worktree --if-hash --append --parents --executable --wait-for --help" ;;
    "files list") words="--project --worktree --after --limit --wait-for --help" ;;
    "files stat") words="--project --worktree --hash --wait-for --help" ;;
    "files mkdir") words="--project --worktree --parents --wait-for --help" ;;
    "files remove") words="--project --worktree --recursive --wait-for --help" ;;
    "files move") words="--project --worktree --replace --wait-for --help" ;;
    "files patch") words="--project --worktree --strip --wait-for --help" ;;
    "files pack") words="--project --worktree --gzip --wait-for --help" ;;
    "files unpack") words="--project --worktree --wait-for --help" ;;
    "mcp") words="--project --worktree --help" ;;
    "hook") words="--project --worktree --sandbox --help" ;;
    "approvals") words="list show approve deny watch --help" ;;
    "approvals list") words="--all --project --json --help" ;;
    "approvals show") words="--json --help" ;;
    "approvals approve") words="--once --session --always --width --for --until --phase --yes --help" ;;
    "approvals deny") words="--reason --help" ;;
    "approvals watch") words="--json --help" ;;
    "policy") words="check explain files trust distrust import replay --help" ;;
    "policy check") words="--root --cwd --profile --profiles-dir --batch --json --help" ;;
    "policy explain") words="--root --cwd --profile --profiles-dir --help" ;;
    "policy files") words="--json --help" ;;
    "policy trust") words="--yes --help" ;;
    "policy distrust") words="--help" ;;
    "policy import") words="--format --out --help" ;;
    "policy replay") words="--profile --since --project --json --help" ;;
    "project") words="add list show remove --help" ;;
    "project add") words="--root --profile --worktrees --agent-group --help" ;;
    "project list") words="--json --help" ;;
    "project show") words="--help" ;;
    "project remove") words="--help" ;;
    "profile") words="check list show --help" ;;
    "profile check") words="--profiles-dir --help" ;;
    "profile list") words="--json --help" ;;
    "profile show") words="--help" ;;
    "contract") words="check set show list clear schema --help" ;;
    "contract check") words="--profile --profiles-dir --help" ;;
    "contract set") words="--project --worktree --help" ;;
    "contract show") words="--project --worktree --json --help" ;;
    "contract list") words="--json --help" ;;
    "contract clear") words="--project --worktree --help" ;;
    "contract schema") words="--help" ;;
    "phase") words="--project --worktree --help" ;;
    "grants") words="list show revoke request release --help" ;;
    "grants list") words="--json --help" ;;
    "grants show") words="--json --help" ;;
    "grants revoke") words="--reason --help" ;;
    "grants request") words="--project --worktree --reason --path --host --ttl --uses --wait-for --json --help" ;;
    "grants release") words="--project --worktree --help" ;;
    "rules") words="list revoke --help" ;;
    "rules list") words="--json --help" ;;
    "rules revoke") words="--help" ;;
    "session") words="list show rules close --help" ;;
    "session list") words="--json --help" ;;
    "session show") words="--json --help" ;;
    "session rules") words="--project --worktree --uid --for --clear --help" ;;
    "session close") words="--help" ;;
    "denials") words="reset --help" ;;
    "denials reset") words="--project --worktree --uid --help" ;;
    "events") words="--follow --json --project --event --since --after --help" ;;
    "stats") words="--since --project --json --help" ;;
    "journal") words="verify export prune repair --help" ;;
    "journal verify") words="--file --export --help" ;;
    "journal export") words="--file --to --rotate --after --follow --help" ;;
    "journal prune") words="--file --before --dry-run --help" ;;
    "journal repair") words="--file --dry-run --help" ;;
    "hazards") words="accept forget --json --help" ;;
    "hazards accept") words="--help" ;;
    "hazards forget") words="--help" ;;
    "sandboxes") words="--json --help" ;;
    "git") words="status undo --help" ;;
    "git status") words="--json --help" ;;
    "git undo") words="--help" ;;
    "image") words="build list prune --help" ;;
    "image build") words="--help" ;;
    "image list") words="--help" ;;
    "image prune") words="--dry-run --help" ;;
    "top") words="--every --once --help" ;;
    "metrics") words="--help" ;;
    "health") words="--help" ;;
    "eval") words="authority --help" ;;
    "eval authority") words="--suite --comparator --episodes --seed --json --help" ;;
    "doctor") words="--help" ;;
    *) return 1 ;;
  esac
}

_recinto() {
  local current="${COMP_WORDS[COMP_CWORD]}" path="" word words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    # What stands after -- is the agent's command, and none of ours.
    if [ "$word" = -- ]; then
      COMPREPLY=()
      return
    fi
    case "$word" in -*) continue ;; esac
    # A value of an option is no command: it is passed over.
    if _recinto_words "${path:+$path }$word"; then path="${path:+$path }$word"; fi
  done
  _recinto_words "$path" || true
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _recinto recinto
