/** Makes links in folders made just before, as an agent's process would, and prints when (monotonic nanoseconds). */
import { mkdirSync, symlinkSync } from "node:fs";

const [worktree, count, topFolders] = process.argv.slice(2);
let lines = "";
for (let index = 0; index < Number(count); index++) {
  // No pause between folder and link: the moment in which a watcher that only reacts is blind.
  const folder = `${worktree}/top-${index % Number(topFolders)}/fresh-${index}/deeper`;
  mkdirSync(folder, { recursive: true });
  symlinkSync("/etc/passwd", `${folder}/out`);
  lines += `${process.hrtime.bigint()} ${folder}/out\n`;
}
process.stdout.write(lines);
