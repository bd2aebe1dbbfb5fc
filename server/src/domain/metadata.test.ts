/**
 * Invariants
 * - Metadata is returned as it was sent: what JSON cannot represent exactly is refused, not rounded.
 * - At most 16 KiB as JSON and 32 levels of objects and lists; no key is special.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkMetadata, type Json, type JsonObject } from './metadata.ts'

const badInput = (message: RegExp) =>
  expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) })
const parse = (json: string): JsonObject => JSON.parse(json)

/** `{"x":"…"}` of that many bytes. */
const sized = (bytes: number): JsonObject => ({ x: 'a'.repeat(bytes - '{"x":""}'.length) })

/** That many levels, the object itself being the first. */
function nested(levels: number, wrap: (inner: Json) => Json = (inner) => ({ x: inner })): JsonObject {
  let inner: Json = 1
  for (let level = 1; level < levels; level++) inner = wrap(inner)
  return { x: inner }
}

describe('spec §2 metadata, a free-form object', () => {
  it.each([
    ['nothing', {}],
    ['all kinds of values', { a: null, b: true, c: 1.5, d: 'x', e: [1, [2]], f: { g: {} } }],
    ['the largest whole number', { n: 2 ** 53 - 1, m: -(2 ** 53) + 1 }],
    ['a small fraction', { n: 5e-324 }],
    ['a larger number as a string', { n: '9007199254740993' }],
    ['16 KiB', sized(16_384)],
    ['32 levels of objects', nested(32)],
    ['32 levels of lists', nested(32, (inner) => [inner])],
    ['__proto__ as data', parse('{"__proto__": {"admin": true}, "constructor": 1}')],
  ])('gap: %s is kept', (_, metadata) => {
    expect(checkMetadata(metadata)).toBeUndefined()
  })

  it.each([
    ['16 KiB and a byte', sized(16_385), /at most 16384 bytes of JSON; it has 16385/],
    ['16 KiB of characters that are more bytes', { x: 'é'.repeat(8_200) }, /bytes/],
    ['keys that are too long', { ['k'.repeat(16_384)]: 1 }, /bytes/],
    ['33 levels of objects', nested(33), /at most 32 levels/],
    ['33 levels of lists', nested(33, (inner) => [inner]), /at most 32 levels/],
    ['33 levels within __proto__', parse(`{"__proto__":${JSON.stringify(nested(32))}}`), /at most 32 levels/],
    ['10,000 levels', nested(10_000), /at most 32 levels/],
    ['a whole number beyond 2^53-1', { n: 2 ** 53 }, /as a string/],
    ['a negative one', { n: -(2 ** 53) }, /as a string/],
    ['one deep within', { a: [{ b: 1e20 }] }, /as a string/],
    ['one so large that JSON would write null', parse('{"n": 1e400}'), /as a string/],
    ['one so far below', parse('{"n": [-1e400]}'), /as a string/],
  ])('gap: %s is bad input', (_, metadata, message) => {
    expect(() => checkMetadata(metadata)).toThrow(badInput(message))
  })

  it('what is accepted comes back the same from JSON', () => {
    /** Any there is. fast-check's own takes seconds to list them all first. */
    const character = fc
      .integer({ min: 0, max: 0x10ffff - 0x800 })
      .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800))
    const value = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.boolean(),
        fc.double({ noNaN: true, min: -1e6, max: 1e6 }).filter((n) => !Object.is(n, -0)),
        fc.constantFrom(2 ** 53, -1e300, Number.POSITIVE_INFINITY),
        fc.string(),
        fc.array(character, { maxLength: 10 }).map((all) => all.join('')),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('json'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).json
    const seen = { taken: 0 }
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value, { noNullPrototype: true }), (metadata) => {
        try {
          checkMetadata(metadata)
        } catch {
          return
        }
        seen.taken++
        expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata)
      }),
      { numRuns: 300 },
    )
    expect(seen.taken).toBeGreaterThan(30)
  })
})
