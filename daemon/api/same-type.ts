/** Compile-time check that a schema and the type it mirrors have the same shape, whatever either says about readonly. */

type Writable<T> = T extends Uint8Array
  ? T
  : T extends readonly (infer Item)[]
    ? Writable<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Writable<T[Key]> }
      : T;

/** `true` when each is assignable to the other; used as `const _: SameType<A, B> = true`. */
export type SameType<A, B> = [Writable<A>] extends [Writable<B>]
  ? [Writable<B>] extends [Writable<A>]
    ? true
    : never
  : never;
