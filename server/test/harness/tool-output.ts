import { Terminal } from '../../src/terminal/terminal.ts'
import { type ToolOutput, toolOutput } from '../../src/tools/tool-output.ts'

const stream = (write: (text: string) => void) => ({
  write(text: string) {
    write(text)
    return true
  },
  once: () => {},
})

/** Adds the lines of an operator's command to a list, and drops what it says beside them. */
export const outputInto = (printed: string[]): ToolOutput =>
  toolOutput(
    new Terminal(
      stream((text) => printed.push(text.trimEnd())),
      stream(() => {}),
    ),
    () => 0,
    false,
  )
