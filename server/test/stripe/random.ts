/** Numbers in [0, 1) that a seed determines (mulberry32). */
export type Random = () => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1))

export function pick<Thing>(random: Random, things: readonly Thing[]): Thing {
  const picked = things[Math.floor(random() * things.length)]
  if (picked === undefined) throw new Error('nothing to pick from')
  return picked
}

export function shuffled<Thing>(random: Random, things: readonly Thing[]): Thing[] {
  return things
    .map((thing) => ({ thing, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ thing }) => thing)
}
