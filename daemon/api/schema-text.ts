/** Text as requests may carry it, and the limits of it. */
import { z } from "zod";

/** A NUL cannot be in an argument, a path or a variable; half a surrogate pair cannot be written as UTF-8. */
const UNCARRIED = /\0|\p{Surrogate}/u;

/** Text that reaches a command line, a path or the environment. */
export function text(maxChars: number) {
  return z
    .string()
    .max(maxChars)
    .refine((value) => !UNCARRIED.test(value), {
      error: "has a NUL or half a surrogate pair",
      params: { recinto: "bad-utf8" },
    });
}

/** Linux's PATH_MAX. */
const PATH_CHARS_MAX = 4_096;
export const PathSchema = text(PATH_CHARS_MAX).min(1);

/** Ids that the daemon makes; longer or odder ones name nothing. */
export const IdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/);

/** A whole number as it stands in a query string. */
export const CountTextSchema = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

export const UidSchema = z.int().min(0).max(0xffff_fffe);
export const TimeSchema = z.int().min(0).meta({ description: "Unix milliseconds." });
