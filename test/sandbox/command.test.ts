/** What was judged is what runs: words and environment. */
import { describe, expect, test } from "vitest";
import {
  CLEARED_ENV,
  commandArgv,
  commandEnv,
  refusedEnvName,
} from "../../daemon/sandbox/command.ts";

describe("commandArgv", () => {
  test("is bash without start-up files, with the text as it was judged", () => {
    const text = "echo 'a b' \"$x\"\n# é";
    expect(commandArgv(text)).toEqual(["/bin/bash", "--norc", "--noprofile", "-c", text]);
  });

  test("refuses what the kernel would cut or could not take", () => {
    expect(() => commandArgv("echo a\0b")).toThrow("NUL");
    expect(() => commandArgv("é".repeat(65_536))).toThrow("the kernel takes 131071");
    expect(commandArgv("x".repeat(131_071))).toHaveLength(5);
  });
});

describe("environment of a command", () => {
  test("is the sandbox's own and what the request adds", () => {
    expect(commandEnv({ PATH: "/bin", LANG: "C" }, { CI: "1", LANG: "de" })).toEqual({
      PATH: "/bin",
      LANG: "de",
      CI: "1",
    });
  });

  test.each([
    ..."BASH_ENV ENV IFS PATH HOME SHELLOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE POSIXLY_CORRECT".split(
      " ",
    ),
    ..."LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GLIBC_TUNABLES GCONV_PATH BASH_FUNC_ls%% BASH_XTRACEFD".split(
      " ",
    ),
    ..."GIT_CONFIG_COUNT GIT_DIR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF PAGER MANPAGER LESSOPEN EDITOR VISUAL".split(
      " ",
    ),
    ..."NODE_OPTIONS NODE_PATH npm_config_script_shell NPM_CONFIG_PREFIX PYTHONPATH PYTHONSTARTUP".split(
      " ",
    ),
    ..."PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS RUSTC_WRAPPER MAKEFLAGS TAR_OPTIONS AWKPATH".split(
      " ",
    ),
    ..."RIPGREP_CONFIG_PATH XDG_CONFIG_HOME SSH_ASKPASS RECINTO_EXEC INPUTRC PIP_CONFIG_FILE".split(
      " ",
    ),
    ...["", "a-b", "1A", "A=B", "A B", "Ä", "A\0"],
  ])("refuses %j", (name) => {
    expect(refusedEnvName(name)).not.toBeNull();
    expect(() => commandEnv({}, { [name]: "x" })).toThrow("refused");
  });

  test.each(
    "CI NODE_ENV FORCE_COLOR DEBUG RUST_BACKTRACE TZ LC_ALL DATABASE_URL PYTHONUNBUFFERED".split(
      " ",
    ),
  )("takes %s", (name) => expect(refusedEnvName(name)).toBeNull());

  test("refuses a value that would end early", () => {
    expect(() => commandEnv({}, { A: "b\0c" })).toThrow("NUL");
  });

  test("every variable that images must not bring along is refused to requests too", () => {
    expect(CLEARED_ENV.filter((name) => refusedEnvName(name) === null)).toEqual([]);
  });
});
