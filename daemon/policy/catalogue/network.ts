/** Verbs that reach a network. What surely stays on the sandbox's own loopback is told apart by host. */

import type { Word } from "../shell/segment.ts";
import { type Draft, literal, reads, under, use, writes } from "./draft.ts";
import { isLoopback } from "./loopback.ts";
import { asks } from "./packages.ts";
import { type Form, given, lastValue, type ParsedForm, textOf, type VerbSpec } from "./spec.ts";

/**
 * The host of a URL or `host:port/path` as an HTTP client reads it, or null when readings could differ: other schemes,
 * globs, escapes and anything odd before the path.
 */
export function hostOf(url: string): string | null {
  const match =
    /^(?:https?:\/\/)?(?:[\w.~-]+(?::[\w.~-]*)?@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:[/?#][^\s\\\x00-\x1f]*)?$/.exec(
      url,
    );
  return match?.[1] ?? null;
}

/** The text of a URL as far as its host goes: what a wildcard or a variable adds comes after the host. */
function urlText(word: Word | null): string {
  const value = word?.value;
  if (value?.kind === "literal") return value.value;
  if (value?.kind === "glob") return value.pattern;
  if (value?.kind !== "unknown" || value.many) return "";
  return /^https?:\/\/[^/]+\//.exec(value.prefix)?.[0] ?? "";
}

/** Adds the network use of each URL: loopback when its host surely is, else the network. */
function urls(words: readonly (Word | null)[], draft: Draft, leaves: boolean): void {
  if (words.length === 0) use(draft, "network", draft.form);
  for (const word of words) {
    const host = hostOf(urlText(word));
    if (host === null) use(draft, "network", draft.form);
    else if (!leaves && (isLoopback(host) || host === "0.0.0.0"))
      use(draft, "loopback", draft.form, { host });
    else use(draft, "network", draft.form, { host });
  }
}

/** Writes files named as the last part of each URL's path, in `folder`. */
function writesNames(words: readonly (Word | null)[], folder: Word | null, draft: Draft): void {
  if (words.length === 0) use(draft, "write", draft.form, { cwd: true });
  for (const word of words) {
    const url = textOf(word)?.replace(/^\w+:\/\//, "") ?? "*";
    const name = /^[^/?#]*(?:\/[^?#]*)?\/([^/?#]+)/.exec(url)?.[1] ?? "index.html";
    if (/[*{[%]/.test(url)) draft.lifts.push(`which file ${draft.form} writes is not sure`);
    else writes(draft, under(folder, literal(name)), "named by the address");
  }
}

/** `-o -` and `-O -` are the standard output of these clients. */
function dropStdout(draft: Draft): void {
  for (let i = draft.uses.length - 1; i >= 0; i -= 1)
    if (textOf(draft.uses[i]?.path) === "-") draft.uses.splice(i, 1);
}

const ROUTES = "reaches another host than the address says";
const FILES = "takes options, names or secrets from a file";

/** Values that name a file to send when they begin with `@` (and `<` in forms). */
function sends(parsed: ParsedForm, draft: Draft): void {
  for (const { name, value } of parsed.options) {
    if (value === null) continue;
    const text = textOf(value);
    const file = (pattern: RegExp): void => {
      const path = text === null ? null : pattern.exec(text)?.[1];
      if (text === null) draft.lifts.push(`what ${name} of ${draft.form} sends is not known`);
      else if (path !== undefined && path !== null && path !== "-")
        reads(draft, literal(path), name);
    };
    if (/^(-d|--data|--data-ascii|--data-binary|--json|-H|--header|--proxy-header)$/.test(name))
      file(/^@(.*)$/s);
    else if (name === "--data-urlencode" || name === "--url-query") file(/^[^=]*?@(.*)$/s);
    else if (name === "-F" || name === "--form") file(/^[^=]*=(?:[@<])([^;,]*)/s);
    else if ((name === "-b" || name === "--cookie") && !(text ?? "").includes("="))
      reads(draft, value, name);
    else if (name === "-w" || name === "--write-out") {
      file(/^@(.*)$/s);
      if (/%\s*output|%\{\s*(?:output|stderr)/.test(text ?? "%output"))
        draft.lifts.push(`${name} of ${draft.form} can write a file`);
    }
  }
}

const curl: Form = {
  flags:
    "-s --silent -S --show-error -i --include -I --head -v --verbose -f --fail --fail-with-body --fail-early -X= --request= " +
    "-H= --header= -A= --user-agent= -u= --user= -m= --max-time= --connect-timeout= -w= --write-out= -G --get -k --insecure " +
    "-N --no-buffer --retry= --retry-delay= --retry-connrefused --retry-all-errors --retry-max-time= -# --progress-bar " +
    "--no-progress-meter --compressed -4 --ipv4 -6 --ipv6 -0 --http1.0 --http1.1 --http2 --http2-prior-knowledge -e= " +
    "--referer= -r= --range= --raw --path-as-is -g --globoff --json= -d= --data= --data-ascii= --data-binary= " +
    "--data-urlencode= --data-raw= --url-query= -F= --form= --form-string= -b= --cookie= --url= --tcp-nodelay --limit-rate= " +
    "--max-filesize= --max-redirs= --oauth2-bearer= --basic --digest --anyauth --noproxy= -L --location --location-trusted " +
    "-Z --parallel --no-keepalive --keepalive-time= -q --disable --http0.9 --expect100-timeout= --trace-time -a --append " +
    "-j --junk-session-cookies --styled-output --no-styled-output --create-dirs -O --remote-name -C= --continue-at=",
  reads:
    "-T= --upload-file= --cacert= --capath= -E= --cert= --key= --etag-compare= -z= --time-cond=",
  writes:
    "-o= --output= --output-dir= -D= --dump-header= -c= --cookie-jar= --trace= --trace-ascii= --stderr= --libcurl= --etag-save= --hsts= --alt-svc=",
  lifts: {
    [ROUTES]:
      "-x= --proxy= --preproxy= --socks4= --socks4a= --socks5= --socks5-hostname= --resolve= --connect-to= --unix-socket= " +
      "--abstract-unix-socket= --interface= --doh-url= --dns-servers= --haproxy-protocol",
    [FILES]:
      "-K= --config= -n --netrc --netrc-file= --netrc-optional --variable= -J --remote-header-name --engine=",
    "speaks to a server by commands":
      "-Q= --quote= -t= --telnet-option= --mail-from= --mail-rcpt= -P= --ftp-port=",
  },
  operands: "data",
  class: "loopback",
  refined: true,
  help: "--help --version -V -h --manual",
};

const listens = "waits for connections or runs a program for them";

/** Host and port as operands. */
function hostAndPort(parsed: ParsedForm, draft: Draft): void {
  urls(parsed.operands.slice(0, 1), draft, false);
}

/** A command that asks by its class; only questions about itself pass. */
function known(names: string, help = "--version --help -h"): VerbSpec {
  return { ...asks("network"), names: names.split(" "), help, examples: [] };
}

/** A client of a database: loopback when it names no other host. It can run programs and files by its own commands. */
function client(names: string, hosts: string, more: Form): VerbSpec {
  return {
    ...more,
    names: names.split(" "),
    operands: "data",
    class: "loopback",
    refined: true,
    refine: (parsed, draft) => {
      const host = lastValue(parsed, hosts);
      const uri = parsed.operands.find((word) => /[:/@=]/.test(textOf(word) ?? ":"));
      const named = host ?? uri;
      const text = textOf(named);
      const address =
        text === null
          ? null
          : (/^\w+:\/\/(?:[^@/]*@)?(\[[\w:]+\]|[\w.-]+)(?:[:/?][^@]*)?$/.exec(text)?.[1] ?? text);
      const here =
        named === undefined || named === null || (address !== null && isLoopback(address));
      use(
        draft,
        here ? "loopback" : "network",
        draft.form,
        address === null ? {} : { host: address },
      );
      use(draft, "run", draft.form, { cwd: true, tree: true });
    },
    examples: [],
  };
}

export const network: readonly VerbSpec[] = [
  {
    ...curl,
    names: ["curl"],
    note: "loopback when every URL is, and no redirect is followed",
    refine: (parsed, draft) => {
      const named = parsed.options.flatMap(({ name, value }) => (name === "--url" ? [value] : []));
      urls(
        [...parsed.operands, ...named],
        draft,
        given(parsed, "-L --location --location-trusted"),
      );
      if (given(parsed, "-O --remote-name"))
        writesNames([...parsed.operands, ...named], lastValue(parsed, "--output-dir"), draft);
      sends(parsed, draft);
      dropStdout(draft);
    },
    examples: ["curl --version"],
  },
  {
    names: ["wget"],
    note: "loopback when every URL is, and `--max-redirect=0` is given",
    class: "loopback",
    refined: true,
    flags:
      "-q --quiet -v --verbose --no-verbose -S --server-response --spider -T= --timeout= -t= --tries= --header= -U= " +
      "--user-agent= --method= --body-data= --post-data= --no-check-certificate --max-redirect= -c --continue -N " +
      "--timestamping -4 -6 --no-cookies --no-proxy --retry-connrefused --waitretry= -w= --wait= --limit-rate= " +
      "--content-on-error --show-progress --progress= -n= --no-clobber --no-hsts",
    reads: "--post-file= --body-file= --load-cookies= --ca-certificate=",
    writes:
      "-O= --output-document= -P= --directory-prefix= -o= --output-file= -a= --append-output= --save-cookies= --hsts-file=",
    lifts: {
      [FILES]:
        "-i= --input-file= -e= --execute= --config= --use-askpass= --warc-file= --content-disposition",
      [ROUTES]:
        "-r --recursive -m --mirror -p --page-requisites -H --span-hosts --bind-address= -l= --level= -k -K",
    },
    operands: "data",
    help: "--help --version -V -h",
    refine: (parsed, draft) => {
      urls(parsed.operands, draft, textOf(lastValue(parsed, "--max-redirect")) !== "0");
      if (!given(parsed, "-O --output-document --spider"))
        writesNames(parsed.operands, lastValue(parsed, "-P --directory-prefix"), draft);
      dropStdout(draft);
    },
    examples: ["wget --version"],
  },
  {
    names: ["nc", "ncat", "netcat"],
    flags: "-z -v -vv -n -u -4 -6 -w= -q= -N -C -i= -d -t",
    lifts: {
      [listens]: "-l -k -e= -c= --exec= --sh-exec= --lua-exec= -L --listen",
      [ROUTES]: "-x= -X= --proxy= -U -s= -p= -g= -G= --ssl",
    },
    operands: "data",
    refine: hostAndPort,
    help: "--help --version -h",
    examples: [],
  },
  {
    names: ["ping", "ping6"],
    flags: "-c= -i= -W= -w= -n -q -4 -6 -s= -t= -v -D -O",
    operands: "data",
    refine: hostAndPort,
    help: "-V -h --help",
    examples: [],
  },
  {
    names: ["rsync"],
    note: "between local folders a write, else the network",
    flags:
      "-a --archive -v --verbose -h --human-readable -n --dry-run -r --recursive -z --compress -t --times -p --perms -P " +
      "--progress --partial --stats -i --itemize-changes -u --update -c --checksum -q --quiet --exclude= --include= -C " +
      "--cvs-exclude --ignore-existing --existing --size-only -W --whole-file -m --prune-empty-dirs --info= -l --links -H -x",
    reads: "--exclude-from= --include-from= --files-from=",
    writes: "--log-file= --backup-dir= -T= --temp-dir= --partial-dir=",
    lifts: {
      "runs a program": "-e= --rsh= --rsync-path= --daemon --config=",
      "removes files":
        "--delete --delete-after --delete-before --delete-during --delete-excluded --remove-source-files --force",
      "follows links": "-L --copy-links -k --copy-dirlinks -K --keep-dirlinks",
    },
    operands: "data",
    help: "--help --version -V",
    refine: (parsed, draft) => {
      const remote = parsed.operands.some((word) => /^[^/]*:|^rsync:/.test(textOf(word) ?? ":"));
      if (remote) use(draft, "network", draft.form);
      for (const [at, path] of parsed.operands.entries()) {
        if (/^[^/]*:/.test(textOf(path) ?? "")) continue;
        if (at > 0 && at === parsed.operands.length - 1)
          writes(draft, path, "operand", { tree: true });
        else reads(draft, path, "operand", { tree: true });
      }
    },
    examples: ["rsync --version"],
  },
  client("psql pg_dump pg_restore pg_isready createdb dropdb", "-h --host", {
    flags:
      "-h= --host= -p= --port= -U= --username= -d= --dbname= -w --no-password -W --password -c= --command= -l --list -t --tuples-only -A --no-align -q --quiet -X --no-psqlrc -x --expanded -1 --single-transaction -v= --set= -F= -P= -s --schema-only -a --data-only --if-exists -e -E -n=",
    codes: "-f= --file=",
    writes: "-o= --output= -L= --log-file=",
    help: "--version -V --help -?",
  }),
  client("mysql mariadb mysqldump mysqladmin", "-h --host", {
    flags:
      "-h= --host= -P= --port= -u= --user= -p=? --password=? -D= --database= -e= --execute= -N -s --silent -B --batch -t --table -v --verbose -r --raw -A --protocol= --no-data -d --skip-column-names",
    lifts: {
      [FILES]:
        "--defaults-file= --defaults-extra-file= -S= --socket= --plugin-dir= --init-command= --tee= --pager=",
    },
    help: "--version -V --help -?",
  }),
  client("redis-cli mongosh mongo", "-h --host -u", {
    flags:
      "-h= --host= -p= --port= -n= -a= --raw --no-raw --quiet --eval= --no-auth-warning --csv --json -u= --scan --pattern= --stat --latency",
    lifts: { [FILES]: "-x --pipe --rdb= -s= --nodb --shell --cluster= --tlsCertificateKeyFile=" },
    help: "--version -v --help",
  }),
  known(
    "http https xh httpie aria2c axel yt-dlp youtube-dl lynx w3m links elinks ftp sftp lftp tftp telnet mosh",
  ),
  known(
    "ssh scp ssh-keyscan ssh-copy-id autossh sshfs socat nmap traceroute tracepath mtr iperf3 whois",
    "--version -V --help -h",
  ),
  known("dig nslookup host resolvectl drill", "-v -V -h --help --version"),
  known("gh glab hub tea", "--version --help -h version help"),
  known(
    "aws gcloud gsutil bq az heroku vercel netlify fly flyctl firebase doctl wrangler supabase railway linode-cli oci s3cmd rclone sentry-cli snyk codecov ngrok cloudflared wrk ab hey k6 mail sendmail mutt",
  ),
];
