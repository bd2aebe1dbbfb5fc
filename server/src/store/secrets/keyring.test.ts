import { describe, expect, it } from 'vitest'
import { decrypt, encrypt, parseMasterKeys } from './keyring.ts'

const BYTES = Buffer.from(Array.from({ length: 32 }, (_, i) => 8 * i + 3))
const OTHER = Buffer.alloc(32, 7)

describe('master keys', () => {
  it.each([
    ['hex', BYTES.toString('hex')],
    ['hex in capitals', BYTES.toString('hex').toUpperCase()],
    ['base64', BYTES.toString('base64')],
    ['base64 without padding', BYTES.toString('base64').replace('=', '')],
    ['base64url', BYTES.toString('base64url')],
  ])('are read as %s, under the same id', (_, text) => {
    const [key, ...more] = parseMasterKeys(`  ${text}\n`, 'THE_SETTING')
    expect(more).toEqual([])
    expect(key?.key.equals(BYTES)).toBe(true)
    // The first bytes of their SHA-256.
    expect(key?.id).toBe('f121a8dc')
  })

  it('may be several, each with an id, the one to seal with first', () => {
    const text = `# rotated in May\nnew:${BYTES.toString('hex')}, old.1:${OTHER.toString('base64')}`
    expect(parseMasterKeys(text, 'THE_SETTING')).toEqual([
      { id: 'new', key: BYTES },
      { id: 'old.1', key: OTHER },
    ])
  })

  it.each([
    ['nothing', '# only a comment', /^THE_SETTING contains no key/],
    ['31 bytes', BYTES.subarray(1).toString('hex'), /^THE_SETTING must be 32 bytes in hex or base64/],
    ['33 bytes', `${BYTES.toString('hex')}00`, /^THE_SETTING must be 32 bytes in hex or base64/],
    [
      'an id with a space',
      `a b:${BYTES.toString('hex')}`,
      /an id has up to 32 letters, digits, dots and dashes/,
    ],
    ['an id that is too long', `${'i'.repeat(33)}:${BYTES.toString('hex')}`, /an id has up to 32 letters/],
    ['an empty id', `:${BYTES.toString('hex')}`, /an id has up to 32 letters/],
    [
      'one id for two keys',
      `a:${BYTES.toString('hex')},a:${OTHER.toString('hex')}`,
      /two keys with the same id/,
    ],
  ])('are refused without being shown: %s', (_, text, message) => {
    expect(() => parseMasterKeys(text, 'THE_SETTING')).toThrow(message)
    expect(() => parseMasterKeys(text, 'THE_SETTING')).not.toThrow(BYTES.toString('hex').slice(0, 20))
  })
})

describe('what is sealed', () => {
  it('is opened with the same key in the same place only, and only unchanged', () => {
    const sealed = encrypt(BYTES, 'app/stripe', Buffer.from('secret'))
    expect(decrypt(BYTES, 'app/stripe', sealed).toString()).toBe('secret')
    expect(() => decrypt(BYTES, 'other/stripe', sealed)).toThrow()
    expect(() => decrypt(OTHER, 'app/stripe', sealed)).toThrow()
    const changed = Buffer.from(sealed)
    changed[changed.length - 1] = (changed.at(-1) as number) ^ 1
    expect(() => decrypt(BYTES, 'app/stripe', changed)).toThrow()
  })

  it('never looks the same twice', () => {
    const [one, two] = [1, 2].map(() => encrypt(BYTES, 'app/stripe', Buffer.from('secret')))
    expect(one?.equals(two as Buffer)).toBe(false)
  })
})
