/** A client in a process of its own: runs one command through the built typed client, counts its output, says how long and at what cost. */
import { agentClient } from "../../dist/api/client.js";

const [socketPath, session, command] = process.argv.slice(2);
const agent = agentClient({ socketPath });
const start = performance.now();
const before = process.cpuUsage();
let bytes = 0;
for await (const event of agent.run(session, { command })) {
  if (event.type === "stdout") bytes += event.data.length;
  if (event.type === "pending" || event.type === "refused") throw new Error("it is not allowed");
}
const ms = performance.now() - start;
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ bytes, ms, cpuSeconds: (user + system) / 1e6 }));
agent.close();
