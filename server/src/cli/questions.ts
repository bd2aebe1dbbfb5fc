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
  const answerTo = async (question: string, shownIn: Writable) => {
    const lines = createInterface({ input, output: shownIn, terminal: true })
    // In this mode Ctrl-C is a character.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return lines.question(question, { signal: stopping }).finally(() => lines.close())
  }
  return {
    ask: (question) => answerTo(question, output),
    async askSecret(question) {
      output.write(question)
      // Readline echoes input to its output.
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
      return answerTo('', nowhere).finally(() => output.write('\n'))
    },
  }
}

/** Whether the answer is yes. No answer counts as no. */
export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim())
