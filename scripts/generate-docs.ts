/** Writes the documents that are made from the sources; with --check it says which of them are stale instead. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { openApi } from "../daemon/api/openapi.ts";
import { ROUTES } from "../daemon/api/routes/table.ts";
import { apiPage } from "./generate/api-docs.ts";
import { authorityPage, contractJsonSchema } from "./generate/contract-docs.ts";
import { evaluationPage } from "./generate/evaluation-docs.ts";
import { bashCompletion, recintodPage, recintoPage } from "./generate/man-pages.ts";
import { policyPage } from "./generate/policy-docs.ts";
import { profileJsonSchema, profilesPage } from "./generate/profile-docs.ts";

const root = new URL("..", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

/** Path below the checkout → what should stand there. */
export const DOCUMENTS: Readonly<Record<string, () => string>> = {
  "docs/profiles.md": profilesPage,
  "profiles/profile.schema.json": profileJsonSchema,
  "docs/policy.md": policyPage,
  "docs/authority.md": authorityPage,
  "profiles/contract.schema.json": contractJsonSchema,
  "docs/api.md": apiPage,
  "docs/man/recinto.1": recintoPage,
  "docs/man/recintod.8": recintodPage,
  "scripts/completion.bash": bashCompletion,
  "docs/evaluation.md": evaluationPage,
  "docs/openapi.json": () => `${JSON.stringify(openApi(ROUTES, version), null, 2)}\n`,
};

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const check = process.argv.includes("--check");
  for (const [path, make] of Object.entries(DOCUMENTS)) {
    const file = new URL(path, root);
    const text = make();
    const current = existsSync(file) && readFileSync(file, "utf8") === text;
    if (current) continue;
    if (check) {
      process.stderr.write(`${path} is stale: npx tsx scripts/generate-docs.ts\n`);
      process.exitCode = 1;
    } else writeFileSync(file, text);
  }
}
