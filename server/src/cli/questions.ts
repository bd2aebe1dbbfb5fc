import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Asks the operator at the terminal. */
export interface Questions {
  ask(question: string): Promise<string>
  /** The answer is not shown. */
  askSecret(question: string): Promise<string>
}

/** Questions on standard error, so that the result can be piped; null unless both ends are a terminal. */
export function questionsAt(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  stopping: AbortSignal,
): Questions | null {
  if (!input.isTTY || !output.isTTY) return null
  const ask = async (question: string, shown: boolean) => {
    output.write(question)
    // Readline echoes what is typed to its output.
    const echo = new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (shown) output.write(chunk)
        done()
      },
    })
    const lines = createInterface({ input, output: echo, terminal: true })
    // In this mode Ctrl-C is a character.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    try {
      return await lines.question('', { signal: stopping })
    } finally {
      lines.close()
      if (!shown) output.write('\n')
    }
  }
  return {
    ask: (question) => ask(question, true),
    askSecret: (question) => ask(question, false),
  }
}

/** Whether the answer is yes; without an answer it is no. */
export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim())
