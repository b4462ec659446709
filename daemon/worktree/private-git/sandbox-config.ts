/** The git config that a sandbox sees: what shapes content and names remotes; nothing that runs, nothing secret. */

/** Keys that are copied from the repository's config, by their full lower-case name or `section.*.key`. */
const COPIED = [
  /^core\.(filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|sparsecheckout|sparsecheckoutcone|bigfilethreshold)$/,
  /^extensions\.objectformat$/,
  /^user\.(name|email)$/,
  /^(author|committer)\.(name|email)$/,
  /^init\.defaultbranch$/,
  /^(pull|rebase|merge)\.(rebase|ff|conflictstyle|autostash|autosquash|updaterefs)$/,
  /^branch\..+\.(remote|merge|rebase|description)$/,
  /^remote\..+\.(url|fetch)$/,
  /^submodule\..+\.(url|active)$/,
  /^diff\.(algorithm|renames|renamelimit|mnemonicprefix|noprefix|colormoved)$/,
  /^index\.(version|sparse)$/,
];

/** A url without the user and password in it. scp-like `user@host:path` has no password and stays. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

/** `git config --list -z` of the host's repository → text of a config file. */
export function sandboxConfig(
  hostConfig: string,
  fallbackUser: { name: string; email: string },
): string {
  const settings: [string, string][] = [
    ["core.repositoryformatversion", "0"],
    ["core.bare", "false"],
    ["core.logallrefupdates", "true"],
    ["gc.auto", "0"],
    ["user.name", fallbackUser.name],
    ["user.email", fallbackUser.email],
  ];
  for (const entry of hostConfig.split("\0")) {
    const newline = entry.indexOf("\n");
    if (newline < 0) continue;
    const key = entry.slice(0, newline);
    const value = entry.slice(newline + 1);
    if (!COPIED.some((pattern) => pattern.test(key.toLowerCase()))) continue;
    settings.push([key, key.toLowerCase().endsWith(".url") ? withoutCredentials(value) : value]);
  }
  if (settings.some(([key]) => key === "extensions.objectformat")) {
    settings[0] = ["core.repositoryformatversion", "1"];
  }
  return settings.map(([key, value]) => configLines(key, value)).join("");
}

/** git-config(1), "Syntax": section, optional quoted subsection, key = "value". */
function configLines(key: string, value: string): string {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  const quote = (text: string) =>
    `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}"`;
  const subsection = first === last ? "" : ` ${quote(key.slice(first + 1, last))}`;
  return `[${key.slice(0, first)}${subsection}]\n\t${key.slice(last + 1)} = ${quote(value)}\n`;
}
