/** Waiting for work to be over, but not for ever. */

/** Resolves when all of `work` is settled, or after `ms`: true when it was settled. */
export async function settleWithin(ms: number, work: Iterable<Promise<unknown>>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = Promise.allSettled(work).then(() => true as const);
  const inTime = await Promise.race([settled, late]);
  clearTimeout(timer);
  return inTime;
}
