/** What every build, test and lint verb has in common. */

import type { Form } from "./spec.ts";

/** It runs the project's own code and writes its results in the folder where it starts; operands are read. */
export const build: Form = { class: "build", inCwd: "write", operands: "tree" };
export const RUNS = "runs a program";
export const LOADS = "loads code from elsewhere";
export const FETCHES = "fetches from a registry";
export const SERVES = "starts a server";
