import { describe, expect, it } from 'vitest'
import { type Stream, Terminal } from '../terminal/terminal.ts'
import type { Context } from './context.ts'
import { run } from './run.ts'

/** Runs a command without a service. */
async function called(args: string[], env: Context['env'] = {}) {
  const [out, err, programs]: [string[], string[], unknown[]] = [[], [], []]
  const stream = (lines: string[]): Stream => ({
    write: (text) => lines.push(text) > 0,
    once: () => {},
  })
  const context: Context = {
    version: '1.2.3',
    env,
    terminal: new Terminal(stream(out), stream(err)),
    clocks: { wall: () => 0, monotonic: () => 0 },
    questions: null,
    stopping: new AbortController().signal,
    runProgram: async (program, given) => void programs.push([program, ...given]),
  }
  const code = await run(context, args)
  return { code, out: out.join(''), err: err.join(''), programs }
}

describe('arguments that are not understood are answered in one line', () => {
  it.each([
    [[], 'No command given. Run tollgate --help to list the commands.'],
    [['frobnicate'], "Unknown command 'frobnicate'. Run tollgate --help to list the commands."],
    [['__proto__'], "Unknown command '__proto__'. Run tollgate --help to list the commands."],
    [['chekc'], "Unknown command 'chekc' (Did you mean check?). Run tollgate --help to list the commands."],
    [['check', 'ada'], "Missing required argument 'feature'. Run tollgate check --help."],
    [['check', 'ada', 'x', '--nope'], "Unknown option '--nope'. Run tollgate check --help."],
    [
      ['check', 'ada', 'x', '--delta', '1.5'],
      "Option '--delta <number>' argument '1.5' is invalid. It must be a whole number. Run tollgate check --help.",
    ],
    [
      ['record', 'ada', 'x', '9007199254740993'],
      "Command-argument value '9007199254740993' is invalid for argument 'delta'. It must be a whole number. Run tollgate record --help.",
    ],
    [
      ['audit', '--limit', '0'],
      "Option '--limit <number>' argument '0' is invalid. It must be 1 or more. Run tollgate audit --help.",
    ],
    [['keys', 'create'], "Missing required argument 'name'. Run tollgate keys create --help."],
    [
      ['check', 'ada', 'x', 'y'],
      "Too many arguments for 'check'. Expected 2 arguments but got 3. Run tollgate check --help.",
    ],
  ])('%j', async (args, line) => {
    expect(await called(args)).toEqual({ code: 1, out: '', err: `tollgate: ${line}\n`, programs: [] })
  })
})

describe('settings that are missing or wrong are named', () => {
  it.each([
    [{}, /^tollgate: TOLLGATE_API_KEY is not set\./],
    [{ TOLLGATE_API_KEY: ' ' }, /^tollgate: TOLLGATE_API_KEY is not set\./],
    [{ TOLLGATE_URL: 'localhost:4000' }, /^tollgate: TOLLGATE_URL must be an http or https URL/],
  ])('%j', async (env, line) => {
    const { code, out, err } = await called(['check', 'ada', 'x'], env)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(line)
  })

  it('a sign-in without a terminal needs both', async () => {
    for (const env of [{}, { TOLLGATE_EMAIL: 'ada@example.com' }, { TOLLGATE_PASSWORD: 'secret' }])
      expect((await called(['keys', 'list'], env)).err).toBe(
        'tollgate: This command signs in to the dashboard. Set TOLLGATE_EMAIL and TOLLGATE_PASSWORD, or run it in a terminal.\n',
      )
  })

  it('an import without a terminal needs a decision, before anything is sent', async () => {
    expect((await called(['users', 'import', 'users.csv'])).err).toBe(
      'tollgate: Add --yes to apply the changes, or --dry-run to only check the file.\n',
    )
  })
})

describe('other programs get their arguments unchanged', () => {
  it.each([
    [['start'], ['main.js']],
    [
      ['start', '--new-key', '--app', 'shop'],
      ['main.js', '--new-key', '--app', 'shop'],
    ],
    [
      ['start', '--help'],
      ['main.js', '--help'],
    ],
    [
      ['backup', 'a b.gz', '--json'],
      ['data-tools.js', 'backup', 'a b.gz', '--json'],
    ],
    [
      ['restore', '--check', 'file'],
      ['data-tools.js', 'restore', '--check', 'file'],
    ],
    [
      ['move', '--to', 'postgresql://x'],
      ['data-tools.js', 'move', '--to', 'postgresql://x'],
    ],
    [
      ['ledger', 'read', 'f', '--version'],
      ['data-tools.js', 'ledger', 'read', 'f', '--version'],
    ],
    [
      ['cells', 'empty', '1', '--into', '0'],
      ['data-tools.js', 'cells', 'empty', '1', '--into', '0'],
    ],
  ])('%j', async (args, program) => {
    expect(await called(args)).toEqual({ code: 0, out: '', err: '', programs: [program] })
  })
})

describe('the help', () => {
  it('lists every command, and the settings', async () => {
    const { code, out, err } = await called(['--help'])
    expect([code, err]).toEqual([0, ''])
    const listed = [...out.matchAll(/^ {2}([a-z]+) {2,}[a-z]/gm)].map(([, name]) => name)
    expect(listed).toEqual([
      ...['start', 'doctor', 'check', 'record', 'users', 'keys', 'clock', 'audit'],
      ...['backup', 'restore', 'move', 'ledger', 'cells'],
    ])
    expect(out).toContain('\n  TOLLGATE_API_KEY ')
  })

  it.each([
    [['check'], 'TOLLGATE_API_KEY'],
    [['record'], 'TOLLGATE_API_KEY'],
    [['users', 'import'], 'TOLLGATE_PASSWORD'],
    [['keys', 'list'], 'TOLLGATE_PASSWORD'],
    [['keys', 'create'], 'TOLLGATE_PASSWORD'],
    [['keys', 'update'], 'TOLLGATE_PASSWORD'],
    [['keys', 'rotate'], 'TOLLGATE_PASSWORD'],
    [['keys', 'revoke'], 'TOLLGATE_PASSWORD'],
    [['clock', 'show'], 'TOLLGATE_PASSWORD'],
    [['clock', 'advance'], 'TOLLGATE_PASSWORD'],
    [['audit'], 'TOLLGATE_PASSWORD'],
  ])('of %j has its settings', async (args, setting) => {
    const { code, out } = await called([...args, '--help'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: tollgate ${args.join(' ')} `))
    for (const text of ['--json', '--url <url>', `\n  ${setting} `, '\n  TOLLGATE_URL '])
      expect(out).toContain(text)
  })

  it('of a group without a command is printed, and the command fails', async () => {
    const { code, out, err } = await called(['keys'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^Usage: tollgate keys /)
  })

  it('and the version need nothing else', async () => {
    expect(await called(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '', programs: [] })
  })
})
