/**
 * Invariants
 * - An identifier is 1 to 255 characters, none of them a control character, all of them well-formed Unicode.
 * - Text is at most 1,024 characters, holds no NUL and no half of a surrogate pair; it may be absent.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkIdentifier, checkText, isIdentifier, storable } from './identifier.ts'

describe('gap: identifiers', () => {
  it.each([
    ['one character', 'a'],
    ['255 characters', 'a'.repeat(255)],
    ['a space', ' '],
    ['punctuation', 'a/b?c=d&e#f:"\'\\<>%00'],
    ['letters of any script', 'Ünïcode-名前'],
    ['an emoji, with its joiners', '👩‍👩‍👧'],
    ['a no-break space, just past the control characters', '\u00a0'],
    ['a name of Object.prototype', '__proto__'],
  ])('%s is fine', (_, id) => {
    expect(isIdentifier(id)).toBe(true)
    expect(checkIdentifier('id', id)).toBeUndefined()
  })

  it.each([
    ['nothing', ''],
    ['256 characters', 'a'.repeat(256)],
    ['NUL', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['a line break at the end', 'a\n'],
    ['a tab', '\t'],
    ['the last of C0', 'a\u001f'],
    ['DEL', 'a\u007f'],
    ['the first of C1', '\u0080a'],
    ['the last of C1', '\u009f'],
    ['a high surrogate alone', 'a\ud83d'],
    ['a low surrogate alone', '\ude00a'],
  ])('%s is not', (_, id) => {
    expect(isIdentifier(id)).toBe(false)
    expect(() => checkIdentifier('userId', id)).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        message: 'userId must be 1 to 255 characters long, without control characters',
      }),
    )
  })

  it('every control character is refused, wherever it stands, and nothing else of Latin-1 is', () => {
    for (let code = 0; code < 256; code++) {
      const control = code < 0x20 || (code >= 0x7f && code < 0xa0)
      expect(isIdentifier(`a${String.fromCharCode(code)}b`), `U+${code.toString(16)}`).toBe(!control)
    }
  })

  it('what is accepted survives UTF-8 unchanged, the rest is refused', () => {
    // halves of surrogate pairs among them, in order and out of order
    const codePoint = fc.oneof(fc.nat(0x10ffff), fc.nat(0xff)).map((code) => String.fromCodePoint(code))
    const unit = fc.oneof(fc.constantFrom('a', '\ud83d', '\ude00'), codePoint)
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 16 }), (units) => {
        const id = units.join('')
        const survives = Buffer.from(id, 'utf8').toString('utf8') === id
        expect(isIdentifier(id)).toBe(survives && !/\p{Cc}/u.test(id))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('gap: free text', () => {
  it.each([null, undefined, '', 'two\nlines', 'x'.repeat(1_024)])('%# is fine', (text) => {
    expect(checkText('name', text)).toBeUndefined()
  })

  it.each([
    ['x'.repeat(1_025), 'name must be at most 1024 characters long'],
    ['a\u0000', 'name must be well-formed text without NUL characters'],
    ['\ud83d', 'name must be well-formed text without NUL characters'],
  ])('%# is bad input', (text, message) => {
    expect(() => checkText('name', text)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', message }),
    )
  })

  it('of a provider keeps all that can be stored', () => {
    expect(storable('Pat \u0000\ud83d\ude00 Doe\ud83d')).toBe('Pat \ud83d\ude00 Doe\ufffd')
  })
})
