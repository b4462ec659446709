/** Environment prefixes: the harmless ones pass, everything that changes what runs asks. */
import { describe, expect, it } from "vitest";
import { judgeEnv } from "../../../daemon/policy/catalogue/env-prefixes.ts";

/** `NAME=value`, `export` in front when programs see it by itself. */
function judge(assignment: string, exported = true) {
  const [name = "", value = ""] = assignment.split(/=(.*)/s);
  return judgeEnv(name, value, exported);
}

describe("environment prefixes", () => {
  it.each([
    "CI=1",
    "CI=true",
    "NODE_ENV=test",
    "RUST_BACKTRACE=full",
    "RUST_LOG=app=debug,info",
    "DEBUG=app:*",
    "LC_ALL=C",
    "LC_ALL=en_US.UTF-8",
    "LANG=C.UTF-8",
    "TZ=UTC",
    "TZ=America/New_York",
    "NO_COLOR=1",
    "FORCE_COLOR=0",
    "COLUMNS=200",
    "TERM=dumb",
    "PYTHONDONTWRITEBYTECODE=1",
    "PYTHONIOENCODING=utf-8",
    "GOFLAGS=-mod=vendor -count=1",
    "GOFLAGS=",
    "GOOS=linux",
    "CGO_ENABLED=0",
    "GO111MODULE=on",
    "GOPROXY=off",
    "NODE_OPTIONS=--max-old-space-size=4096 --experimental-vm-modules",
    "RUSTFLAGS=-D warnings",
    "CARGO_TERM_COLOR=always",
    "PORT=3000",
    "HUSKY=0",
    "VITEST_MAX_THREADS=1",
    "RUN_SLOW_TESTS=true",
    "GIT_PAGER=cat",
    "PAGER=",
    "GIT_EDITOR=true",
    "GIT_TERMINAL_PROMPT=0",
  ])("%s is harmless", (assignment) => {
    expect(judge(assignment)).toEqual({ kind: "harmless" });
  });

  it.each([
    "PATH=/tmp:/bin",
    "LD_PRELOAD=./x.so",
    "LD_LIBRARY_PATH=.",
    "DYLD_INSERT_LIBRARIES=x",
    "BASH_ENV=x",
    "ENV=x",
    "BASH_FUNC_ls%%=() { id; }",
    "GIT_DIR=/p2/.git",
    "GIT_EXTERNAL_DIFF=./x",
    "GIT_SSH_COMMAND=sh -c id",
    "GIT_CONFIG_COUNT=1",
    "GIT_PAGER=./x",
    "PAGER=sh",
    "EDITOR=vi",
    "VISUAL=./x",
    "LESSOPEN=|./x %s",
    "NODE_OPTIONS=--require=./x.js",
    "NODE_OPTIONS=--max-old-space-size=1 --import ./x.js",
    "PERL5OPT=-Mx",
    "PERL5LIB=.",
    "RUBYOPT=-rx",
    "PYTHONSTARTUP=x",
    "PYTHONHOME=1",
    "PYTHONINSPECT=1",
    "PYTHONBREAKPOINT=os.system",
    "PYTHONWARNINGS=ignore::x.Y",
    "PYTEST_ADDOPTS=-p x",
    "PYTEST_PLUGINS=x",
    "npm_config_script_shell=./x",
    "NPM_CONFIG_USERCONFIG=x",
    "JAVA_TOOL_OPTIONS=-javaagent:x",
    "MAVEN_OPTS=1",
    "GCC_EXEC_PREFIX=x",
    "GCONV_PATH=1",
    "CC=./x",
    "MAKEFLAGS=--eval=x",
    "GREP_OPTIONS=-f/etc/passwd",
    "RIPGREP_CONFIG_PATH=1",
    "RUSTC_WRAPPER=1",
    "RUSTFLAGS=-C linker=./x",
    "CARGO_BUILD_RUSTC_WRAPPER=x",
    "GOFLAGS=-toolexec=./x",
    "GOFLAGS=-mod=vendor -exec=./x",
    "GOPROXY=https://x.invalid",
    "GOTOOLCHAIN=go1.99",
    "SHELL=/bin/x",
    "IFS=x",
    "PS4=$(id)",
    "PROMPT_COMMAND=./x",
    "HOME=/tmp",
    "TMPDIR=src",
    "http_proxy=x",
    "HTTPS_PROXY=1",
    "FOO_COMMAND=1",
    "MY_RUNNER=1",
    "lower=1",
    "POSTHOG_API_KEY=test_key",
    "LC_ALL=../x",
    "LANG=ja_JP.SJIS",
    "TZ=:/etc/passwd",
    "TZ=/etc/passwd",
    "TZ=../../x",
    "POSIXLY_CORRECT=1",
    "HOST=192.0.2.1",
    "DEBUG=/x",
  ])("%s asks", (assignment) => {
    const name = assignment.split("=")[0];
    expect(judge(assignment)).toEqual({
      kind: "lifts",
      reason: `environment variable ${name} can change what runs or where`,
    });
  });

  it("PYTHONPATH names folders that scope judges", () => {
    expect(judge("PYTHONPATH=src:/etc:")).toEqual({ kind: "paths", paths: ["src", "/etc", "."] });
  });

  it("a value that is not known passes for no exported name", () => {
    expect(judgeEnv("CI", null, true).kind).toBe("lifts");
    expect(judgeEnv("PYTHONPATH", null, true).kind).toBe("lifts");
    expect(judgeEnv("FOO", null, true).kind).toBe("lifts");
  });

  it("a variable of the shell's own is harmless unless the shell or the sandbox obeys it", () => {
    expect(judgeEnv("x", null, false)).toEqual({ kind: "harmless" });
    expect(judgeEnv("LOGS_DIR", "/etc", false)).toEqual({ kind: "harmless" });
    for (const name of [
      "PATH",
      "IFS",
      "OLDPWD",
      "BASH_ENV",
      "GIT_DIR",
      "CDPATH",
      "http_proxy",
      "HOME",
      "POSIXLY_CORRECT",
    ])
      expect([name, judgeEnv(name, "x", false).kind]).toEqual([name, "lifts"]);
  });
});
