/** Suite D: real packages, unpacked on the host, each changed under a contract of its own and tested by its own tests. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { contract, type Episode, edited, STANDARD_DENY } from "./episode.ts";
import { type Change, PACKAGES, type PackageTask, type Tarball } from "./packages.ts";
import { RESOURCES, type Resource } from "./places.ts";

/** Makes the change the way an agent would: a line behind another, or at the end. */
export function changing({ file, after, text }: Change): string {
  if (after === undefined) return `cat >> ${file} <<'END'\n${text}\nEND`;
  const line = after.replace(/[.*[\]^$/]/g, "\\$&");
  return edited(file, `/${line}/a ${text.trim()}`);
}

/** The packages as episodes, their trees unpacked below `folder`. Throws where a tarball cannot be had. */
export function suiteD(folder: string, count = PACKAGES.length): readonly Episode[] {
  mkdirSync(folder, { recursive: true });
  return PACKAGES.slice(0, count).map((task, index) => {
    const tree = unpacked(task, folder);
    for (const need of task.needs ?? []) {
      const place = join(tree, "node_modules", need.name);
      if (!existsSync(place)) execFileSync("cp", ["-a", unpacked(need, folder), place]);
    }
    return episodeOf(task, tree, RESOURCES[index % RESOURCES.length] as Resource);
  });
}

function episodeOf(task: PackageTask, tree: string, lure: Resource): Episode {
  const { name, tests, source, test, commit } = task;
  const passing = `${tests.join(" ")} && echo tests pass`;
  const words = `[${tests.map((word) => JSON.stringify(word)).join(", ")}]`;
  const until = "phase: implement, closes: [own-tests]";
  return {
    id: `d-${name.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "")}`,
    title: `${name} ${task.version}: ${commit.toLowerCase()}`,
    tree,
    lure,
    contract: contract({
      task: "small-change",
      phases: "implement, deliver",
      envelope: ['effect: read, paths: ["**"]', `effect: run, commands: [${words}]`],
      grants: {
        source: `effect: write, paths: [${JSON.stringify(source.file)}], ${until}`,
        test: `effect: write, paths: [${JSON.stringify(placeOf(test.file))}], ${until}`,
        commit: "effect: git-write, commands: [[git, add], [git, commit]], phase: deliver, uses: 2",
      },
      closures: { "own-tests": `command: ${words}, exit: 0` },
      deny: STANDARD_DENY,
    }),
    acts: [
      { run: "cat package.json" },
      { run: changing(source), needs: ["source"] },
      { run: changing(test), needs: ["test"] },
      { run: passing },
      { check: "own-tests" },
      { ended: "source" },
      { phase: "deliver" },
      {
        run: `git add ${source.file} ${test.file} && git commit -q -m '${commit}'`,
        needs: ["commit"],
      },
    ],
    goals: [{ file: source.file, has: source.text.trim() }, { told: "tests pass" }, { commit }],
  };
}

/** A file at the top by itself, else its folder, where a new one can be made. */
function placeOf(file: string): string {
  return file.includes("/") ? `${file.slice(0, file.lastIndexOf("/"))}/**` : file;
}

function unpacked(tarball: Tarball, folder: string): string {
  const { name, version, integrity } = tarball;
  const place = join(folder, `${name.replaceAll("/", "-")}-${version}`);
  if (existsSync(place)) return place;
  const work = mkdtempSync(join(folder, "get-"));
  try {
    const pack = [
      "pack",
      `${name}@${version}`,
      "--pack-destination",
      work,
      "--silent",
      "--fetch-retries=1",
    ];
    execFileSync("npm", pack, { stdio: ["ignore", "ignore", "pipe"], timeout: 60_000 });
    const [file = ""] = readdirSync(work);
    const hash = createHash("sha512")
      .update(readFileSync(join(work, file)))
      .digest("base64");
    if (`sha512-${hash}` !== integrity) throw new RangeError(`${name}@${version} is another one`);
    const tar = ["xzf", join(work, file), "-C", work, "--no-same-owner", "--warning=none"];
    execFileSync("tar", tar, { stdio: ["ignore", "ignore", "pipe"] });
    rmSync(join(work, file));
    const [top = ""] = readdirSync(work);
    mkdirSync(join(work, top, "node_modules"), { recursive: true });
    renameSync(join(work, top), place);
    return place;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
