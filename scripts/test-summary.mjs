/** Turns vitest's JSON report into the closing line "N passed, N failed, N skipped" and the exit code. */
import { readFileSync } from "node:fs";

const [report, status] = process.argv.slice(2);
let passed = 0;
let failed = 0;
let skipped = 0;
try {
  const result = JSON.parse(readFileSync(report, "utf8"));
  passed = result.numPassedTests;
  failed = result.numFailedTests;
  skipped = result.numPendingTests + (result.numTodoTests ?? 0);
  // A file that breaks before its first test counts: nothing in it was shown to work.
  for (const file of result.testResults) {
    if (file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"))
      failed += 1;
  }
} catch (error) {
  console.error(`the test runner left no report: ${error.message}`);
  failed = 1;
}
// Unhandled errors make vitest fail without a failed test; the closing line must not read as green.
if (status !== "0" && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
