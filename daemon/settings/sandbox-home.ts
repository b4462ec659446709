/** Folders that are the same in every sandbox: the policy judges by them and the sandbox is made with them. */

/** HOME of every command: a read-only skeleton. */
export const SANDBOX_HOME = "/home/agent";
/** The one folder of the home that can be written. */
export const SANDBOX_CACHE = `${SANDBOX_HOME}/.cache`;
export const SANDBOX_TMP = "/tmp";
/** What a command may use as scratch. */
export const SANDBOX_SCRATCH: readonly string[] = [SANDBOX_TMP, SANDBOX_CACHE];
