/** What a profile says about the network: which hosts an approved command may reach, and which secrets go along. */
import { z } from "zod";
import { parseHostRule } from "../policy/hosts.ts";

const host = z
  .string()
  .max(300)
  .superRefine((text, context) => {
    const { refused } = parseHostRule(text);
    if (refused !== undefined) {
      context.addIssue({ code: "custom", message: `${JSON.stringify(text)}: ${refused}` });
    }
  });

const hosts = z.array(host).max(1024);

/** Headers that say where a request goes, how long it is or how it is framed are the proxy's own. */
const header = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, { error: "must be the name of a header" })
  .refine(
    (name) =>
      !/^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i.test(
        name,
      ),
    { error: "is the proxy's own" },
  );

const inject = z.strictObject({
  host: host.describe("Requests to this host carry the header, whatever the command put there."),
  header: header.describe("Name of the header, such as Authorization."),
  valueFrom: z
    .string()
    .max(4096)
    .startsWith("/", { error: "must be an absolute path" })
    .describe("An admin's file that holds the whole value; read when a command starts."),
});

const settings = z.strictObject({
  ask: z
    .boolean()
    .optional()
    .describe("Hosts that are not listed may be asked about; else they are refused."),
  hosts: hosts
    .optional()
    .describe(
      "Hosts that an approved command reaches without another question: `example.org`, `*.example.org` (one label), `**.example.org`, each with `:PORT` where that is not 80 and 443.",
    ),
  methods: z
    .array(z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]))
    .min(1)
    .optional()
    .describe("Methods of the requests that the proxy can see: plain HTTP, and `intercept`."),
  intercept: hosts
    .optional()
    .describe(
      "HTTPS hosts that the proxy looks into, with certificates of the daemon's own authority, which sandboxes then trust.",
    ),
  inject: z
    .array(inject)
    .max(64)
    .optional()
    .describe("Headers whose value only the proxy knows; for plain HTTP and `intercept`."),
});

export const network = z.union([z.literal("none"), settings], {
  error: "must be none, or ask, hosts, methods, intercept and inject",
});
export type NetworkFile = z.output<typeof network>;

/** null: nothing is reached from this sandbox. */
export type NetworkSettings = {
  readonly ask: boolean;
  readonly hosts: readonly string[];
  /** null: all. */
  readonly methods: readonly string[] | null;
  readonly intercept: readonly string[];
  readonly inject: readonly {
    readonly host: string;
    readonly header: string;
    readonly valueFrom: string;
  }[];
} | null;

export function networkOf(file: unknown): NetworkSettings {
  if (file === "none") return null;
  const { ask, hosts, methods, intercept, inject } = file as Exclude<NetworkFile, "none">;
  return {
    ask: ask ?? false,
    hosts: hosts ?? [],
    methods: methods ?? null,
    intercept: intercept ?? [],
    inject: inject ?? [],
  };
}
