/** Safety patterns: databases and infrastructure, where one line drops what no backup of the worktree holds. */
import type { SafetyPattern } from "./safety.ts";
import type { Segment, WordValue } from "./shell/segment.ts";
import type { Argv, SegmentView } from "./view.ts";

const SQL_CLIENTS = [
  "psql",
  "mysql",
  "mariadb",
  "sqlite3",
  "sqlite",
  "duckdb",
  "clickhouse-client",
  "clickhouse",
  "sqlcmd",
  "sqlplus",
  "usql",
  "pgcli",
  "mycli",
  "litecli",
  "cockroach",
  "bq",
  "snowsql",
  "trino",
  "presto",
  "beeline",
  "isql",
  "cqlsh",
  "influx",
  "d1",
  "supabase",
];

function textsOf(value: WordValue): readonly string[] {
  if (value.kind === "literal") return [value.value];
  if (value.kind === "oneOf") return value.values;
  return value.kind === "unknown" ? [value.prefix] : [];
}

/** All text that reaches the client: its arguments, its here-documents, and what literal echoes pipe into it. */
function sqlTexts(argv: Argv, view: SegmentView): readonly string[] {
  const words = argv.slice(1).filter((word): word is string => word !== null);
  // `-e"DROP …"` is one word with the statement attached.
  const texts = words.flatMap((word) =>
    /^-[A-Za-z]./.test(word) ? [word, word.slice(2)] : [word],
  );
  const visit = (segment: Segment, depth: number): void => {
    for (const { body } of segment.redirects) if (body !== undefined) texts.push(...textsOf(body));
    const { stdin } = segment;
    if (stdin.kind === "text") texts.push(...textsOf(stdin.body));
    if (stdin.kind !== "pipe" || depth > 8) return;
    for (const index of stdin.from) {
      const from = view.segments[index];
      if (from === undefined) continue;
      texts.push(...from.words.slice(1).flatMap((word) => textsOf(word.value)));
      visit(from, depth + 1);
    }
  };
  visit(view.segment, 0);
  return texts;
}

/** SQL without comments and without the inside of strings, so that a name in a string is no statement. One pass. */
function bareSql(text: string): string {
  let bare = "";
  let from = 0;
  const skipTo = (at: number, end: number, put: string): void => {
    bare += text.slice(from, at) + put;
    from = end;
  };
  for (let at = 0; at < text.length; at++) {
    if (at < from) continue;
    const two = text.slice(at, at + 2);
    if (two === "/*" || two === "--" || text[at] === "'") {
      const [closing, size, put] =
        two === "/*" ? ["*/", 2, " "] : two === "--" ? ["\n", 1, " "] : ["'", 1, "''"];
      const end = text.indexOf(closing as string, at + (two === "/*" || two === "--" ? 2 : 1));
      // What is never closed is looked at as it is: better one question too many.
      if (end < 0 && two !== "--") break;
      skipTo(at, end < 0 ? text.length : end + (size as number), put as string);
    }
  }
  return (bare + text.slice(from)).replace(/\s+/g, (blanks) =>
    blanks.includes("\n") ? "\n" : " ",
  );
}

function sql(test: (statement: string) => boolean): SafetyPattern["test"] {
  return (argv, view) =>
    sqlTexts(argv, view).some((text) =>
      bareSql(text)
        .split(";")
        .some((s) => test(s.trim())),
    );
}

/** A condition that is true of every row. */
function trueOfAll(condition: string): boolean {
  return /^[(\s]*(?:true|not\s(?:false|0)|(\d+|'')\s?(?:=|<=|>=|==)\s?\1|[1-9]\d*|1\s?(?:<>|!=)\s?[02-9]|(\w+)\s?=\s?\2|\w+\sis\snot\snull)[)\s]*(?:$|(?:or|limit|order|returning)\b)/i.test(
    condition,
  );
}

function withoutCondition(statement: string, verb: RegExp): boolean {
  const found = verb.exec(statement);
  if (found === null) return false;
  const rest = statement.slice(found.index + found[0].length);
  const where = /\bwhere\b([\s\S]*)$/i.exec(rest);
  return (
    where === null ||
    trueOfAll(where[1] ?? "") ||
    /\bor\s+(?:true|1\s*=\s*1|'')\b/i.test(where[1] ?? "")
  );
}

