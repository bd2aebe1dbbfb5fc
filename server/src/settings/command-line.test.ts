import { expect, it } from 'vitest'
import { StartError } from '../domain/errors.ts'
import { readRecoveryOptions } from './command-line.ts'

it.for([
  [[], { newKeyOf: null, resetOwner: null }],
  [['--new-key'], { newKeyOf: 'default', resetOwner: null }],
  [['--new-key', '--app', 'shop'], { newKeyOf: 'shop', resetOwner: null }],
  [['--reset-owner'], { newKeyOf: null, resetOwner: '' }],
  [['--reset-owner', 'ada@example.com'], { newKeyOf: null, resetOwner: 'ada@example.com' }],
  [['--new-key', '--reset-owner'], { newKeyOf: 'default', resetOwner: '' }],
  [['--help'], null],
] as const)('%j', ([args, recovery]) => {
  expect(readRecoveryOptions([...args])).toEqual(recovery)
})

it.for([
  [['--newkey']],
  [['--app', 'shop']],
  [['--new-key', 'shop']],
  [['ada@example.com']],
  [['--reset-owner', 'ada@example.com', 'bob@example.com']],
])('%j is not understood', ([args]) => {
  expect(() => readRecoveryOptions([...(args ?? [])])).toThrow(StartError)
})
