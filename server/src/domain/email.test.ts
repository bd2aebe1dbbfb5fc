import { describe, expect, it } from 'vitest'
import { checkEmail, isEmail } from './email.ts'

describe('gap: an email address', () => {
  it.each([
    'ann@example.com',
    "o'brien+news@mail.example.co.uk",
    'ann@localhost',
    'ann@[192.0.2.1]',
    'Grüße@bücher.example',
    '用户@例子.广告',
    null,
    undefined,
  ])('%s is accepted', (email) => {
    expect(checkEmail(email)).toBeUndefined()
  })

  it.each([
    ['', '""'],
    ['ann', '"ann"'],
    ['ann@', '"ann@"'],
    ['@example.com', '"@example.com"'],
    ['ann@two@example.com', '"ann@two@example.com"'],
    ['ann lee@example.com', '"ann lee@example.com"'],
    [' ann@example.com', '" ann@example.com"'],
    ['ann@example.com\n', '"ann@example.com\\n"'],
    ['ann\u0007@example.com', '"ann\\u0007@example.com"'],
    ['ann@exa\u009fmple.com', '"ann@exa\\u009fmple.com"'],
    ['x'.repeat(200), `"${'x'.repeat(80)}…"`],
  ])('%j is refused, and shown in a form that a line can hold', (email, shown) => {
    expect(() => checkEmail(email)).toThrow(`email is not a valid email address: ${shown}`)
  })

  it.each(['ann\u0000@example.com', 'ann@example.com\u0000', 'ann@\ud800.com'])('%j is no text', (email) => {
    expect(() => checkEmail(email)).toThrow('email must be well-formed text without NUL characters')
    expect(isEmail(email)).toBe(false)
  })

  it('has a bound', () => {
    expect(() => checkEmail(`${'x'.repeat(1_020)}@example.com`)).toThrow('at most 1024 characters')
  })
})
