import { expect, it } from 'vitest'
import { COMMANDS, helpText } from './commands.ts'

it('the help text has a line for every command', () => {
  const listed = [...helpText().matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
  expect(listed).toEqual(['start', 'backup', 'restore', 'move', 'ledger', 'cells'])
  expect([...COMMANDS.keys()]).toEqual(listed)
})
