/** Codes that switch a style on and off. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const

type Style = keyof typeof STYLES

/** A standard stream of the process, or a stand-in. */
export interface Stream {
  write(text: string): boolean
  once(event: 'drain', listener: () => void): unknown
  isTTY?: boolean
  columns?: number
  /** of a terminal: honours NO_COLOR, FORCE_COLOR and TERM=dumb */
  hasColors?(): boolean
}

/** The output of a command. */
export class Terminal {
  readonly #out: Stream
  readonly #err: Stream

  constructor(out: Stream, err: Stream) {
    this.#out = out
    this.#err = err
  }

  /** Writes a line of the result. Waits for a slow reader. */
  print(line: string): Promise<void> {
    if (this.#out.write(`${line}\n`)) return Promise.resolve()
    return new Promise((drained) => this.#out.once('drain', drained))
  }

  /** Writes a line about the work, beside the result. */
  say(line: string): void {
    this.#err.write(`${line}\n`)
  }

  /** Writes over the current line of standard error, which must be a terminal. */
  overwrite(line: string): void {
    this.#err.write(`\r\u001b[K${line}`)
  }

  /** Width of standard error; null if it is not a terminal. */
  get width(): number | null {
    return this.#err.isTTY ? this.#err.columns || 80 : null
  }

  /** Colours text for the result. */
  paint(style: Style, text: string): string {
    return paint(this.#out, style, text)
  }

  /** Colours text for standard error. */
  paintAside(style: Style, text: string): string {
    return paint(this.#err, style, text)
  }
}

function paint(stream: Stream, style: Style, text: string): string {
  if (!stream.isTTY || !stream.hasColors?.()) return text
  const [on, off] = STYLES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}
