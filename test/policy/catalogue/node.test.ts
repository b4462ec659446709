/** npm and its relatives, and the tools of Node projects, with their escape hatches closed (B5). */
import { expect, describe as group, it } from "vitest";
import { describe } from "../../../daemon/policy/catalogue/describe.ts";
import { segmentOf, told, wordsOf } from "./told.ts";

const BUILD = ["build cwd tree"];

/** Lines as `told`, with the local binaries of the project known. */
function lifts(line: string, localBins: readonly string[] | undefined): readonly string[] {
  const segment = segmentOf(wordsOf(line));
  return describe({ segment, segments: [segment], localBins }).lifts;
}

group("node", () => {
  it.each<[string, string[]]>([
    ["npm test", BUILD],
    ["npm t", BUILD],
    ["npm test -- --reporter=dot", BUILD],
    ["npm test --silent", BUILD],
    ["npm run build", BUILD],
    ["npm run lint:fix", BUILD],
    ["npm run test:unit -- repository-resolution.test.ts", BUILD],
    ["npm run typecheck --workspace=a", BUILD],
    ["npm run format:check", BUILD],
    ["pnpm -r build", BUILD],
    ["pnpm test --run", BUILD],
    ["pnpm run test --run", BUILD],
    ["pnpm --filter a test", BUILD],
    ["pnpm build", BUILD],
    ["yarn test", BUILD],
    ["yarn build --prod", BUILD],
    ["yarn run lint", BUILD],
    ["bun test", BUILD],
    ["bun test src/a.test.ts -t x", ["read src/a.test.ts tree", ...BUILD]],
    [
      "pnpm exec vitest run src/a.test.ts",
      [...BUILD, "read run tree", "read src/a.test.ts tree", ...BUILD],
    ],
    ["bun run eslint src/a.ts", [...BUILD, "read src/a.ts tree", ...BUILD]],
    ["yarn tsc --noEmit", [...BUILD, ...BUILD]],
    ["npx --no-install tsc --noEmit", [...BUILD, ...BUILD]],
    ["tsc -p tsconfig.build.json", ["build tsconfig.build.json code", ...BUILD]],
    ["tsc --outDir /etc", ["build /etc", ...BUILD]],
    ["eslint src --max-warnings=0", ["read src tree", ...BUILD]],
    ["eslint -c /tmp/x.js src", ["build /tmp/x.js code", "read src tree", ...BUILD]],
    ["prettier --check .", ["read . tree", ...BUILD]],
    ["biome check --write src", ["read src tree", "write src tree", ...BUILD]],
    ["jest -t name --coverage", BUILD],
    ["playwright test a.spec.ts --grep API: --reporter=list", BUILD],
    ["next build --no-lint", BUILD],
    ["turbo run build test", BUILD],
    ["turbo run deploy", [...BUILD, "run cwd tree"]],
    ["nx test web", BUILD],
    ["yarn workspace web build", BUILD],
    ["vite", ["run cwd tree"]],
    ["vite build", BUILD],
    ["vite -c /tmp/x build", ["run /tmp/x code", ...BUILD]],
    ["webpack serve", ["read serve tree", ...BUILD, "run cwd tree"]],
    ["npx --no-install tsx src/a.ts", [...BUILD, "run cwd tree", "run src/a.ts code"]],
    ["npm ls", ["read cwd tree"]],
    ["npm pkg get name", ["read cwd"]],
    ["npm config get registry", ["read cwd"]],
    ["npm run", ["read cwd tree"]],
    ["npm -v", ["read"]],
    ["npm run dev", ["run cwd tree"]],
    ["npm start", ["run cwd tree"]],
    ["npm run build:publish", ["run cwd tree"]],
    ["npm run deploy", ["run cwd tree"]],
    ["pnpm dev", ["run cwd tree"]],
    ["bun run src/cli.ts tasks", ["run src/cli.ts code"]],
    ["bun src/cli.ts tasks", ["run src/cli.ts code"]],
    ["bun run test-workspace.ts", ["run test-workspace.ts code"]],
    ["./node_modules/.bin/tsc --noEmit", ["build ./node_modules/.bin/tsc code", "build cwd tree"]],
    ["./node_modules/.bin/cat README.md", ["run ./node_modules/.bin/cat code"]],
    ["npm install", ["install cwd tree"]],
    ["npm ci", ["install cwd tree"]],
    ["yarn", ["install cwd tree"]],
    ["bun add x", ["install cwd tree"]],
    ["npm outdated", ["network cwd tree"]],
    ["npm publish", ["network cwd tree"]],
    ["yarn info x", ["network cwd tree"]],
    ["npm --prefix /p2 test", ["read /p2 tree", "build /p2 tree"]],
    ["npm test --prefix=/p2", ["read /p2 tree", "build /p2 tree"]],
    ["pnpm -C /p2 build", ["read /p2 tree", "build /p2 tree"]],
    ["pnpm -C/p2 build", ["read /p2 tree", "build /p2 tree"]],
    ["yarn --cwd /p2 test", ["read /p2 tree", "build /p2 tree"]],
    ["bun --cwd /p2 test", ["read /p2 tree", "build /p2 tree"]],
    ["npm test -- --config=/etc/x", [...BUILD, "read /etc/x"]],
    ["npm run build -- ../../x", [...BUILD, "read ../../x"]],
  ])("%s is told by what it touches", (line, lines) => {
    expect(told(line)).toEqual(lines);
  });

  it.each([
    "npm test --script-shell=./x",
    "npm test --script-sh ./x",
    "npm --userconfig x test",
    "npm --node-options=--require=./x test",
    "npm test --evil",
    "npm config set script-shell ./x",
    "npm config set registry x",
    "npm pkg set a=b",
    "npm set x y",
    "npm version patch",
    "npm frobnicate",
    "npm run <?>",
    "npm exec -c id",
    "npm exec -y tsc",
    "pnpm dlx x",
    "pnpm exec x",
    "pnpm --script-shell ./x test",
    "pnpm -c exec id",
    "pnpm config set x y",
    "yarn dlx x",
    "yarn workspaces foreach run build",
    "bun x tsc",
    "bun -e 1",
    "bun --preload ./x test",
    "bun test --preload=./x",
    "npx cowsay",
    "npx -y tsc",
    "npx --yes tsc",
    "npx -p typescript tsc",
    "npx --package=x tsc",
    "npx tsc@5.0",
    "npx ./x",
    "npx -c id",
    "bunx cowsay",
    "eslint --rulesdir x src",
    "eslint --plugin x src",
    "eslint --parser=./x src",
    "eslint --resolve-plugins-relative-to /tmp src",
    "eslint -f ./x.js src",
    "prettier --plugin=./x .",
    "jest --runner ./x",
    "jest --testEnvironment=./x",
    "jest --reporters=./x",
    "mocha -r ./x",
    "mocha --require=./x",
    "mocha -R ./x",
    "vitest --reporter=./x.js",
    "vitest --environment ./x.js",
    "vitest --pool=./x",
    "playwright test --reporter=/tmp/x.js",
    'jest -c \'{"globalSetup":"/tmp/x.js"}\'',
    "vitest --api 8080",
    "vitest --ui",
    "playwright test --ui",
    "markdownlint -r ./x README.md",
    "tsc --init",
    "next --x",
  ])("%s lifts", (line) => {
    expect(lifts(line, ["*"]).length).toBeGreaterThan(0);
  });

  it("npx passes only for a tool that is sure to be installed", () => {
    expect(lifts("npx tsc --noEmit", ["tsc"])).toEqual([]);
    expect(lifts("npx tsc --noEmit", ["*"])).toEqual([]);
    expect(lifts("npm exec -- tsc --noEmit", ["tsc"])).toEqual([]);
    expect(lifts("npx tsc --noEmit", undefined)).toEqual([
      "it is not known whether tsc is installed in the project",
    ]);
    expect(lifts("npx tsc --noEmit", ["eslint"])).toEqual([
      "tsc is not installed in the project: npx would fetch it",
    ]);
  });
});
