/** Which hosts are the sandbox itself. */

/** Whether a host name or address never leaves the sandbox's own network. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\])$/i.test(host);
}
