import { describe, expect, it } from 'vitest'
import { TollgateError } from './errors.ts'
import { MAX_URL_CHARACTERS } from './limits.ts'
import { checkRedirect } from './redirect.ts'

const at = (length: number) => 'https://a.example/'.padEnd(length, 'x')

describe('gap: redirect URLs', () => {
  const TAKEN = [
    'https://shop.example',
    'http://localhost:3000/back?a=1#done',
    'HTTPS://SHOP.EXAMPLE/',
    'https://shop.example/paid?session={CHECKOUT_SESSION_ID}',
    'https://user@shop.example/',
    'https://bücher.example/straße',
    'https://[::1]:8080/x',
    'http://my_shop:3000/paid;x=1',
    at(MAX_URL_CHARACTERS),
  ]
  it.each(TAKEN)('%s is taken', (url) => {
    expect(() => checkRedirect('successUrl', url)).not.toThrow()
  })

  const REFUSED = [
    '',
    'https://[::',
    ' ',
    '/paid',
    'paid',
    'shop.example/paid',
    '//shop.example/paid',
    '\\\\shop.example',
    'https:',
    'https://',
    'https:///paid',
    'https:shop.example',
    'https:/shop.example',
    'https:\\\\shop.example',
    'https://?x',
    'https://a b.example',
    'https://a.example;sandbox',
    'https://a.example;sandbox/paid',
    "https://a'b.example/",
    'https://a,b.example/',
    'https://a"b.example/',
    'ftp://shop.example',
    'file:///etc/passwd',
    'data:text/html,<script>alert(1)</script>',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'javascript://shop.example/%0aalert(1)',
    'https://shop.example/\r\nSet-Cookie: a=b',
    'https://shop.example/a\tb',
    ' https://shop.example',
    'blob:https://shop.example/x',
    'vbscript:x',
    at(MAX_URL_CHARACTERS + 1),
  ]
  it.each(REFUSED)('%j is refused, with the name of the field', (url) => {
    expect(() => checkRedirect('cancelUrl', url)).toThrow(TollgateError)
    expect(() => checkRedirect('cancelUrl', url)).toThrow(/^cancelUrl must be/)
  })
})
