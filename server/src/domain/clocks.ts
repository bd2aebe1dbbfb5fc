/** Milliseconds that only ever go forward, from an arbitrary start: for how long something has taken. */
export type Monotonic = () => number

/** The two clocks of a process. Only `main.ts` reads them; everything else is handed them. */
export interface Clocks {
  /** milliseconds since 1970, which an operator or NTP may set back */
  wall: () => number
  monotonic: Monotonic
}
