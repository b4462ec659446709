/** Which settings of a git config make a git on the host run a program or read another file. Pure. */

/**
 * Keys whose value names a program or another config: lower case, `*` for a subsection. An alias runs one only when it
 * begins with `!`; a submodule's `update` likewise.
 */
const EXECUTES: readonly RegExp[] = [
  /^core\.(?:fsmonitor|hookspath|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand|worktree|attributesfile)$/,
  /^(?:include|includeif\..*)\.path$/,
  /^filter\..*\.(?:clean|smudge|process)$/,
  /^diff\.(?:external|.*\.(?:command|textconv))$/,
  /^(?:difftool|mergetool|browser|man|guitool)\..*\.(?:cmd|path)$/,
  /^merge\..*\.driver$/,
  /^credential\.(?:.*\.)?helper$/,
  /^gpg\.(?:.*\.)?(?:program|defaultkeycommand)$/,
  /^(?:sequence\.editor|interactive\.difffilter|pager\..*|web\.browser|uploadpack\.packobjectshook)$/,
  /^remote\..*\.(?:uploadpack|receivepack|vcs|proxy)$/,
  /^trailer\..*\.(?:command|cmd)$/,
  /^(?:sendemail\.(?:.*\.)?(?:smtpserver|sendmailcmd|tocmd|cccmd|headercmd)|imap\.tunnel|instaweb\.httpd)$/,
  /^tar\..*\.command$/,
  /^hook\..*\.command$/,
];
const EXECUTES_WITH_BANG = /^(?:alias\..*|submodule\..*\.update)$/;

export interface ConfigEntry {
  /** `section.key` or `section.subsection.key`; section and key in lower case. */
  readonly key: string;
  readonly value: string;
}

/** Keys that run something, in the order of the text, each once. */
export function executingKeys(text: string): readonly string[] {
  return [...new Set(executingEntries(text).map(({ key }) => key))];
}

/** The same with what they say. */
export function executingEntries(text: string): readonly ConfigEntry[] {
  return parseGitConfig(text).filter(({ key, value }) => executes(key.toLowerCase(), value));
}

function executes(key: string, value: string): boolean {
  if (EXECUTES_WITH_BANG.test(key)) return value.startsWith("!");
  // `core.fsmonitor = true` is git's own daemon, and `false` is off: no program of the writer's.
  if (key === "core.fsmonitor") return !/^(?:|true|false|yes|no|on|off|0|1)$/i.test(value);
  return EXECUTES.some((pattern) => pattern.test(key));
}

/** As git reads it: sections, quoted values, `#` and `;` comments, lines continued by a backslash. */
export function parseGitConfig(text: string): readonly ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = "";
  const joined = text.replace(/^\uFEFF/, "").replace(/\\\r?\n/g, "");
  for (let line of joined.split(/\r?\n/)) {
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      const [whole, name = "", sub] = header;
      const subsection = sub === undefined ? "" : `.${sub.replace(/\\(.)/g, "$1")}`;
      section = name.toLowerCase() + subsection;
      // git takes a first setting on the header's own line too.
      line = line.slice(whole.length);
    }
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line);
    if (setting === null || section === "") continue;
    const [, key = "", value = "true"] = setting;
    entries.push({ key: `${section}.${key.toLowerCase()}`, value: unquote(value) });
  }
  return entries;
}

function unquote(raw: string): string {
  let value = "";
  let quoted = false;
  for (let at = 0; at < raw.length; at++) {
    const char = raw.charAt(at);
    if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "#" || char === ";")) break;
    else if (char === "\\") value += raw.charAt(++at);
    else value += char;
  }
  return value.trim();
}
