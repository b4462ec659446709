/** How the tests are run: unit tests side by side, Docker tests one file at a time. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/docker/**", "**/node_modules/**"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "docker",
          include: ["test/docker/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
