import { buildSchema } from 'graphql'
import { expect, it } from 'vitest'
import { selectionOf } from './selection.ts'

const typeIn = (fields: string) => {
  const type = buildSchema(`type Query { id: String } ${fields}`).getType('A')
  if (!type || !('getFields' in type) || 'isOneOf' in type) throw new Error('no type')
  return type
}

it('gap: REST: an answer has all fields, but no lists of objects in the objects of a list', () => {
  const type = typeIn(`
    type A { id: String, tags: [String!]!, one: B, many: [B!]! }
    type B { id: String, tags: [String!]!, c: C, cs: [C!]! }
    type C { id: String, ds: [D!]! }
    type D { id: String }`)
  expect(selectionOf(type)).toBe(
    '{ id tags one { id tags c { id ds { id } } cs { id } } many { id tags c { id } } }',
  )
  expect(selectionOf(type, 'BRIEF')).toBe('{ id tags one { id tags c { id } } }')
})

it('gap: REST: a circle through lists ends at the second list', () => {
  expect(selectionOf(typeIn('type A { id: String, bs: [B!]! } type B { id: String, as: [A!]! }'))).toBe(
    '{ id bs { id } }',
  )
})

it('gap: REST: a type that contains itself, or a field with arguments, fails the start', () => {
  expect(() => selectionOf(typeIn('type A { id: String, a: A }'))).toThrow('A contains itself')
  expect(() => selectionOf(typeIn('type A { id(of: String): String }'))).toThrow('A.id has arguments')
})
