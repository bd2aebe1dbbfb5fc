import { expect, it } from 'vitest'
import { forPeople } from './log.ts'

const at = new Date(2026, 0, 2, 3, 4, 5).getTime()
const line = (fields: object) => JSON.stringify({ level: 30, time: at, pid: 7, hostname: 'box', ...fields })

it('a line for people has the time, the level, what happened and its details', () => {
  expect(forPeople(line({ msg: 'stopping', signal: 'SIGINT' }), false)).toBe(
    '03:04:05 info  stopping signal=SIGINT\n',
  )
  expect(forPeople(line({ level: 40, msg: 'odd', line: 'two words', workers: ['a', 'b'] }), false)).toBe(
    '03:04:05 warn  odd line="two words" workers=["a","b"]\n',
  )
})

it('of an error it has the message, and the stack where somebody has to look into it', () => {
  const err = { type: 'Error', message: 'gone', stack: 'Error: gone\n    at here' }
  expect(forPeople(line({ level: 40, msg: 'lost', err }), false)).toBe('03:04:05 warn  lost: gone\n')
  expect(forPeople(line({ level: 50, msg: 'lost', err }), false)).toBe(
    '03:04:05 error lost: gone\n    Error: gone\n        at here\n',
  )
})

it('colours are left out where they are not wanted', () => {
  expect(forPeople(line({ msg: 'x' }), true)).toContain('\u001b[36m')
  expect(forPeople(line({ msg: 'x' }), false)).not.toContain('\u001b')
})