/** Options of a container engine that open the host to what runs. */
const HOST_REACH =
  /^--privileged|^--cap-add|^--device|^--(?:pid|net|network|ipc|uts|userns)=host$|^-v\/|^--volume=\//;

export const DATA_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "sql-drop",
    reason: "drops tables, databases or other objects",
    verbs: SQL_CLIENTS,
    test: sql((s) =>
      /\bdrop\s+(?:table|database|schema|index|view|user|role|column|materialized|sequence|function|trigger|type|keyspace|owned|tablespace|collection|measurement|extension)\b/i.test(
        s,
      ),
    ),
    match: [
      "psql -c 'DROP TABLE users'",
      "sqlite3 a.db 'drop table if exists x'",
      'mysql -e"DROP DATABASE x"',
      "echo 'DROP TABLE x;' | psql",
      "psql <<EOF\nDROP SCHEMA public CASCADE;\nEOF",
    ],
    not_match: [
      "psql -c 'select 1'",
      "grep -rn 'DROP TABLE' src",
      "sqlite3 a.db \"select 'drop table x'\"",
    ],
  },
  {
    id: "sql-truncate",
    reason: "empties tables",
    verbs: SQL_CLIENTS,
    test: sql((s) => /^\s*truncate\b/i.test(s) || /\btruncate\s+(?:table\s+)?["`\w]/i.test(s)),
    match: ["psql -c 'TRUNCATE users'", "mysql db -e 'truncate table x'", "mysql <<< 'TRUNCATE x'"],
    not_match: ["psql -c 'select trunc(1.5)'", "grep TRUNCATE x"],
  },
  {
    id: "sql-delete-all",
    reason: "deletes rows without a real condition",
    verbs: SQL_CLIENTS,
    test: sql((s) => withoutCondition(s, /\bdelete\s+from\s+["`.\w]+/i)),
    match: [
      "psql -c 'DELETE FROM users'",
      "sqlite3 a.db 'delete from t where 1=1'",
      "mysql -e 'DELETE FROM x WHERE true'",
      "psql -c 'delete from a where id = id'",
    ],
    not_match: ["psql -c 'DELETE FROM users WHERE id = 4'", "grep 'DELETE FROM' x"],
  },
  {
    id: "sql-update-all",
    reason: "changes rows without a real condition",
    verbs: SQL_CLIENTS,
    test: sql((s) => withoutCondition(s, /^\s*update\s+["`.\w]+\s+set\b/i)),
    match: ["psql -c 'UPDATE users SET admin = true'", "sqlite3 a.db 'update t set x=1 where 1=1'"],
    not_match: [
      "psql -c 'UPDATE users SET a = 1 WHERE id = 4'",
      "sqlite3 a.db 'select * from updates'",
    ],
  },
  {
    id: "sql-shell",
    reason: "runs programs or writes files from inside a database client",
    verbs: SQL_CLIENTS,
    test: sql((s) =>
      /(?:^|\n)\s*(?:\\!|\.(?:shell|system|load|output|once|import|excel)\b|system\b)|\bfrom\sprogram\b|\bto\sprogram\b|\binto\s+(?:outfile|dumpfile)\b|\bload_extension\s*\(|\bxp_cmdshell\b|\bpg_read_file\b/i.test(
        s,
      ),
    ),
    match: [
      "sqlite3 a.db '.shell id'",
      "psql -c '\\! id'",
      "psql -c \"COPY t FROM PROGRAM 'id'\"",
      "mysql -e \"select 1 into outfile '/tmp/x'\"",
    ],
    not_match: ["sqlite3 a.db .tables", "sqlite3 a.db 'select 1'"],
  },
  {
    id: "drop-database",
    reason: "drops a whole database or store",
    verbs: [
      "dropdb",
      "dropuser",
      "mysqladmin",
      "redis-cli",
      "mongo",
      "mongosh",
      "etcdctl",
      "pg_resetwal",
      "rabbitmqctl",
      "kafka-topics.sh",
      "valkey-cli",
    ],
    test: (argv, view) =>
      /^drop|^pg_/.test(argv[0] ?? "") ||
      sqlTexts(argv, view).some((text) =>
        /\b(?:flushall|flushdb|dropDatabase|(?:deleteMany|remove)\s?\(\s?(?:\{\s?\}\s?)?\)|\.drop\s?\(|drop|reset|delete_vhost)\b|^(?:del|--delete)$|^unlink$/i.test(
          text.replace(/\s+/g, " "),
        ),
      ),
    match: [
      "dropdb app",
      "redis-cli FLUSHALL",
      "redis-cli -n 1 flushdb",
      "mongosh --eval 'db.dropDatabase()'",
      "mysqladmin drop x",
      "etcdctl del / --prefix",
    ],
    not_match: ["redis-cli get x", "mongosh --eval 'db.users.find()'"],
  },
  {
    id: "framework-reset",
    reason: "resets or drops the database of an application",
    verbs: [
      "prisma",
      "rails",
      "rake",
      "bin/rails",
      "manage.py",
      "alembic",
      "sequelize",
      "sequelize-cli",
      "knex",
      "typeorm",
      "drizzle-kit",
      "artisan",
      "mix",
      "npx",
      "pnpm",
      "yarn",
      "bundle",
      "python",
      "python3",
      "php",
    ],
    test: (argv) =>
      argv.some(
        (word, i) =>
          word !== null &&
          (/^(?:db:(?:drop|reset|purge|migrate:reset|schema:load|wipe)|ecto\.(?:drop|reset)|migrate:(?:fresh|reset|refresh)|schema:drop|flush|reset_db|sqlflush)$/.test(
            word,
          ) ||
            (word === "reset" && argv[i - 1] === "migrate") ||
            word === "--force-reset"),
      ),
    match: [
      "npx prisma migrate reset",
      "rails db:drop",
      "mix ecto.drop",
      "python manage.py flush",
      "php artisan migrate:fresh",
    ],
    not_match: ["rails db:migrate", "mix test", "npx prisma generate"],
  },
  {
    id: "destroy-infrastructure",
    reason: "deletes machines, clusters or cloud resources",
    verbs: [
      "terraform",
      "tofu",
      "terragrunt",
      "pulumi",
      "cdk",
      "kubectl",
      "oc",
      "helm",
      "aws",
      "gcloud",
      "gsutil",
      "az",
      "doctl",
      "heroku",
      "fly",
      "flyctl",
      "vagrant",
      "eksctl",
      "ansible",
      "ansible-playbook",
      "serverless",
      "sls",
      "wrangler",
      "vercel",
      "netlify",
      "s3cmd",
      "mc",
    ],
    test: (argv) =>
      argv.some(
        (word, i) =>
          i > 0 &&
          word !== null &&
          /^(?:-?-?destroy|delete|delete-.*|rm|rb|remove|terminate-.*|uninstall|drain|apps:destroy|pg:reset|purge|-?-auto-approve)$/.test(
            word,
          ),
      ),
    match: [
      "terraform destroy -auto-approve",
      "terraform apply -auto-approve",
      "kubectl delete ns x",
      "helm uninstall x",
      "aws s3 rm s3://b --recursive",
      "gcloud compute instances delete x",
    ],
    not_match: [
      "terraform plan",
      "terraform validate",
      "kubectl get pods",
      "kubectl config view",
      "aws --version",
    ],
  },
  {
    id: "engine-destroy",
    reason: "starts containers that reach the host, or deletes containers, images or volumes",
    verbs: ["docker", "podman", "nerdctl", "docker-compose", "ctr", "crictl", "buildah"],
    test: (argv) =>
      argv.some(
        (word, i) =>
          i > 0 &&
          word !== null &&
          (/^(?:rm|rmi|prune|kill|swarm|plugin)$/.test(word) ||
            HOST_REACH.test(word) ||
            (/^(?:-v|--volume|--mount)$/.test(argv[i - 1] ?? "") &&
              /^\/|(?:src|source)=\//.test(word)) ||
            (/^(?:-v|--volumes)$/.test(word) && argv.includes("down"))),
      ),
    match: [
      "docker run -v /:/host alpine cat /host/etc/shadow",
      "docker system prune -af",
      "docker rm -f x",
      "docker compose down -v",
      "podman run --privileged x",
    ],
    not_match: [
      "docker ps",
      "docker images",
      "docker --version",
      "docker network ls",
      "docker compose up -d",
      "docker run alpine ls",
    ],
  },
];
