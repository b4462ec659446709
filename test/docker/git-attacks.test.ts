/** Every known way from a sandbox to a git of the host: each works where the repository is mounted writable, and fails here. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxSpec } from "../../daemon/sandbox/engine.ts";
import { AGENT, Rig, type Runner, whyNot } from "./rig.ts";

const missing = await whyNot();

interface Attack {
  readonly name: string;
  /** What the sandbox does. `R` is the repository's common dir, `W` the worktree, `E` a program of the agent's in it. */
  readonly inside: string;
  /** What the owner then does on the host, in the worktree. */
  readonly owner?: string;
  /** Settings that the owner's repository has. */
  readonly config?: readonly (readonly [string, string])[];
  /** The owner first replaces these files by rename, as git and editors do. */
  readonly renamed?: readonly string[];
}

const FSMONITOR = 'printf "[core]\\n\\tfsmonitor = %s\\n" $E';

const ATTACKS: readonly Attack[] = [
  { name: "fsmonitor in the config", inside: `${FSMONITOR} >> $R/config` },
  {
    name: "fsmonitor in the config, after the owner replaced that by rename",
    inside: `${FSMONITOR} >> $R/config`,
    renamed: ["config"],
  },
  {
    name: "a config of the worktree's own",
    inside: `printf "[extensions]\\n\\tworktreeConfig = true\\n" >> $R/config; ${FSMONITOR} > $R/worktrees/one/config.worktree`,
  },
  {
    name: "a config of the worktree's own, where the owner allows them",
    inside: `${FSMONITOR} > $R/worktrees/one/config.worktree; ${FSMONITOR} > $R/config.worktree`,
    config: [["extensions.worktreeConfig", "true"]],
  },
  {
    name: "commondir rewritten",
    inside: `mkdir -p $W/fake && cp -r $R/HEAD $R/refs $R/objects $W/fake/ 2>/dev/null; ${FSMONITOR} > $W/fake/config; echo $W/fake > $R/worktrees/one/commondir`,
  },
  {
    name: "a commondir where there was none",
    inside: `mkdir -p $W/fake && cp -r $R/HEAD $R/refs $R/objects $W/fake/ 2>/dev/null; ${FSMONITOR} > $W/fake/config; echo $W/fake > $R/commondir`,
    owner: "cd $ROOT && git status",
  },
  {
    name: "the .git file replaced",
    inside: `mkdir -p $W/fake && cp -r $R/HEAD $R/refs $R/objects $W/fake/ 2>/dev/null; mkdir -p $W/fake/refs $W/fake/objects; echo ref: refs/heads/x > $W/fake/HEAD; ${FSMONITOR} > $W/fake/config; rm -f $W/.git; echo "gitdir: $W/fake" > $W/.git`,
  },
  {
    name: "the .git file's folder renamed away",
    inside: `mv $W $W.old && mkdir $W && cp -r $W.old/. $W/ && mkdir -p $W/fake/refs $W/fake/objects; echo ref: refs/heads/x > $W/fake/HEAD; ${FSMONITOR} > $W/fake/config; rm -f $W/.git; echo "gitdir: $W/fake" > $W/.git`,
  },
  {
    name: "the repository's parent folder renamed",
    inside: `mv $R/worktrees/one $R/worktrees/old && cp -r $R/worktrees/old $R/worktrees/one && echo $W/fake > $R/worktrees/one/commondir && mkdir -p $W/fake && cp -r $R/HEAD $R/refs $R/objects $W/fake/ && ${FSMONITOR} > $W/fake/config`,
  },
  {
    name: "a hook",
    inside: "mkdir -p $R/hooks; cp $E $R/hooks/post-checkout",
    owner: "git checkout -q one",
  },
  {
    name: "hooksPath",
    inside: `mkdir -p $W/h; cp $E $W/h/post-checkout; printf "[core]\\n\\thooksPath = %s\\n" $W/h >> $R/config`,
    owner: "git checkout -q one",
  },
  {
    name: "include.path",
    inside: `${FSMONITOR} > $W/inc; printf "[include]\\n\\tpath = %s\\n" $W/inc >> $R/config`,
  },
  {
    name: "textconv",
    inside: `printf "[diff \\"x\\"]\\n\\ttextconv = %s\\n" $E >> $R/config; echo "* diff=x" > $W/.gitattributes; echo change >> $W/file`,
    owner: "git diff",
  },
  {
    name: "a filter",
    inside: `printf "[filter \\"x\\"]\\n\\tclean = %s\\n" $E >> $R/config; echo "* filter=x" > $W/.gitattributes; echo change >> $W/file`,
    owner: "git status; git add file",
  },
  {
    name: "attributes of the repository with a driver",
    inside: `mkdir -p $R/info; echo "* diff=x" > $R/info/attributes; printf "[diff \\"x\\"]\\n\\tcommand = %s\\n" $E >> $R/config; echo change >> $W/file`,
    owner: "git diff",
  },
  {
    name: "an alias that shadows nothing but is typed",
    inside: `printf "[alias]\\n\\tst = !%s\\n" $E >> $R/config`,
    owner: "git st",
  },
];

