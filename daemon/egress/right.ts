/** The right that a way out of a sandbox rests on: one command's, for the hosts it names, until it ends. */
import type { HostRule } from "../policy/hosts.ts";

/** A header whose value only the proxy knows. */
export interface Injection {
  readonly host: HostRule;
  /** Lower case. */
  readonly header: string;
  readonly value: string;
}

export interface EgressRight {
  /** Of the authority; revoking it cuts whatever lives on it. */
  readonly id: string;
  readonly project: string;
  readonly session: string;
  /** What else each journal entry says: the action and exec it belongs to. */
  readonly data: Readonly<Record<string, unknown>>;
  /** As they are at this moment: rules may be revoked while it lives. */
  readonly hosts: () => readonly HostRule[];
  /** Why a host is not to be had, whatever names it and whoever is asked; null: nothing is against it. */
  readonly denies?: (host: string) => string | null;
  /** Methods of HTTP requests that the proxy can see; null: all. */
  readonly methods: readonly string[] | null;
  /** Unix milliseconds; null: as long as its command. */
  readonly expires: number | null;
  /** Asks a person about a host that is not named; null: allowed, else why not. Absent: nobody is asked. */
  readonly ask?: (host: string, port: number) => Promise<string | null>;
  readonly injections: readonly Injection[];
  /** HTTPS hosts that the proxy looks into, with the daemon's own certificates. */
  readonly intercepted: readonly HostRule[];
}
