/** Hazards through the whole supervisor: seen from the start, told to admins, frozen by, accepted one by one. */
import { lchownSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalEntry } from "../../daemon/journal/types.ts";
import { ADMIN_GROUP, AGENT, admin, agent, codeOf, OWNER, run, World } from "./world.ts";

let world: World;

beforeEach(() => {
  world = new World();
});

afterEach(() => world.end());

/** A link of the worktree's owner. */
function link(target: string, path: string): void {
  symlinkSync(target, path);
  if (process.getuid?.() === 0) lchownSync(path, OWNER, OWNER);
}

const hazards = (worktree = world.worktree()) =>
  world.supervisor.hazards
    .list(admin())
    .filter((each) => each.worktree === worktree)
    .flatMap((each) => each.hazards);

async function verdict(session: string, command: string) {
  const judged = await world.supervisor.check(agent(), session, { command });
  return [judged.verdict, judged.segments[0]?.rule];
}

async function found(path: string) {
  await expect.poll(() => hazards().some((hazard) => hazard.path === path)).toBe(true);
  return hazards().find((hazard) => hazard.path === path)?.id ?? "";
}

describe("watching", () => {
  test("starts with the daemon, for worktrees that nobody has opened", async () => {
    world.write(join(world.worktree(), "file.txt"), "text\n");
    link("/etc", join(world.worktree(), "out"));
    await world.start();
    await found(join(world.worktree(), "out"));
    await expect
      .poll(() =>
        world.supervisor.hazards
          .list(admin())
          .map(({ worktree }) => worktree)
          .sort(),
      )
      .toEqual([
        join(world.folder, "api", ".worktrees", "one"),
        world.worktree("one"),
        world.worktree("two"),
      ]);
  });

  test("ends with the project", async () => {
    await world.start();
    await expect.poll(() => world.supervisor.hazards.list(admin(), "web").length).toBe(2);
    await world.supervisor.removeProject(admin(), "web");
    expect(
      world.supervisor.hazards.list(admin()).filter(({ project }) => project === "web"),
    ).toEqual([]);
  });

  test("a link that appears reaches admins who follow the events", async () => {
    await world.start();
    await expect.poll(() => world.supervisor.hazards.list(admin(), "web").length).toBe(2);
    const leave = new AbortController();
    const seen: JournalEntry[] = [];
    const following = (async () => {
      const query = { events: ["hazard.found"] } as const;
      for await (const entry of world.supervisor.followEvents(admin(), query, leave.signal)) {
        seen.push(entry);
      }
    })();
    const path = join(world.worktree("two"), "out");
    link("/etc", path);
    await expect
      .poll(() => seen.map(({ project, data }) => [project, data]))
      .toEqual([
        [
          "web",
          {
            worktree: world.worktree("two"),
            hazard: expect.objectContaining({ kind: "escaping-link", path, resolved: "/etc" }),
          },
        ],
      ]);
    leave.abort();
    await following.catch(() => undefined);
  });
});

describe("onEscape: freeze", () => {
  beforeEach(async () => {
    world.profile += "onEscape: freeze\n";
    await world.start();
  });

  test("nothing is allowed by itself until the link is gone", async () => {
    const session = await world.open();
    expect(await verdict(session, "ls")).toEqual(["allow", "scope/read"]);
    const path = join(world.worktree(), "out");
    link("/etc", path);
    await found(path);
    expect(await verdict(session, "ls")).toEqual(["ask", "denials/frozen"]);
    rmSync(path);
    await expect.poll(() => verdict(session, "ls")).toEqual(["allow", "scope/read"]);
  });

  test("nothing is allowed by itself until a person has accepted every link", async () => {
    const session = await world.open();
    for (const name of ["out", "up"]) link("/etc", join(world.worktree(), name));
    const ids = [
      await found(join(world.worktree(), "out")),
      await found(join(world.worktree(), "up")),
    ];
    world.supervisor.hazards.accept(admin(), ids[0] ?? "");
    expect(await verdict(session, "ls")).toEqual(["ask", "denials/frozen"]);
    world.supervisor.hazards.accept(admin(), ids[1] ?? "");
    expect(await verdict(session, "ls")).toEqual(["allow", "scope/read"]);
    world.supervisor.hazards.forget(admin(), ids[1] ?? "");
    expect(await verdict(session, "ls")).toEqual(["ask", "denials/frozen"]);
  });
});

