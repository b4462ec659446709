/** docs/api.md: how to call the daemon by hand, and every route with what it takes and how it fails. */
import { z } from "zod";
import type { Route } from "../../daemon/api/route.ts";
import { ROUTES } from "../../daemon/api/routes/table.ts";
import { ERROR_KINDS } from "../../daemon/errors.ts";
import { EXAMPLES } from "./api-examples.ts";

export function apiPage(): string {
  return `# The API

<!-- Made by scripts/generate-docs.ts from the route table. Edit scripts/generate/api-docs.ts and api-examples.ts. -->

HTTP/1.1 and JSON over Unix sockets: \`projects/ID/agent.sock\` for the agents of one project and \`admin.sock\` for people
who answer and administer, both in the run directory (\`/run/recinto\`). Who calls is known from the kernel, by the
connection's peer credentials; there is no password. The same as a machine reads it: [openapi.json](openapi.json), also
served as \`GET /openapi.json\`. Streams of commands: [api-streams.md](api-streams.md); files: [api-files.md](api-files.md);
the same authority as tools: \`GET /v1/mcp\`.

Requests with \`Origin\` or \`Referer\` are refused: no web page drives a local daemon. Unknown fields are errors. Ids of
things that are not the caller's own are answered as if there were no such thing.

## By hand

Each block goes on where the one before ended, as the user it names; \`npm test -- test/docker/api-docs.test.ts\` runs them so.

${EXAMPLES.map(exampleText).join("\n")}
## Every route

${["agent", "admin"].map((socket) => socketText(socket as "agent" | "admin")).join("\n")}
## Errors

\`{"error": {"code", "message", "hint", "details"?}}\`, with the status of the code. The command line exits with the second number.

| code | status | exit | next step |
|---|---|---|---|
${Object.entries(ERROR_KINDS)
  .map(([code, { status, exit, hint }]) => `| \`${code}\` | ${status} | ${exit} | ${cell(hint)} |`)
  .join("\n")}
`;
}

function exampleText({ title, text, as, shell }: (typeof EXAMPLES)[number]): string {
  return `### ${title}\n\n${text}\n\n\`\`\`sh ${as}\n${shell}\n\`\`\`\n`;
}

function socketText(socket: "agent" | "admin"): string {
  const routes = ROUTES.filter(({ sockets }) => sockets.includes(socket));
  const said = socket === "agent" ? "An agent's socket" : "The admin socket";
  return `### ${said}\n\n| route | what | takes | fails with |\n|---|---|---|---|\n${routes.map(routeRow).join("\n")}\n`;
}

function routeRow(route: Route): string {
  const fails = route.errors.map((code) => `\`${code}\``).join(" ");
  return `| \`${route.method} ${route.path}\` | ${cell(route.summary)} | ${takes(route)} | ${fails} |`;
}

function takes(route: Route): string {
  const query = Object.keys(route.query.shape).map((name) => `\`?${name}\``);
  if (route.takes !== undefined) return [...query, "bytes"].join(" ");
  if (route.body === null) return query.join(" ");
  const id = z.globalRegistry.get(route.body)?.id;
  const fields =
    id ?? (route.body instanceof z.ZodObject ? Object.keys(route.body.shape).join(", ") : "JSON");
  return [...query, `\`${fields}\``].join(" ");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
