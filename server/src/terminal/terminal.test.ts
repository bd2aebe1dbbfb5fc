import { describe, expect, it } from 'vitest'
import { plainText } from './plain-text.ts'
import { barLine, ProgressBar } from './progress-bar.ts'
import { table } from './table.ts'
import { type Stream, Terminal } from './terminal.ts'

/** A stream that keeps the text written to it. */
function stream(options: Partial<Stream> = {}) {
  const written: string[] = []
  const write = (text: string) => written.push(text) > 0
  return { written, stream: { write, once: () => {}, ...options } }
}

const ESC = '\u001b'

describe('the terminal', () => {
  it('keeps the result apart from everything else', async () => {
    const [out, err] = [stream(), stream()]
    const terminal = new Terminal(out.stream, err.stream)
    await terminal.print('result')
    terminal.say('remark')
    expect([out.written, err.written]).toEqual([['result\n'], ['remark\n']])
  })

  it('waits for a slow reader', async () => {
    let drain = () => {}
    const slow: Stream = {
      write: () => false,
      once: (_, listener) => {
        drain = listener
      },
    }
    let isDone = false
    const printed = new Terminal(slow, slow).print('result').then(() => {
      isDone = true
    })
    await Promise.resolve()
    expect(isDone).toBe(false)
    drain()
    await printed
    expect(isDone).toBe(true)
  })

  it.each([
    [{ isTTY: true, hasColors: () => true }, `${ESC}[32myes${ESC}[39m`],
    [{ isTTY: true, hasColors: () => false }, 'yes'],
    [{}, 'yes'],
  ])('colours only what a terminal shows: %j', (options, expected) => {
    const { stream: out } = stream(options)
    expect(new Terminal(out, stream().stream).paint('green', 'yes')).toBe(expected)
    expect(new Terminal(stream().stream, out).paintAside('green', 'yes')).toBe(expected)
  })
})

describe('the progress bar', () => {
  it.each([
    [0, '[------------------------]   0%  x'],
    [50, '[############------------]  50%  x'],
    [99.9, '[#######################-]  99%  x'],
    [100, '[########################] 100%  x'],
    [200, '[########################] 100%  x'],
    [-1, '[------------------------]   0%  x'],
  ])('%d of 100', (done, line) => {
    expect(barLine({ done, total: 100, text: 'x' })).toBe(line)
  })

  it.each([null, 0])('has only its text while the total is %s', (total) => {
    expect(barLine({ done: 3, total, text: '3 rows' })).toBe('… 3 rows')
  })

  it('is drawn over itself on a terminal, and removed at the end', () => {
    let now = 0
    const err = stream({ isTTY: true, columns: 20 })
    const bar = new ProgressBar(new Terminal(stream().stream, err.stream), () => now)
    bar.show({ done: 1, total: 4, text: 'too early' })
    now = 200
    bar.show({ done: 2, total: 4, text: 'half' })
    bar.clear()
    bar.clear()
    expect(err.written).toEqual([`\r${ESC}[K[############------`, `\r${ESC}[K`])
  })

  it('is a line every five seconds elsewhere', () => {
    let now = 0
    const err = stream()
    const bar = new ProgressBar(new Terminal(stream().stream, err.stream), () => now)
    for (now = 0; now <= 11_000; now += 1_000) bar.show({ done: now, total: null, text: `${now} rows` })
    bar.clear()
    expect(err.written).toEqual(['  5000 rows …\n', '  10000 rows …\n'])
  })
})

it('a table aligns its columns and leaves no blanks at the end', () => {
  expect(
    table(
      ['ID', 'NAME', 'USED'],
      [
        ['key_1', 'a', ''],
        ['k', 'longer', 'yes'],
      ],
    ),
  ).toEqual(['ID     NAME    USED', 'key_1  a', 'k      longer  yes'])
})

it.each([
  [`red ${ESC}[31m`, 'red \ufffd[31m'],
  ['two\nlines\r', 'two\ufffdlines\ufffd'],
  ['csi \u009b31m', 'csi \ufffd31m'],
  ['reversed \u202etxt', 'reversed \ufffdtxt'],
  ['Zoë 🦊 “quoted”', 'Zoë 🦊 “quoted”'],
])('plain text of %j', (text, expected) => {
  expect(plainText(text)).toBe(expected)
})