describe("consent", () => {
  let session: string;
  let path: string;
  let id: string;

  beforeEach(async () => {
    await world.start();
    session = await world.open();
    path = join(world.worktree(), "words");
    link("/usr/share/dict", path);
    id = await found(path);
  });

  test("lets one link be read through, survives a restart, and is taken back", async () => {
    expect(await verdict(session, "cat words/a")).toEqual(["ask", "scope/leaving-link"]);
    const { acceptedAt } = world.supervisor.hazards.accept(admin(), id);
    expect(hazards().map((hazard) => [hazard.path, hazard.acceptedAt])).toEqual([
      [path, acceptedAt],
    ]);
    expect(await verdict(session, "cat words/a")).toEqual(["allow", "scope/read"]);
    expect(await verdict(session, "cat /usr/share/dict/a")).toEqual(["ask", "scope/outside-read"]);
    await world.supervisor.shutdown();
    await world.restart();
    session = await world.open();
    expect(await verdict(session, "cat words/a")).toEqual(["allow", "scope/read"]);
    world.supervisor.hazards.forget(admin(), id);
    expect(await verdict(session, "cat words/a")).toEqual(["ask", "scope/leaving-link"]);
    expect(world.recorded("hazard.accepted", "hazard.forgotten")).toEqual([
      [
        "hazard.accepted",
        {
          worktree: world.worktree(),
          id,
          path,
          target: "/usr/share/dict",
          resolved: expect.any(String),
        },
      ],
      ["hazard.forgotten", { id }],
    ]);
  });

  test("does not bring what it leads to into the sandbox: the command is told so", async () => {
    world.supervisor.hazards.accept(admin(), id);
    const { events } = await run(world, session, "cat words/a");
    expect(events.map(({ type }) => type)).toEqual(["decision", "note", "started", "exit"]);
    expect(events[1]).toMatchObject({ code: "not_mounted", paths: ["/usr/share/dict/a"] });
  });

  test("does not cover the same name when it leads elsewhere, also when it was swapped by rename", async () => {
    world.supervisor.hazards.accept(admin(), id);
    link("/etc", join(world.worktree(), "other"));
    renameSync(join(world.worktree(), "other"), path);
    // At once, whether or not the watcher has seen it yet.
    expect((await verdict(session, "cat words/passwd"))[0]).toBe("ask");
    await expect.poll(() => hazards().map(({ target }) => target)).toEqual(["/etc"]);
    expect(await verdict(session, "cat words/passwd")).toEqual(["ask", "scope/leaving-link"]);
    expect(hazards()[0]?.acceptedAt).toBeUndefined();
  });

  test("is a person's to give: no agent's, no user's that agents run as, and of links only", async () => {
    const { hazards: desk } = world.supervisor;
    const asAdmin = { ...agent(), groups: [ADMIN_GROUP], socket: { kind: "admin" } } as const;
    expect(await codeOf(() => desk.accept(agent(), id))).toBe("not-permitted");
    expect(await codeOf(() => desk.forget(agent(), id))).toBe("not-permitted");
    expect(asAdmin.uid).toBe(AGENT);
    expect(await codeOf(() => desk.accept(asAdmin, id))).toBe("agent-cannot-approve");
    expect(await codeOf(() => desk.accept(admin(), "escaping-link-0000000000000000"))).toBe(
      "not-found",
    );
    expect(await codeOf(() => desk.forget(admin(), id))).toBe("not-found");
    world.write(join(world.worktree(), "odd\nname"), "");
    const odd = await found(join(world.worktree(), "odd\nname"));
    expect(await codeOf(() => desk.accept(admin(), odd))).toBe("bad-request");
    expect(world.recorded("hazard.accepted")).toEqual([]);
  });
});
