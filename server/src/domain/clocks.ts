/** Monotonic milliseconds with an arbitrary start, to measure durations. */
export type Monotonic = () => number

/** The two clocks of a process. Only `main.ts` reads them and passes them on. */
export interface Clocks {
  /** milliseconds since 1970; an operator or NTP may set it back */
  wall: () => number
  monotonic: Monotonic
}
