export const DISTRIBUTIONS = ['uniform', 'zipf'] as const
/** How often each user occurs: all alike, or the n-th most frequent one about 1/n as often as the first (Zipf, s ≈ 1). */
export type Distribution = (typeof DISTRIBUTIONS)[number]

/** Scatters frequent users over the table, because neighbours share pages. A prime above any number of users: no two collide. */
export const SCATTER = 15_485_863

/** A random user from 1 to `users`. load.lua and pgbench.ts have the same formula. */
export function anyUser(users: number, distribution: Distribution): number {
  if (distribution === 'uniform') return 1 + Math.floor(Math.random() * users)
  // 1/x has the antiderivative ln x: its inverse turns a uniform number into a rank from 1/2 to users + 1/2, rounded here.
  const rank = Math.floor((1 + (2 * users + 1) ** Math.random()) / 2)
  return ((rank * SCATTER) % users) + 1
}