describe.skipIf(missing)("a sandbox's way to the host's git", () => {
  let rig: Rig;
  let one: string;
  let saved: string;
  let spec: SandboxSpec;
  const proof = () => join(rig.base, "proof/ran");
  const repository = () => join(rig.project.root, ".git");

  beforeAll(async () => {
    rig = await Rig.make();
    one = rig.gitWorktree("one");
    mkdirSync(join(rig.base, "proof"));
    chmodSync(join(rig.base, "proof"), 0o777);
    writeFileSync(join(one, "file"), "1\n");
    writeFileSync(join(one, "evil.sh"), `#!/bin/sh\ntouch ${proof()}\ncat\n`);
    chmodSync(join(one, "evil.sh"), 0o755);
    const all = (...words: string[]) =>
      execFileSync("git", ["-C", one, ...words], { stdio: "pipe" });
    execFileSync("chown", ["-R", `${AGENT.uid}:${AGENT.gid}`, rig.project.root]);
    all("-c", "safe.directory=*", "add", "file");
    all(
      "-c",
      "safe.directory=*",
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@t",
      "commit",
      "-qm",
      "f",
    );
    execFileSync("chown", ["-R", `${AGENT.uid}:${AGENT.gid}`, rig.project.root]);
    saved = join(rig.base, "saved");
    cpSync(rig.project.root, saved, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
  }, 120_000);
  afterAll(() => rig.close());

  /** The project's content as it was; the folders that are mounted stay the same ones. */
  function restore(): void {
    rmSync(proof(), { force: true });
    const script = `
      cd ${rig.project.root}
      find .git -mindepth 1 -delete; cp -a "${saved}/.git/." .git/
      # A file that is mounted stays the same one: replaced on the host, its mount would be gone.
      find .worktrees/one -mindepth 1 -not -path .worktrees/one/.git -delete
      cp -a "${saved}/.worktrees/one/." .worktrees/one/
      rm -rf .worktrees/one.old
      chown -R ${AGENT.uid}:${AGENT.gid} .`;
    execFileSync("bash", ["-c", script]);
  }

  async function attacked(run: Runner, attack: Attack): Promise<boolean> {
    for (const [key, value] of attack.config ?? []) owner(`git config ${key} ${value}`);
    for (const name of attack.renamed ?? []) {
      const path = join(repository(), name);
      cpSync(path, `${path}.new`, { preserveTimestamps: true });
      execFileSync("chown", [`${AGENT.uid}:${AGENT.gid}`, `${path}.new`]);
      renameSync(`${path}.new`, path);
    }
    await run(`R=${repository()} W=${one} E=${one}/evil.sh; ${attack.inside}`);
    owner(attack.owner ?? "git status");
    return existsSync(proof());
  }

  /** The owner at work on the host, in the worktree, with no care taken. */
  function owner(script: string): void {
    const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ROOT: rig.project.root };
    spawnSync("bash", ["-c", script], { cwd: one, uid: AGENT.uid, gid: AGENT.gid, env });
  }

  for (const mode of ["commit", "read", "none"] as const) {
    describe(`git: ${mode}`, () => {
      let run: Runner;
      beforeAll(async () => {
        restore();
        const made = await rig.run(one, { git: mode });
        spec = made.spec;
        run = made.run;
      }, 60_000);
      test.each(ATTACKS)("$name fails", async (attack) => {
        restore();
        expect(await attacked(run, attack)).toBe(false);
      });
    });
  }

  describe("with the project mounted as it is, writable, as most tools do", () => {
    let run: Runner;
    beforeAll(async () => {
      restore();
      const { root } = rig.project;
      run = await rig.loosened(spec, (host) => {
        const like = host.Mounts.find(({ Target }) => Target === one);
        if (like === undefined) throw new Error("no worktree is mounted");
        host.Mounts = [{ ...like, Source: root, Target: root, ReadOnly: false }];
      });
    }, 60_000);
    test.each(ATTACKS)("$name works", async (attack) => {
      restore();
      expect(await attacked(run, attack)).toBe(true);
    });
  });
});
