import { describe, expect, it } from 'vitest'
import { checkPassword } from './password.ts'

const EMAIL = 'ann.lee42@example.com'

describe('gap: passwords', () => {
  it.for([
    ['nine chars', 'xk4!vd9qp'],
    ['1,025 characters', 'a fine day '.repeat(100).slice(0, 1_025)],
  ])('%s: the wrong length', ([, password = '']) => {
    expect(() => checkPassword(password, EMAIL)).toThrow('password must be 10 to 1024 characters long')
  })

  it.for([
    'password12',
    'Password123!',
    'P@ssw0rd2024',
    'pa55word99',
    'dr4g0nb4ll!',
    '$ecr3tp4$$word',
    'chr1s714n99',
    'm!cro$oft99',
    'el1z4b37h99',
    'PASSWORD!!!!',
    'passw0rd!!',
    '!!iloveyou!!',
    'qwertyuiop',
    'Qwerty12345',
    '1q2w3e4r5t',
    '1qaz2wsx3edc',
    '0123456789',
    '1234567890',
    '9876543210',
    '123123123123',
    '19841984198',
    '0171 2345678'.replace(' ', ''),
    'abcdefghij',
    'zyxwvutsrqp',
    'aaaaaaaaaaaa',
    'abababababab',
    'abacabcbcacb',
    'xyz12xyz12xyz12',
    'tollgate2026',
    'Tollgate!!',
    'letmein12345',
    'welcome2024',
    'changeme123',
    'administrator',
    'ann.lee42@example.com',
    'Ann.Lee1984!',
  ])('%s is too easy to guess', (password) => {
    expect(() => checkPassword(password, EMAIL)).toThrow('password is too easy to guess')
  })

  it.for([
    'correct horse battery',
    'a good password',
    'another password',
    'tr0ub4dor&3x',
    'mein Passwort ist lang',
    '8401736295518046',
    'qwerty is what I never use',
    'パスワードはとても長いです',
    'xk4!vd9qp2',
    'annandleeforever',
    // four characters are enough, and a unit of six is no repetition
    'abcdabdcadbc',
    'aefbcdaefbcd',
    'abcdefghik',
  ])('%s is taken', (password) => {
    expect(() => checkPassword(password, EMAIL)).not.toThrow()
  })

  it('may be 1,024 characters long', () => {
    expect(() => checkPassword('a fine day '.repeat(100).slice(0, 1_024), EMAIL)).not.toThrow()
  })

  it.for([
    ' ann.lee42@example.com ',
    'Ann.Lee42@Example.com',
  ])('is too easy to guess where it is the address, even written as "%s"', (email) => {
    expect(() => checkPassword('ann.lee42@example.com', email)).toThrow('password is too easy to guess')
  })

  it('may be digits where the address starts with digits too', () => {
    expect(() => checkPassword('8401736295518046', '42@example.com')).not.toThrow()
  })
})
