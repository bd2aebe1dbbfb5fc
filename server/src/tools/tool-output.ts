import type { Monotonic } from '../domain/clocks.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The output of a command: its result for people or, as JSON, for programs. */
export interface ToolOutput {
  /** progress of long work */
  bar: ProgressBar
  /** writes a line beside the result */
  say(line: string): void
  /** writes a line of the result in either form; resolves when the reader has caught up */
  print(line: string): Promise<void>
  /** writes a line of the result for people */
  tell(line: string): Promise<void>
  /** writes the result: one value for programs, lines for people */
  report(value: unknown, lines: readonly string[]): Promise<void>
}

export function toolOutput(terminal: Terminal, monotonic: Monotonic, isJson: boolean): ToolOutput {
  const print = (line: string) => terminal.print(line)
  const tell = async (line: string) => {
    if (!isJson) await print(line)
  }
  return {
    bar: new ProgressBar(terminal, monotonic),
    say: (line) => terminal.say(line),
    print,
    tell,
    async report(value, lines) {
      if (isJson) await print(JSON.stringify(value))
      for (const line of lines) await tell(line)
    },
  }
}
