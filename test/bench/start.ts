/** Benchmark of the first command of a worktree: from request to first byte, with the container made for it. */
import { spawn } from "node:child_process";
import { BenchDaemon, baseImage, DOCKER } from "./daemon.ts";
import { median, round } from "./figures.ts";

const ROUNDS = 7;

export async function run(): Promise<Record<string, number>> {
  const daemon = await BenchDaemon.start({ worktrees: ROUNDS + 1 });
  try {
    const image = await baseImage();
    const times: { recinto: number[]; docker: number[] } = { recinto: [], docker: [] };
    for (let n = 0; n <= ROUNDS; n++) {
      // Opening a session starts the walk of its worktree; the sandbox is made for its first command.
      const session = await daemon.open(`w${n}`);
      const recinto = await firstByte(daemon, session);
      const docker = await firstByteOfRun(image);
      if (n === 0) continue;
      times.recinto.push(recinto);
      times.docker.push(docker);
    }
    return {
      first_byte_ms: round(median(times.recinto)),
      vs_docker_run: round(median(times.recinto) / median(times.docker)),
      docker_run_ms: round(median(times.docker)),
    };
  } finally {
    await daemon.stop();
  }
}

async function firstByte(daemon: BenchDaemon, session: string): Promise<number> {
  const start = performance.now();
  for await (const event of daemon.agent.run(session, { command: "echo first" })) {
    if (event.type === "stdout") return performance.now() - start;
    if (event.type === "pending" || event.type === "refused") throw new Error("it is not allowed");
  }
  throw new Error("nothing came");
}

function firstByteOfRun(image: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const [docker, ...engine] = DOCKER;
    const box = ["run", "--rm", "--network", "none", "--init", image, "bash", "-c", "echo first"];
    const child = spawn(docker, [...engine, ...box], { stdio: ["ignore", "pipe", "inherit"] });
    let ms = Number.NaN;
    child.stdout.once("data", () => {
      ms = performance.now() - start;
    });
    child.once("error", reject);
    // Its removal belongs to it: the next round must not meet it.
    child.once("close", (code) =>
      code === 0 ? resolve(ms) : reject(new Error(`docker run: exit ${code}`)),
    );
  });
}
