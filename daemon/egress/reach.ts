/** From a host's name to a connection: looked up once, every address checked, one of those dialled and no other. */
import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import {
  EGRESS_ADDRESSES_TRIED_MAX,
  EGRESS_CONNECT_TIMEOUT_MS,
  EGRESS_RESOLVE_TIMEOUT_MS,
} from "../limits.ts";
import {
  type Address,
  type AddressRange,
  parseAddress,
  refusedAddress,
} from "../policy/addresses.ts";

/** What there is of a network; tests pass one of their own. */
export interface NetworkPort {
  /** All addresses of a name, in the order in which to try them. */
  resolve(host: string): Promise<readonly string[]>;
  dial(address: string, port: number): Promise<Socket>;
  /** Addresses of this machine. */
  own(): readonly Address[];
  /** See AddressSettings; empty outside of tests. */
  readonly allowed: readonly AddressRange[];
}

export type Located =
  | { readonly addresses: readonly string[]; readonly refused?: undefined }
  | { readonly refused: string; readonly status: 403 | 502 };

/** The addresses that may be dialled for a host, which is in its one spelling. Never throws. */
export async function locate(host: string, network: NetworkPort): Promise<Located> {
  let addresses: readonly string[];
  try {
    addresses = parseAddress(host) === null ? await inTime(network.resolve(host)) : [host];
  } catch {
    return { refused: `the name ${host} cannot be looked up`, status: 502 };
  }
  if (addresses.length === 0) return { refused: `the name ${host} has no address`, status: 502 };
  const settings = { own: network.own(), allowed: network.allowed };
  for (const text of addresses) {
    const address = parseAddress(text);
    const why = address === null ? "no plain address" : refusedAddress(address, settings);
    // One inside is enough: who answers with both wants the proxy to pick.
    if (why !== null) return { refused: `${host} leads to ${text}: ${why}`, status: 403 };
  }
  return { addresses: addresses.slice(0, EGRESS_ADDRESSES_TRIED_MAX) };
}

/** A connection to the first of them that answers; null: none did. */
export async function dialFirst(
  addresses: readonly string[],
  port: number,
  network: NetworkPort,
): Promise<Socket | null> {
  for (const address of addresses) {
    const socket = await network.dial(address, port).catch(() => null);
    if (socket !== null) return socket;
  }
  return null;
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RangeError("late")), EGRESS_RESOLVE_TIMEOUT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The daemon host's own network. */
export const hostNetwork: NetworkPort = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  dial: (host, port) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, allowHalfOpen: true });
      const timer = setTimeout(
        () => socket.destroy(new RangeError("late")),
        EGRESS_CONNECT_TIMEOUT_MS,
      );
      socket.once("error", reject);
      socket.once("close", () => clearTimeout(timer));
      socket.once("connect", () => {
        clearTimeout(timer);
        socket.off("error", reject);
        resolve(socket);
      });
    }),
  own: () =>
    Object.values(networkInterfaces())
      .flatMap((addresses = []) => addresses)
      .flatMap(({ address }) => [parseAddress(address.replace(/%.*$/, "")) ?? []]),
  allowed: [],
};
