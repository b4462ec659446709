/** Safety patterns: operations that destroy files, or whole devices, beyond undoing. */
import type { SafetyPattern } from "./safety.ts";
import { type Argv, long, operands, type SegmentView, short } from "./view.ts";

/** The words come from a lister or another command rather than from the text. */
function fed(view: SegmentView): boolean {
  return view.segment.words.some(
    ({ value }) => value.kind === "listed" || (value.kind === "unknown" && value.many),
  );
}

/** Run once for each of many names by another program. */
function underMany(view: SegmentView): boolean {
  return view.segment.wrappers.some((name) => /^(?:find|fd|fdfind|xargs|parallel)$/.test(name));
}

const DEVICE = /^\/dev\/(?!null$|std(?:in|out|err)$|fd\/|tty$|shm\/)/;

function everything(word: string | null): boolean {
  if (word === null) return false;
  let end = word.length;
  while (end > 1 && word[end - 1] === "/") end--;
  const path = word.slice(0, end);
  const last = path.slice(path.lastIndexOf("/") + 1);
  return (
    path === "" ||
    path === "/" ||
    /^(?:\.|\.\.|~|\/(?:home|Users)(?:\/[^/]+)?|\/root|\/srv|\/usr|\/var|\/etc|\/opt|\/tmp)$/.test(
      path,
    ) ||
    /^(?:\*|\.\*|\.\[.*\]\*)$/.test(last)
  );
}

const remove = ["rm", "grm", "unlink", "rmdir", "del", "trash", "trash-put", "gio"];

