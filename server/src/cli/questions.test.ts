import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { isYes, questionsAt } from './questions.ts'

/** A terminal with typed input, and its output. */
function terminal({ input = true, output = true } = {}) {
  const typed = Object.assign(new PassThrough(), { isTTY: input, setRawMode: () => {} })
  const shown: string[] = []
  const screen = Object.assign(new PassThrough(), { isTTY: output })
  screen.on('data', (chunk: Buffer) => shown.push(chunk.toString()))
  const stopping = new AbortController()
  return {
    typed,
    stopping,
    shown: () => shown.join(''),
    questions: questionsAt(
      typed as unknown as NodeJS.ReadStream,
      screen as unknown as NodeJS.WriteStream,
      stopping.signal,
    ),
  }
}

describe('questions', () => {
  it('are asked one after the other; a secret is not shown', async () => {
    const { questions, typed, shown } = terminal()
    const email = questions?.ask('Email: ')
    typed.write('ada@example.com\n')
    expect(await email).toBe('ada@example.com')
    const password = questions?.askSecret('Password: ')
    typed.write('open sesame\n')
    expect(await password).toBe('open sesame')
    expect(shown()).toContain('Email: ')
    expect(shown()).toContain('ada@example.com')
    expect(shown()).toContain('Password: ')
    expect(shown()).not.toContain('sesame')
  })

  it('end when the command is stopped', async () => {
    const { questions, stopping } = terminal()
    const answer = questions?.ask('Email: ')
    stopping.abort()
    await expect(answer).rejects.toThrow('abort')
  })

  it.each([{ input: false }, { output: false }])('are not asked without a terminal: %j', (options) => {
    expect(terminal(options).questions).toBeNull()
  })
})

it.each([
  ['y', true],
  ['YES ', true],
  ['', false],
  ['n', false],
  ['yep', false],
])('%j is yes: %s', (answer, yes) => {
  expect(isYes(answer)).toBe(yes)
})
