/** Build tools of the JVM, .NET, Ruby, PHP, Elixir, Swift and Zig, and checkers of files (B5). */
import { expect, test } from "vitest";
import { told } from "./told.ts";

test.each<[string, string[]]>([
  ["mvn -q test", ["build cwd tree"]],
  ["mvn -B verify -DskipTests", ["build cwd tree"]],
  ["mvn test -Dtest=Foo#bar", ["build cwd tree"]],
  ["mvn -f /p2/pom.xml test", ["build /p2/pom.xml code", "build cwd tree"]],
  ["mvn exec:java", ["build cwd tree", "run cwd tree"]],
  ["mvn deploy", ["build cwd tree", "run cwd tree", "network"]],
  ["gradle test --tests x", ["build cwd tree"]],
  ["gradle :app:assemble", ["build cwd tree"]],
  ["gradle -p /p2 test", ["read /p2 tree", "build /p2 tree"]],
  ["gradle publish", ["build cwd tree", "run cwd tree", "network"]],
  ["sbt test", ["build cwd tree"]],
  ["javac -d out A.java", ["build out", "read A.java tree", "build cwd tree"]],
  ["dotnet build -c Release", ["build cwd tree"]],
  ["dotnet test --no-build -l console", ["build cwd tree"]],
  ["dotnet format --verify-no-changes", ["build cwd tree"]],
  ["dotnet run", ["run cwd tree"]],
  ["dotnet restore", ["install cwd tree"]],
  ["mix test", ["build cwd tree"]],
  ["mix format --check-formatted", ["build cwd tree"]],
  ["mix format", ["build cwd tree", "write cwd tree"]],
  ["mix deps.get", ["install cwd tree"]],
  ["mix run x", ["run cwd tree"]],
  ["swift test", ["build cwd tree"]],
  ["zig build test", ["build cwd tree"]],
  ["zig build run", ["build cwd tree", "run cwd tree"]],
  ["zig test a.zig", ["read a.zig tree", "build cwd tree"]],
  ["rspec spec/a_spec.rb -fd", ["read spec/a_spec.rb tree", "build cwd tree"]],
  ["rubocop -A", ["write cwd tree", "build cwd tree"]],
  ["rails test", ["build cwd tree"]],
  ["rails db:migrate", ["run cwd tree"]],
  ["phpunit --filter x", ["build cwd tree"]],
  ["phpstan analyse src", ["read analyse", "read src", "build cwd tree"]],
  ["shellcheck x.sh", ["read x.sh"]],
  ["shfmt -d .", ["read . tree"]],
  ["shfmt -w .", ["read . tree", "write . tree"]],
  ["yamllint .", ["read . tree"]],
  ["sqlite3 a.db 'select 1'", ["read a.db"]],
  ["sqlite3 a.db .tables", ["read a.db"]],
  [
    "mvn -DargLine=-javaagent:x test",
    ["build cwd tree", "lift -DargLine=-javaagent:x of mvn can change what runs or where"],
  ],
  ["mvn -s /tmp/s.xml test", ["build cwd tree", "lift -s of mvn reads settings elsewhere"]],
  [
    "gradle -I /tmp/x.gradle test",
    ["build cwd tree", "lift -I of gradle loads code from elsewhere"],
  ],
  [
    "gradle --init-script=x test",
    ["build cwd tree", "lift --init-script of gradle loads code from elsewhere"],
  ],
  [
    "gradle --init x test",
    ["build cwd tree", "lift --init-script of gradle loads code from elsewhere"],
  ],
  [
    "gradle -Dorg.gradle.java.home=/x test",
    ["build cwd tree", "lift -Dorg.gradle.java.home=/x of gradle can change what runs or where"],
  ],
  [
    "javac -processorpath x A.java",
    [
      "read A.java tree",
      "build cwd tree",
      "lift -processorpath of javac loads code from elsewhere",
    ],
  ],
  [
    "dotnet build -p:Foo=./x",
    ["build cwd tree", "lift -p of dotnet build can change what runs or where"],
  ],
  [
    "dotnet build /p:Foo=x",
    ["read /p:Foo=x tree", "build cwd tree", "lift dotnet build has options of msbuild"],
  ],
  ["dotnet test -l ./x", ["build cwd tree", "lift -l of dotnet test can write elsewhere"]],
  [
    "mix test --formatter X",
    ["build cwd tree", "lift --formatter of mix test loads code from elsewhere"],
  ],
  ["swift build -Xlinker x", ["build cwd tree", "lift unknown option -X of swift build"]],
  ["rspec -r ./x", ["build cwd tree", "lift -r of rspec loads code from elsewhere"]],
  ["rspec -f ./x", ["build cwd tree", "lift -f of rspec loads code from elsewhere"]],
  [
    "rubocop --require ./x",
    ["build cwd tree", "lift --require of rubocop loads code from elsewhere"],
  ],
  [
    "phpunit --prepend x",
    ["build cwd tree", "lift --prepend of phpunit loads code from elsewhere"],
  ],
  ["phpunit -d x=y", ["build cwd tree", "lift -d of phpunit loads code from elsewhere"]],
  [
    "actionlint -shellcheck=./x",
    ["read cwd tree", "lift -shellcheck of actionlint runs a program"],
  ],
  [
    "sqlite3 a.db '.shell id'",
    [
      "read a.db",
      "run cwd tree",
      "lift sqlite3 runs statements or commands that are not known to only read",
    ],
  ],
  [
    "sqlite3 a.db 'select 1; delete from x'",
    [
      "read a.db",
      "run cwd tree",
      "lift sqlite3 runs statements or commands that are not known to only read",
    ],
  ],
  [
    "sqlite3 a.db \"select writefile('x','y')\"",
    [
      "read a.db",
      "run cwd tree",
      "lift sqlite3 runs statements or commands that are not known to only read",
    ],
  ],
  [
    "sqlite3 a.db",
    [
      "read a.db",
      "run cwd tree",
      "lift sqlite3 runs statements or commands that are not known to only read",
    ],
  ],
  ["sqlite3 'file:/home/x/a.db?mode=ro' 'select 1'", ["read /home/x/a.db"]],
  [
    "sqlite3 'file:a.db?vfs=x' 'select 1'",
    ["read", "lift sqlite3 opens a database that is not known"],
  ],
  [
    "sqlite3 'file:%2Fetc/a.db' 'select 1'",
    ["read", "lift sqlite3 opens a database that is not known"],
  ],
  [
    "javac @/tmp/args",
    [
      "read @/tmp/args tree",
      "build cwd tree",
      "lift @/tmp/args takes options of javac from a file",
    ],
  ],
  ["ffmpeg -i in.mp4 -ss 9.06 -t 10 -c copy out.mp4", ["read in.mp4", "write out.mp4"]],
  ["ffprobe in.mp4", ["read in.mp4"]],
  [
    "ffmpeg -i http://x.invalid/a out.mp4",
    [
      "read http://x.invalid/a",
      "write out.mp4",
      "lift http://x.invalid/a of ffmpeg may be no plain file",
    ],
  ],
  [
    "ffmpeg -i a -vf movie=/etc/x out.mp4",
    ["read a", "write movie=/etc/x", "write out.mp4", "lift option -vf of ffmpeg is not known"],
  ],
  ["tshark -n -r net.pcap -q -z io,phs", ["read net.pcap"]],
  ["tshark -i eth0", ["network", "lift -i of tshark captures from an interface"]],
  ["tshark -r a -X lua_script:x", ["read a", "lift options of tshark that can run code"]],
  ["tcpdump -r a -z ./x", ["read a", "lift options of tcpdump that can run code"]],
  ["openssl genrsa -out ssl/server.key 2048", ["write ssl/server.key"]],
  ["openssl x509 -in a.pem -noout -text", ["read a.pem"]],
  ["openssl s_client -connect x.invalid:443", ["network"]],
  ["openssl dgst -engine ./x a", ["read a", "lift -engine of openssl dgst loads code or settings"]],
])("%s", (line, lines) => {
  expect(told(line)).toEqual(lines);
});
