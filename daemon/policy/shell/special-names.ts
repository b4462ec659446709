/** Names of variables that mean something to the shell itself or to programs, whatever their value. */

/**
 * Names whose assignment alone, without `export`, may change what runs: the shell's own, and those that a sandbox's
 * environment could hold already, so that an assignment changes what programs see.
 */
export const TELLING =
  /^(?:PATH|HOME|USER|LOGNAME|TMP|TEMP|MAIL\w*|TMOUT|TIMEFORMAT|FCEDIT|DIRSTACK|IFS|ENV|CDPATH|GLOBIGNORE|EXECIGNORE|PS[0-4]|PROMPT_\w+|SHELL\w*|POSIXLY_CORRECT|FUNCNEST|TMPDIR|TERM\w*|LANG\w*|TEXTDOMAIN\w*|PWD|OLDPWD|OPT\w+|HIST\w+|INPUTRC|PAGER|LESS\w*|EDITOR|VISUAL|BROWSER|MANPAGER|CC|CXX|LD|AR|MAKEFLAGS|MAKE|\w*OPTS|\w*OPTIONS|\w*FLAGS|\w*OPT|\w*_COMMAND|\w*_PROXY|\w*_proxy|(?:BASH|LD|LC|DYLD|GIT|SSH|GPG|NODE|NPM|npm|PNPM|pnpm|YARN|BUN|DENO|COREPACK|PYTHON|PIP|UV|VIRTUAL|CONDA|PERL\w*|RUBY|GEM|BUNDLE|JAVA|JDK|MAVEN|MVN|GRADLE|GO\w*|CGO|CARGO|RUST\w*|PHP|COMPOSER|DOTNET|DOCKER|COMPOSE|KUBE\w*|HELM|AWS|AZURE|GOOGLE|CLOUDSDK|TF|XDG|GCONV|MALLOC|NLSPATH|RES|LOCPATH|HOSTALIASES|FIGNORE|SUDO|RIPGREP|RG|GREP|FZF|JQ|BAT|DELTA|TAR|ZIP\w*|UNZIP\w*|GZIP|BZIP\w*|XZ|CURL|WGET\w*|http|https|ftp|all|no|HTTP|HTTPS|FTP|ALL|NO)(?:_\w*)?)$/;
