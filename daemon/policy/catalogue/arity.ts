/** How many words of a command name its action (A6): what *always* may cut a command down to, and never less. */

/** Number of words → the commands it holds for; a longer match wins over a shorter one. */
const TABLE: Readonly<Record<number, string>> = {
  1:
    "cat cp mv rm mkdir rmdir touch ln chmod tee ls head tail less more wc stat file du df grep egrep fgrep rg ag ack sort " +
    "uniq cut tr diff cmp comm join paste jq yq xmllint tree realpath readlink basename dirname md5sum sha1sum sha256sum " +
    "sha512sum cksum base64 xxd od hexdump strings nl tac rev fold column seq printf echo date which whereis uname hostname " +
    "id whoami pwd tar gzip gunzip zip unzip zcat xz zstd patch tsc eslint prettier vitest jest mocha ava tap esbuild rollup " +
    "webpack stylelint markdownlint cspell knip pytest py.test mypy pyright flake8 pylint black isort bandit gofmt goimports " +
    "golangci-lint staticcheck rustfmt clang-format clang-tidy gcc g++ cc c++ clang clang++ ld ar nm objdump readelf cmake " +
    "ctest ninja javac jar phpunit phpstan psalm rspec rubocop erlc shellcheck shfmt hadolint yamllint actionlint protoc " +
    "pandoc dot convert ffmpeg ffprobe sqlite3 ps top free uptime lsof nproc locale tput clear sleep true false test",
  2:
    "git npm pnpm yarn bun go cargo rustup deno biome next vite playwright turbo nx ruff uv poetry pdm hatch tox nox pip " +
    "pip3 conda gem bundle rails mix rebar3 dotnet composer swift zig mvn gradle gradlew sbt lein meson bazel buf kubectl " +
    "helm terraform tofu gh glab aws gcloud az heroku vercel netlify fly docker podman nerdctl systemctl journalctl brew " +
    "apt apt-get dpkg apk dnf yum pacman snap nix alembic django-admin flask celery dvc prisma drizzle-kit sequelize " +
    "changeset lerna rush hugo jekyll mkdocs goreleaser cypress storybook expo ng nest forge cast",
  3:
    "npm run|npm run-script|npm pkg|npm config|npm exec|npm dist-tag|pnpm run|pnpm exec|pnpm config|yarn run|yarn workspace|" +
    "yarn config|bun run|bun pm|bun x|git remote|git stash|git worktree|git submodule|git config|git bisect|git notes|" +
    "git reflog|git lfs|git flow|go mod|go work|go tool|go env|go run|cargo +nightly|cargo +stable|cargo xtask|" +
    "rustup toolchain|rustup target|rustup component|docker compose|docker container|docker image|docker network|" +
    "docker volume|docker buildx|docker system|docker context|podman compose|kubectl config|kubectl rollout|kubectl auth|" +
    "kubectl set|kubectl create|helm repo|terraform state|terraform workspace|gh pr|gh issue|gh repo|gh run|gh workflow|" +
    "gh release|gh auth|glab mr|glab issue|aws s3|aws ec2|aws iam|gcloud compute|gcloud config|az vm|az group|python -m|" +
    "python3 -m|uv run|uv pip|uv tool|poetry run|poetry env|pdm run|hatch run|hatch env|bundle exec|rails db:migrate|" +
    "dotnet tool|dotnet ef|dotnet nuget|composer run|composer run-script|swift package|deno task|turbo run|nx run|" +
    "mix ecto.migrate|prisma migrate|prisma db|make -C|pip cache|conda env|gem sources|brew services|systemctl --user",
};

const ARITY = new Map(
  Object.entries(TABLE).flatMap(([count, names]) =>
    names.split(count === "3" ? "|" : " ").map((name) => [name, Number(count)] as const),
  ),
);

/** The few options that may stand inside a prefix: what follows them is the action. */
const INSIDE = /^(?:-m|-C|--user)$/;

/**
 * How many leading words of `argv` name the action; at least 1 and at most its length. A command whose action is
 * behind options that are not understood is only itself: all of its words.
 */
export function arityOf(argv: readonly string[]): number {
  const [verb = "", second = ""] = argv;
  const name = verb.slice(verb.lastIndexOf("/") + 1);
  const known =
    ARITY.get(`${name} ${second}`) ?? ARITY.get(name) ?? (/^[a-z][a-z:-]*$/.test(second) ? 2 : 1);
  const prefix = argv.slice(1, known);
  if (prefix.some((word) => word.startsWith("-") && !INSIDE.test(word))) return argv.length;
  return Math.max(1, Math.min(known, argv.length));
}

/** First words that a stored prefix would say nothing about: they run, wrap, fetch or install whatever follows. */
const NEVER_VERBS = new Set(
  // Interpreters and shells.
  (
    "sh bash dash zsh ksh csh tcsh fish busybox python python2 python3 pypy pypy3 perl ruby node nodejs deno tsx ts-node php " +
    "lua luajit tclsh Rscript julia irb psql mysql mariadb mongosh redis-cli osascript pwsh awk gawk mawk sed ed ex vi vim " +
    "nvim emacs expect m4 bc gdb lldb jshell scala groovy elixir iex erl ghci clojure " +
    // Wrappers.
    "eval exec source . command builtin env xargs parallel find fd timeout nice ionice nohup setsid stdbuf time watch entr " +
    "strace ltrace script flock chroot unshare nsenter setarch taskset chrt sudo su doas runuser pkexec tmux screen npx bunx " +
    "pnpx uvx pipx dlx trap alias coproc make gmake just task rake " +
    // The network.
    "curl wget http https xh aria2c nc ncat netcat socat telnet ftp sftp lftp tftp ssh scp rsync mosh dig nslookup host whois " +
    "ping traceroute nmap openssl aws gcloud gsutil az heroku vercel netlify fly flyctl gh glab doctl " +
    // Installers and engines.
    "pip pip3 conda mamba gem brew apt apt-get aptitude dpkg apk dnf yum rpm pacman zypper snap flatpak nix nix-env " +
    "docker podman nerdctl kubectl helm terraform tofu pulumi ansible ansible-playbook systemctl service launchctl"
  ).split(" "),
);

/** Sub-commands of otherwise plain verbs that install or reach a registry. */
const NEVER_SUBS =
  /^(?:(?:npm|pnpm|yarn|bun) (?:i|in|install|ci|add|update|upgrade|up|exec|x|dlx|create|init|publish|link|remove|rm|uninstall|outdated|info|view|audit)|yarn|(?:uv|poetry|pdm|hatch) (?:add|install|sync|update|lock|publish|run|remove|pip|tool|self)|go (?:get|install|run|generate|mod)|cargo (?:install|add|update|publish|login|run|fetch|search)|git (?:push|fetch|pull|clone|ls-remote|submodule|bisect|rebase|config|filter-branch)|bundle (?:install|update|add|exec)|composer (?:install|require|update|create-project|exec|global)|mix (?:deps\.get|archive\.install|run)|dotnet (?:add|restore|tool|nuget|run)|rustup|swift (?:package|run))$/;

/** Whether *always* is never offered for it. */
export function neverOffered(argv: readonly string[]): boolean {
  const [verb = "", second = ""] = argv;
  const versionless = verb.replace(/(?<=^(?:python|pypy|perl|ruby|php|lua|pip|node))[\d.]+$/, "");
  return (
    verb.includes("/") ||
    NEVER_VERBS.has(verb) ||
    NEVER_VERBS.has(versionless) ||
    NEVER_SUBS.test(verb) ||
    NEVER_SUBS.test(`${verb} ${second}`)
  );
}
