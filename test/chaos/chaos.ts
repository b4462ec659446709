/**
 * Entry of the long forms: `npm run chaos -- [kills|engine|start] [--kills N] [--restarts N] [--entries N] [--seed S]
 * [--json]`; the seed is printed first.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Recintod } from "../docker/recintod.ts";
import { surviveEngine } from "./engine.ts";
import { surviveKills } from "./kills.ts";
import { OwnEngine } from "./own-engine.ts";
import { measureStart } from "./start-time.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

const { values, positionals } = parseArgs({
  options: {
    kills: { type: "string" },
    entries: { type: "string" },
    restarts: { type: "string" },
    seed: { type: "string" },
    json: { type: "boolean" },
  },
  allowPositionals: true,
});
const tell = (report: object) => console.log(JSON.stringify(report, null, values.json ? 0 : 2));

async function kills(): Promise<boolean> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
  const count = Number(values.kills ?? 200);
  console.error(`chaos: kills --kills ${count} --seed ${seed}`);
  const daemon = new Recintod({ main: MAIN });
  await daemon.start();
  try {
    const report = await surviveKills({
      daemon,
      kills: count,
      seed,
      lifeMsMax: 3_000,
      orphanMsMax: 10_000,
      onKill: (done, { problems, entries }) => {
        if (done % 10 !== 0) return;
        console.error(`chaos: ${done} kills, ${entries} entries, ${problems.length} problems`);
      },
    });
    tell(report);
    return report.problems.length === 0;
  } finally {
    await daemon.close();
  }
}

async function start(): Promise<boolean> {
  tell(await measureStart(MAIN, Number(values.entries ?? 1_000_000)));
  return true;
}

async function engine(): Promise<boolean> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
  const restarts = Number(values.restarts ?? 10);
  console.error(`chaos: engine --restarts ${restarts} --seed ${seed}`);
  const own = new OwnEngine();
  const daemon = new Recintod({ main: MAIN, engine: own.socket });
  try {
    await own.start();
    await daemon.start();
    const report = await surviveEngine({ daemon, engine: own, restarts, seed });
    tell(report);
    return report.problems.length === 0;
  } finally {
    await daemon.close();
    own.close();
  }
}

const FORMS: Readonly<Record<string, () => Promise<boolean>>> = { kills, engine, start };
const [name = "kills"] = positionals;
const form = FORMS[name];
if (form === undefined) {
  console.error(`chaos: no form ${name}; there are: ${Object.keys(FORMS).join(", ")}`);
  process.exit(64);
}
process.exitCode = (await form()) ? 0 : 1;
