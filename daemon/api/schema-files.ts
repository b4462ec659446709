/** File operations as they travel: what is asked in the query or as JSON, and what comes back. */
import { z } from "zod";
import { FILE_LIST_MAX, PATCH_CHARS_MAX } from "../limits.ts";
import type * as files from "../supervisor/files/file-calls.ts";
import type * as reading from "../worktree/files/reading.ts";
import type { SameType } from "./same-type.ts";
import { presented, presentedText } from "./schema-grants.ts";
import { CountTextSchema, PathSchema, TimeSchema, text } from "./schema-text.ts";

const path = PathSchema.meta({ description: "Absolute, or relative to the worktree." });
const waitText = CountTextSchema.exactOptional().meta({
  description: "How long to wait for a person, ms; 0: do not wait. The profile's when absent.",
});
const waitMs = z.int().min(0).exactOptional().meta({ description: "As in RunRequest." });
const flag = z.enum(["true", "false"]).transform((value) => value === "true");

export const FileCheckRequestSchema = z
  .strictObject({
    path,
    access: z.enum(["read", "write"]).meta({ description: "`write`: the whole file." }),
  })
  .meta({ id: "FileCheckRequest" });

export const StatQuerySchema = z.strictObject({
  path,
  hash: flag.exactOptional().meta({ description: "With the SHA-256 of a file's content." }),
  waitMs: waitText,
  ...presentedText,
});

export const ListQuerySchema = z.strictObject({
  path,
  after: PathSchema.exactOptional().meta({ description: "Last name of the page before." }),
  limit: CountTextSchema.pipe(z.int().min(1).max(FILE_LIST_MAX)).exactOptional(),
  waitMs: waitText,
  ...presentedText,
});

export const ReadQuerySchema = z.strictObject({
  path,
  offset: CountTextSchema.exactOptional().meta({ description: "First byte." }),
  length: CountTextSchema.exactOptional().meta({ description: "At most so many bytes." }),
  waitMs: waitText,
  ...presentedText,
});

const HASH = /^(?:absent|[0-9a-f]{64})$/;

export const WriteQuerySchema = z.strictObject({
  path,
  ifHash: z.string().regex(HASH).exactOptional().meta({
    description: "SHA-256 that the content must have now, or `absent`: else nothing is written.",
  }),
  append: flag.exactOptional().meta({ description: "Add to the end of a file that exists." }),
  parents: flag.exactOptional().meta({ description: "Make the folders that are missing above." }),
  executable: flag.exactOptional(),
  waitMs: waitText,
  ...presentedText,
});

export const PackQuerySchema = z.strictObject({
  path,
  gzip: flag.exactOptional(),
  waitMs: waitText,
  ...presentedText,
});

export const UnpackQuerySchema = z.strictObject({ path, waitMs: waitText, ...presentedText });

export const MkdirRequestSchema = z
  .strictObject({
    path,
    parents: z.boolean().exactOptional().meta({
      description: "Also what is missing above it, and no error when it is there.",
    }),
    waitMs,
    ...presented,
  })
  .meta({ id: "MkdirRequest" });

export const RemoveRequestSchema = z
  .strictObject({
    path,
    recursive: z.boolean().exactOptional().meta({ description: "With all that a folder holds." }),
    waitMs,
    ...presented,
  })
  .meta({ id: "RemoveRequest" });

export const MoveRequestSchema = z
  .strictObject({
    from: path,
    to: path,
    replace: z.boolean().exactOptional().meta({ description: "What stands there goes." }),
    waitMs,
    ...presented,
  })
  .meta({ id: "MoveRequest" });

const STRIP_MAX = 16;

export const PatchRequestSchema = z
  .strictObject({
    patch: text(PATCH_CHARS_MAX).min(1).meta({ description: "A unified diff; all or nothing." }),
    strip: z.int().min(0).max(STRIP_MAX).exactOptional().meta({
      description: "Path parts left out in front; 1 when absent, as git writes them.",
    }),
    waitMs,
    ...presented,
  })
  .meta({ id: "PatchRequest" });

export const FileEntrySchema = z
  .strictObject({
    name: z.string(),
    kind: z.enum(["file", "folder", "link", "fifo", "socket", "device"]),
    size: z.int(),
    mode: z.string().meta({ description: "Permissions in octal." }),
    mtimeMs: TimeSchema,
    uid: z.int(),
    gid: z.int(),
    target: z.string().exactOptional().meta({ description: "Text of a link; not followed." }),
    sha256: z.string().exactOptional(),
  })
  .meta({ id: "FileEntry" });

export const FolderPageSchema = z
  .strictObject({
    entries: z.array(FileEntrySchema),
    total: z.int(),
    next: z.string().nullable().meta({ description: "`after` of the next page; null: the last." }),
  })
  .meta({ id: "FolderPage", description: "Sorted by the bytes of the names." });

export const WrittenSchema = z
  .strictObject({ path: z.string(), bytes: z.int(), size: z.int(), sha256: z.string() })
  .meta({ id: "Written", description: "`sha256` is of the bytes that were written now." });

export const PatchedSchema = z
  .strictObject({
    files: z.array(
      z.strictObject({
        path: z.string(),
        change: z.enum(["made", "changed", "deleted", "renamed"]),
        sha256: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "Patched" });

export const MadeSchema = z.strictObject({ made: z.int() }).meta({ id: "Made" });
export const RemovedSchema = z.strictObject({ removed: z.int() }).meta({ id: "Removed" });
export const MovedSchema = z
  .strictObject({ from: z.string(), to: z.string() })
  .meta({ id: "Moved" });
export const UnpackedSchema = z
  .strictObject({ entries: z.int(), bytes: z.int() })
  .meta({ id: "Unpacked" });

export type FileEntry = z.infer<typeof FileEntrySchema>;
export type FolderPage = z.infer<typeof FolderPageSchema>;
export type Written = z.infer<typeof WrittenSchema>;
export type Patched = z.infer<typeof PatchedSchema>;
export type Made = z.infer<typeof MadeSchema>;
export type Removed = z.infer<typeof RemovedSchema>;
export type Moved = z.infer<typeof MovedSchema>;
export type Unpacked = z.infer<typeof UnpackedSchema>;

/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_FILES: [
  SameType<FileEntry, reading.FileEntry>,
  SameType<FolderPage, reading.FolderPage>,
  SameType<Written, files.Written>,
  SameType<Patched["files"][number], files.PatchedFile>,
] = [true, true, true, true];
