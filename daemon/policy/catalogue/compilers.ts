/** Compilers of C and C++: what they write is named by `-o`; options that run programs or read option files lift. */

import type { Word } from "../shell/segment.ts";
import { RUNS } from "./build-form.ts";
import { type Draft, literal, reads, use, writes } from "./draft.ts";
import { textOf, type VerbSpec } from "./spec.ts";

/** Options that are one word and only choose a language, warnings, optimisation or the kind of output. */
const ALONE = new RegExp(
  `^-(?:${[
    "[cSEwvgsr]|g(?:gdb|dwarf)?[\\d-]*|O\\w*|W(?![lpa],)[\\w+=-]*|std=[\\w+:]+|pipe|pthread|static|shared|pedantic(?:-errors)?",
    "ansi|nostdlib|nostdinc|nodefaultlibs|no-pie|pie|rdynamic|M{1,2}[DGP]?|D[A-Za-z_]\\w*(?:=.*)?|U\\w+|l[\\w+.:-]+",
    "print-[\\w-]+(?:=[\\w.+-]+)?|dumpversion|dumpmachine|-version|-help",
    "f(?:no-[\\w-]+|PIC|pic|PIE|pie|exceptions|rtti|openmp|stack-protector(?:-\\w+)?|sanitize=[\\w,]+|visibility=\\w+",
    "fast-math|diagnostics-color(?:=\\w+)?|syntax-only|common|unroll-loops|wrapv|strict-aliasing|lto|(?:function|data)-sections",
    "omit-frame-pointer|max-errors=\\d+|error-limit=\\d+|coroutines|concepts|permissive|(?:un)?signed-char|inline-functions)",
    "m(?:32|64|arch=[\\w.+-]+|tune=[\\w.+-]+|cpu=[\\w.+-]+|sse[\\w.]*|avx\\w*|fma|bmi2?|popcnt|aes|float-abi=\\w+|fpu=[\\w-]+)",
  ].join("|")})$`,
  "s",
);
/** Linker options that neither load plug-ins nor write files. */
const LINKER =
  /^-Wl(?:,(?:--gc-sections|--as-needed|--no-as-needed|--no-undefined|-s|-z|now|relro|noexecstack|--start-group|--end-group|--whole-archive|--no-whole-archive|-rpath(?:=\$ORIGIN[\w/.]*)?|-rpath-link|\$ORIGIN[\w/.]*|-O1|--build-id|-E|--export-dynamic))+$/;
const WITH_READ = /^-(I|L|isystem|iquote|idirafter|include|imacros|T|F)(.*)$/s;
const WITH_WRITE = /^-(o|MF)(.*)$/s;
const WITH_DATA = new Set(["-D", "-U", "-x", "-l", "-MT", "-MQ", "-arch", "-u", "-z"]);

function describeCompiler(words: readonly Word[], draft: Draft): void {
  use(draft, "build", draft.form, { cwd: true, tree: true });
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] as Word;
    const text = textOf(word);
    if (text === null) {
      const head = word.value.kind === "unknown" ? word.value.prefix : "";
      if (word.value.kind === "unknown" && !/^[^-@]/.test(head))
        draft.lifts.push(`${word.text} may be an option of ${draft.form}`);
      reads(draft, word, "operand");
      continue;
    }
    const reading = WITH_READ.exec(text);
    const writing = WITH_WRITE.exec(text);
    if (WITH_DATA.has(text)) i += 1;
    else if (ALONE.test(text) || LINKER.test(text)) continue;
    else if (reading !== null || writing !== null) {
      const attached = (reading ?? writing)?.[2] ?? "";
      if (attached === "") i += 1;
      const path = attached === "" ? words[i] : literal(attached);
      if (path === undefined) draft.lifts.push(`${text} of ${draft.form} lacks its value`);
      else if (writing !== null) writes(draft, path, text.slice(0, 3), { class: "build" });
      else reads(draft, path, text.slice(0, 3));
    } else if (text.startsWith("-") && text !== "-")
      draft.lifts.push(`option ${text} of ${draft.form} can be one that ${RUNS}`);
    else if (text.startsWith("@"))
      draft.lifts.push(`${text} takes options of ${draft.form} from a file`);
    else reads(draft, word, "operand");
  }
}

export const compilers: readonly VerbSpec[] = [
  {
    names: ["gcc", "g++", "cc", "c++", "clang", "clang++"],
    class: "build",
    help: "--help --version -v -dumpversion -dumpmachine",
    custom: describeCompiler,
    examples: ["gcc --version"],
  },
];
