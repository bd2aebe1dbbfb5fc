/** Bounds the wait for what should come, on a machine that may be busy with other work: only what never comes takes as long. */
export const PATIENCE_MS = 90_000
