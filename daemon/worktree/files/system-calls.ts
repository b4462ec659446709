/** System calls relative to an open folder that node does not have. Names are one component, as bytes in latin1. */
import koffi from "koffi";
import { RecintoError } from "../../errors.ts";

/** Numbers of calls that not every libc has a function for. Newer architectures share one table. */
const NUMBERS = {
  x64: { setgroups: 116, renameat2: 316 },
  arm64: { setgroups: 159, renameat2: 276 },
  riscv64: { setgroups: 159, renameat2: 276 },
  loong64: { setgroups: 159, renameat2: 276 },
} as const;

/** Throws `kernel-unfit` on an architecture whose numbers are not known. */
export function numberOf(name: keyof (typeof NUMBERS)["x64"]): number {
  const numbers = NUMBERS[process.arch as keyof typeof NUMBERS];
  if (numbers !== undefined) return numbers[name];
  throw new RecintoError("kernel-unfit", `${name} is not known on ${process.arch}`);
}

const libc = koffi.load(null);
const mkdirat = libc.func("int mkdirat(int folder, void *name, unsigned int mode)");
const unlinkat = libc.func("int unlinkat(int folder, void *name, int flags)");
const symlinkat = libc.func("int symlinkat(void *target, int folder, void *name)");
const linkat = libc.func("int linkat(int from, void *name, int to, void *toName, int flags)");
const syscall = libc.func(
  "long syscall(long number, int from, void *name, int to, void *toName, unsigned int flags)",
);

const AT_REMOVEDIR = 0x200;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;

/** All of these return null, or the errno name of why not. */
export type Errno = string | null;

export function makeFolderAt(folder: number, name: string, mode: number): Errno {
  return outcome(mkdirat(folder, bytes(name), mode));
}

export function removeFileAt(folder: number, name: string): Errno {
  return outcome(unlinkat(folder, bytes(name), 0));
}

/** The folder must be empty. */
export function removeFolderAt(folder: number, name: string): Errno {
  return outcome(unlinkat(folder, bytes(name), AT_REMOVEDIR));
}

export function makeLinkAt(target: string, folder: number, name: string): Errno {
  return outcome(symlinkat(bytes(target), folder, bytes(name)));
}

/** A second name; a link is not followed but gets the second name itself. */
export function makeNameAt(from: number, name: string, to: number, toName: string): Errno {
  return outcome(linkat(from, bytes(name), to, bytes(toName), 0));
}

/** `replace`: what stands there goes; `new`: nothing may stand there; `exchange`: both change places. */
export function renameAt(
  from: number,
  name: string,
  to: number,
  toName: string,
  how: "replace" | "new" | "exchange",
): Errno {
  const flags = { replace: 0, new: RENAME_NOREPLACE, exchange: RENAME_EXCHANGE }[how];
  return outcome(
    syscall(numberOf("renameat2"), from, bytes(name), to, bytes(toName), flags) as number,
  );
}

function outcome(result: number): Errno {
  if (result === 0) return null;
  const errno = koffi.errno();
  const known = Object.entries(koffi.os.errno).find(([, value]) => value === errno);
  return known?.[0] ?? `errno ${errno}`;
}

function bytes(name: string): Buffer {
  return Buffer.from(`${name}\0`, "latin1");
}
