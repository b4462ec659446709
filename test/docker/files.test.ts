/** The file API before real sandboxes: what it writes is there inside, and links made inside lead it nowhere. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing =
  (await whyNot()) ?? (process.getuid?.() === 0 ? null : "only root can act as an agent");

describe.skipIf(missing)("recinto files", () => {
  let daemon: Recintod;
  let project: TestProject;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    project = await daemon.addProject("alpha", 5_001, "dev");
  });
  afterAll(() => daemon?.close());

  const files = (words: string[], input?: string | Buffer) =>
    daemon.cli(
      ["files", ...words, "--project", project.id, "--worktree", project.worktree],
      input === undefined ? {} : { input },
    );

  test("what the agent writes through the API it sees in the container as its own, and the other way", async () => {
    const written = await files(["write", "src/a.txt", "--parents"], "by the API\n");
    expect([written.code, written.err]).toEqual([0, ""]);
    expect((await daemon.run(project, "cat src/a.txt; stat -c %u:%g src/a.txt src")).out).toBe(
      "by the API\n5001:5001\n5001:5001\n",
    );
    expect((await daemon.run(project, "echo more >> src/a.txt")).code).toBe(0);
    expect((await files(["read", "src/a.txt"])).out).toBe("by the API\nmore\n");
    expect((await files(["list", "src"])).out).toMatch(/^file +644 +16 a\.txt\n$/);
  });

  test("a link made in the container is not followed to the host", async () => {
    // By a program of the project: the policy would have asked about the links themselves.
    await files(
      ["write", "links.sh"],
      "ln -s /etc etc; ln -s /etc/shadow shadow; ln -s src inside",
    );
    expect((await daemon.run(project, "bash links.sh")).code).toBe(0);
    for (const words of [
      ["read", "shadow"],
      ["read", "etc/shadow"],
      ["list", "etc"],
      ["remove", "etc/hosts"],
    ]) {
      const { code, out, err } = await files(words);
      expect([words, code, out]).toEqual([words, 66, ""]);
      expect(err).toContain("is not where the file API reaches");
    }
    const { code } = await files(["write", "etc/recinto-test"], "x");
    expect([code, existsSync("/etc/recinto-test")]).toEqual([66, false]);
    expect((await files(["read", "inside/a.txt"])).out).toBe("by the API\nmore\n");
    expect(JSON.parse((await files(["stat", "src/a.txt", "--hash"])).out)).toMatchObject({
      kind: "file",
      uid: 5_001,
    });
  });

  test("an instruction file asks, is written when approved, and stays so (A4)", async () => {
    const writing = files(["write", "AGENTS.md"], "be careful\n");
    const question = await expect
      .poll(async () => (await daemon.admin.approvals({ state: "pending" }))[0], {
        timeout: 20_000,
      })
      .toMatchObject({ stdin: "be careful\n", uid: 5_001 })
      .then(async () => (await daemon.admin.approvals({ state: "pending" }))[0]);
    expect(question?.command).toMatch(/^files write AGENTS\.md \(11 bytes, sha256 [0-9a-f]{64}\)$/);
    await daemon.admin.answer(question?.id ?? "", { answer: "approve", mode: "once" });
    const { code, err } = await writing;
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`waiting for a person to answer ${question?.id}`),
    ]);
    expect((await daemon.run(project, "touch x; cat AGENTS.md")).out).toBe("be careful\n");
    const refused = await files(["write", "AGENTS.md", "--wait-for", "0"], "be careless\n");
    expect([refused.code, readFileSync(join(project.worktree, "AGENTS.md"), "utf8")]).toEqual([
      126,
      "be careful\n",
    ]);
  });

  test("a patch and an archive arrive whole", async () => {
    const patch = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n by the API\n-more\n+less\n";
    expect((await files(["patch"], patch)).out).toBe(`changed ${project.worktree}/src/a.txt\n`);
    const archive = execFileSync("tar", ["-C", project.worktree, "-cf", "-", "docs"]);
    const unpacked = await files(["unpack", "src"], archive);
    expect([unpacked.out, unpacked.code]).toEqual(['{"entries":2,"bytes":18}\n', 0]);
    expect((await daemon.run(project, "cat src/docs/a.md")).out).toBe("the docs of alpha\n");
    expect((await daemon.run(project, "cat src/a.txt")).out).toBe("by the API\nless\n");
    const list = await files(["pack", "src"]);
    expect([list.code, list.out.startsWith("a.txt\0"), list.err]).toEqual([
      0,
      true,
      "recinto: 3 entries packed, 0 left out\n",
    ]);
  });
});
