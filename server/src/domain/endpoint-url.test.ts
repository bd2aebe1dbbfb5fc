import { describe, expect, it } from 'vitest'
import { checkEndpointUrl } from './endpoint-url.ts'
import { MAX_URL_CHARACTERS } from './limits.ts'

const at = (length: number) => 'https://a.example/'.padEnd(length, 'x')
const check =
  (url: string, allowPrivate = false) =>
  () =>
    checkEndpointUrl('url', url, allowPrivate)

describe('gap: URLs of webhook endpoints', () => {
  it.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/tollgate?app=1',
    'HTTPS://HOOKS.EXAMPLE.COM/',
    'https://bücher.example/straße',
    'https://8.8.8.8/hooks',
    'https://[2606:4700:4700::1111]/hooks',
    'https://localhost.example.com/',
    at(MAX_URL_CHARACTERS),
  ])('%s is accepted', (url) => {
    expect(check(url)).not.toThrow()
    expect(check(url, true)).not.toThrow()
  })

  it.each([
    '',
    'hooks.example.com',
    '/hooks',
    '//hooks.example.com',
    'https:hooks.example.com',
    'https://',
    'https:///hooks',
    'https://a b.example',
    "https://a'b.example/",
    'https://a.example/\r\nX-Injected: 1',
    ' https://a.example',
    'ftp://a.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    at(MAX_URL_CHARACTERS + 1),
    'https://user@a.example/',
    'https://user:password@a.example/',
  ])('%j is refused, with the name of the field', (url) => {
    expect(check(url)).toThrow(/^url must/)
    expect(check(url, true)).toThrow(/^url must/)
  })

  it.each([
    ['http://hooks.example.com/', 'must be an absolute https URL'],
    ['https://127.0.0.1/', 'loopback address'],
    ['https://127.0.0.1./', 'loopback address'],
    ['https://2130706433/', 'loopback address'],
    ['https://0x7f.1/', 'loopback address'],
    ['https://0177.0.0.1/', 'loopback address'],
    ['https://127.1/', 'loopback address'],
    ['https://[::1]/', 'loopback address'],
    ['https://localhost/', 'loopback address'],
    ['https://LOCALHOST./', 'loopback address'],
    ['https://api.localhost/', 'loopback address'],
    ['https://169.254.169.254/latest/meta-data', 'link-local address'],
    ['https://10.0.0.1/', 'private address'],
    ['https://192.168.0.1/', 'private address'],
    ['https://[fd00::1]/', 'private address'],
    ['https://[::ffff:127.0.0.1]/', 'IPv4-mapped address'],
    ['https://[64:ff9b::7f00:1]/', 'NAT64 address'],
    ['https://0/', 'reserved address'],
  ])('%s is refused, unless private networks are allowed', (url, reason) => {
    expect(check(url)).toThrow(reason)
    expect(check(url, true)).not.toThrow()
  })
})
