/** Entry of the long form: `npm run chaos -- [--kills N] [--seed S] [--json]`; the seed is printed first. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Recintod } from "../docker/recintod.ts";
import { surviveKills } from "./kills.ts";

const { values } = parseArgs({
  options: { kills: { type: "string" }, seed: { type: "string" }, json: { type: "boolean" } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
const kills = Number(values.kills ?? 200);
console.error(`chaos: --kills ${kills} --seed ${seed}`);
const daemon = new Recintod({
  main: fileURLToPath(new URL("../../dist/main.js", import.meta.url)),
});
await daemon.start();
try {
  const report = await surviveKills({
    daemon,
    kills,
    seed,
    lifeMsMax: 3_000,
    orphanMsMax: 10_000,
    onKill: (done, { problems, entries }) => {
      if (done % 10 === 0) {
        console.error(`chaos: ${done} kills, ${entries} entries, ${problems.length} problems`);
      }
    },
  });
  console.log(JSON.stringify(report, null, values.json ? 0 : 2));
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} finally {
  await daemon.close();
}