export const FILE_PATTERNS: readonly SafetyPattern[] = [
  {
    id: "recursive-delete",
    reason: "deletes folders with all they hold",
    verbs: ["rm", "grm", "srm"],
    test: (argv) => short(argv, "rR") || long(argv, "--recursive"),
    match: [
      "rm -rf src",
      "rm -r lib",
      "rm --recursive --force src",
      "rm --rec src",
      "r\\m -r -f x",
      "$'\\x72m' -rf src",
      "'rm' '-Rf' src",
      "/bin/rm -fr src",
      "rm src -rf",
      "timeout 5 rm -rf src",
      "bash -c 'rm -rf src'",
    ],
    not_match: ["rm -f a.txt b.txt", "grep -rn 'rm -rf' docs", "echo 'rm -rf src'", "rm -- -r"],
  },
  {
    id: "delete-everything",
    reason: "deletes everything in a folder, or a folder that holds all else",
    verbs: remove,
    test: (argv) => operands(argv).some(everything),
    match: ["rm -f *", "rm -f ./*", "rm /", "rm -f build/*", "rm ~"],
    not_match: ["rm -f a.txt", "rm *.log", "rm -f ./a"],
  },
  {
    id: "mass-delete",
    reason: "deletes whatever names another command prints",
    verbs: remove,
    test: (_argv, view) => fed(view) || underMany(view),
    match: ["ls | xargs rm", "find . -name '*.o' | xargs rm -f", "rm $(git ls-files -o)"],
    not_match: ["rm -f a.o b.o", "ls | xargs wc -l"],
  },
  {
    id: "find-delete",
    reason: "deletes every file that find meets",
    verbs: ["find", "gfind", "bfs"],
    test: (argv) => argv.includes("-delete"),
    match: ["find . -name '*.tmp' -delete", "find . -d\\elete"],
    not_match: ["find . -name '*delete*'"],
  },
  {
    id: "find-exec-delete",
    reason: "runs a deleting program on every file that find meets",
    verbs: ["find", "gfind", "bfs", "fd", "fdfind"],
    test: (argv) =>
      argv.some(
        (word, i) =>
          word !== null &&
          /^(?:-exec(?:dir)?|-ok(?:dir)?|-x|-X|--exec(?:-batch)?)$/.test(word) &&
          /^(?:.*\/)?(?:rm|unlink|rmdir|shred|srm)$/.test(argv[i + 1] ?? ""),
      ),
    match: ["find . -name x -exec rm {} +", "find . -name x -e\\xec rm {} \\;", "fd -e o -x rm"],
    not_match: ["find . -exec wc -l {} +", "find . -exec bash -c 'ls' \\;"],
  },
  {
    id: "shred",
    reason: "destroys the content of files beyond recovery",
    verbs: ["shred", "srm", "wipe", "scrub", "sfill"],
    test: (argv) => operands(argv).length > 0,
    match: ["shred README.md", "shred -u a.txt"],
    not_match: ["shred --version"],
  },
  {
    id: "format-device",
    reason: "makes a file system or partition table, destroying what was there",
    verbs: [
      "mkfs",
      "mke2fs",
      "mkswap",
      "fdisk",
      "sfdisk",
      "cfdisk",
      "gdisk",
      "sgdisk",
      "parted",
      "wipefs",
      "blkdiscard",
      "cryptsetup",
      "mkntfs",
      "pvcreate",
      "vgremove",
      "lvremove",
      "zpool",
      "mdadm",
    ],
    test: (argv) => argv.length > 1 && argv[1] !== "--version" && argv[1] !== "--help",
    match: ["mkfs.ext4 /dev/sda1", "mkfs -t ext4 x.img", "wipefs -a /dev/sda"],
    not_match: ["mkfs --version", "grep mkfs README.md"],
  },
  {
    id: "write-device",
    reason: "writes to a device",
    test: (argv, view) =>
      view.segment.redirects.some(
        ({ kind, target }) =>
          /write|append/.test(kind) &&
          target?.value.kind === "literal" &&
          DEVICE.test(target.value.value) &&
          !/^\/dev\/(?:tcp|udp)\//.test(target.value.value),
      ) || view.located.some((l) => l.touched.some((t) => writesDevice(t, argv))),
    match: ["cat x > /dev/sda", "dd if=x of=/dev/sda", "cp x /dev/mem", "tee /dev/nvme0n1 < x"],
    not_match: ["echo x > /dev/null", "cat /dev/urandom", "echo x >&2", "ls /dev"],
  },
  {
    id: "dd-device",
    reason: "copies raw blocks to a device",
    verbs: ["dd", "dcfldd", "ddrescue"],
    test: (argv) => argv.some((word) => word !== null && DEVICE.test(word.replace(/^of=/, ""))),
    match: ["dd if=/tmp/x of=/dev/sda bs=1M", "dd of=/dev/mmcblk0 if=a.img"],
    not_match: ["dd if=a of=b", "dd if=/dev/zero of=b count=1"],
  },
  {
    id: "sync-delete",
    reason: "deletes what the source does not have",
    verbs: ["rsync", "rclone"],
    test: (argv) =>
      argv.some(
        (word) => word !== null && /^--(?:del(?:ete.*)?|remove-source-files)$/.test(word),
      ) ||
      (argv[0] === "rclone" && /^(?:sync|purge|delete|move)$/.test(argv[1] ?? "")),
    match: ["rsync -a --delete a/ b/", "rclone sync a b"],
    not_match: ["rsync -a a/ b/"],
  },
  {
    id: "archive-remove",
    reason: "deletes files after packing them",
    verbs: ["tar", "zip", "gtar"],
    test: (argv) => long(argv, "--remove-files") || (argv[0] === "zip" && short(argv, "m")),
    match: ["tar -cf a.tar --remove-files src", "zip -m a.zip src/x"],
    not_match: ["tar -cf a.tar src", "zip -r a.zip src"],
  },
  {
    id: "discard-by-move",
    reason: "moves a file to where it is lost",
    verbs: ["mv"],
    test: (argv) => operands(argv).at(-1) === "/dev/null",
    match: ["mv src /dev/null"],
    not_match: ["mv a b"],
  },
  {
    id: "empty-file",
    reason: "cuts files down to nothing",
    verbs: ["truncate"],
    test: (argv: Argv) =>
      argv.some((w, i) => w !== null && /^(?:-s|--size=?)$/.test(w) && argv[i + 1] === "0") ||
      argv.some((word) => word !== null && /^(?:-s|--size=)0$/.test(word)),
    match: ["truncate -s 0 log.txt", "truncate --size=0 a b"],
    not_match: ["truncate -s 10M disk.img"],
  },
];

function writesDevice(
  touched: { readonly path: string; readonly real?: string; readonly access: string },
  _argv: Argv,
): boolean {
  return (
    touched.access === "write" && (DEVICE.test(touched.path) || DEVICE.test(touched.real ?? ""))
  );
}
