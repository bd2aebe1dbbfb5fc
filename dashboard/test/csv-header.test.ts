import { describe, expect, it } from 'vitest'
import { guess, headerOf, parseHeader } from '../src/csv-header.ts'

describe('gap: the header of a CSV file', () => {
  const CASES: [string, string, string[], string][] = [
    ['commas', 'id,email\n1,2', ['id', 'email'], ','],
    ['semicolons', 'id;email;billingId\r\n', ['id', 'email', 'billingId'], ';'],
    ['tabs', 'id\temail', ['id', 'email'], '\t'],
    ['quotes', '"user, id","e ""mail"""\n', ['user, id', 'e "mail"'], ','],
    ['a line break within quotes', '"user\nid",email\n', ['user\nid', 'email'], ','],
    ['one column', 'id\n1', ['id'], ','],
  ]
  it.for(CASES)('%s', ([, text, names, delimiter]) => {
    expect(parseHeader(text)).toEqual({ names, delimiter })
  })

  const ENCODED: [string, Uint8Array<ArrayBuffer>][] = [
    ['UTF-8', new TextEncoder().encode('id,naïve')],
    ['UTF-8 with a mark', new TextEncoder().encode('\ufeffid,naïve')],
    ['UTF-16, little end first', utf16('\ufeffid,naïve', true)],
    ['UTF-16, big end first', utf16('\ufeffid,naïve', false)],
  ]
  it.for(ENCODED)('%s', async ([, bytes]) => {
    expect((await headerOf(new Blob([bytes]))).names).toEqual(['id', 'naïve'])
  })

  it('finds the column that is meant', () => {
    const names = ['User ID', 'E-Mail', 'customer']
    expect(guess(names, 'id', 'userid')).toBe('User ID')
    expect(guess(names, 'email')).toBe('E-Mail')
    expect(guess(names, 'billingid', 'customer')).toBe('customer')
    expect(guess(names, 'phone')).toBeNull()
  })
})

function utf16(text: string, littleEndian: boolean): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(text.length * 2))
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian)
  return new Uint8Array(view.buffer)
}
