/** One use of `calls` by `ann`. */
export const CALL = { userId: 'ann', featureId: 'calls', delta: 1 } as const
