import type { Terminal } from './terminal.ts'

/** How often a bar is drawn, and how often a line is written where there is no terminal. */
const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 5_000
const CELLS = 24

interface Progress {
  /** null: the end is not known */
  total: number | null
  done: number
  /** follows the bar, such as "12 of 40 MB" */
  text: string
}

/** The progress of long work: a bar on a terminal, elsewhere a line every few seconds. */
export class ProgressBar {
  readonly #terminal: Terminal
  readonly #monotonic: () => number
  #shownAt: number
  #isDrawn = false

  constructor(terminal: Terminal, monotonic: () => number) {
    this.#terminal = terminal
    this.#monotonic = monotonic
    // Quick work shows nothing.
    this.#shownAt = monotonic()
  }

  show(progress: Progress): void {
    const now = this.#monotonic()
    const { width } = this.#terminal
    if (now - this.#shownAt < (width === null ? LINE_EVERY_MS : DRAW_EVERY_MS)) return
    this.#shownAt = now
    if (width === null) {
      this.#terminal.say(`  ${progress.text} …`)
      return
    }
    this.#isDrawn = true
    this.#terminal.overwrite(barLine(progress).slice(0, width - 1))
  }

  /** Removes the bar, so that the next line takes its place. */
  clear(): void {
    if (this.#isDrawn) this.#terminal.overwrite('')
    this.#isDrawn = false
  }
}

/** `[######----]  60%  3 of 5 MB`; without a total, only the text. */
export function barLine({ done, total, text }: Progress): string {
  if (total === null || total <= 0) return `… ${text}`
  const share = Math.min(Math.max(done / total, 0), 1)
  const filled = Math.floor(share * CELLS)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `[${'#'.repeat(filled)}${'-'.repeat(CELLS - filled)}] ${percent}%  ${text}`
}
