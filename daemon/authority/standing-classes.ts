/** Which classes of a profile's standing permission an effect of an envelope may need. */
import type { StandingClass } from "../policy/types.ts";
import type { GrantableEffect } from "./types.ts";

/** Any of them lets something of the effect through. The network of the sandbox itself is all there is of it. */
export const STANDING_CLASSES: Readonly<Record<GrantableEffect, readonly StandingClass[]>> = {
  read: ["read"],
  write: ["write", "scratch"],
  run: ["build", "run"],
  "git-write": ["git-write"],
  network: ["loopback"],
  install: [],
};
