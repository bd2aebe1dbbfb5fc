import { describe, expect, it } from 'vitest'
import { readTrustedProxies, sourceAddress } from './source-address.ts'

const proxies = (text: string) => {
  const read = readTrustedProxies(text)
  if (read === undefined) throw new Error(`cannot read ${text}`)
  return read
}

describe('gap: where a request comes from', () => {
  it.for<[string | undefined, string | undefined, string | null, string]>([
    // remote, X-Forwarded-For, trusted proxies, source
    ['203.0.113.7', undefined, null, '203.0.113.7'],
    ['203.0.113.7', '1.2.3.4', null, '203.0.113.7'],
    ['::ffff:203.0.113.7', undefined, null, '203.0.113.7'],
    [undefined, '1.2.3.4', null, 'unknown'],
    // By address: only what a trusted proxy says is believed, and only the last thing it says.
    ['10.0.0.1', '203.0.113.7', '10.0.0.0/8', '203.0.113.7'],
    ['10.0.0.1', '1.2.3.4, 203.0.113.7', '10.0.0.0/8', '203.0.113.7'],
    ['10.0.0.1', '1.2.3.4, 203.0.113.7, 10.0.0.2', '10.0.0.0/8', '203.0.113.7'],
    ['203.0.113.9', '1.2.3.4', '10.0.0.0/8', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.0/8', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.0/8', '10.0.0.3'],
    ['10.0.0.1', '1.2.3.4, nonsense', '10.0.0.0/8', '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4, nonsense, 10.0.0.2', '10.0.0.0/8', '10.0.0.2'],
    ['10.0.0.1', '', '10.0.0.0/8', '10.0.0.1'],
    ['::ffff:10.0.0.1', '203.0.113.7:51234', '10.0.0.1', '203.0.113.7'],
    ['::1', '203.0.113.7', '::1, 127.0.0.1', '203.0.113.7'],
    ['fd00::1', '[2001:db8:1:2::5]:443', 'fd00::/8', '2001:db8:1:2::/64'],
    // By number: that many hops back, and no further than there are.
    ['192.0.2.1', '1.2.3.4, 203.0.113.7', '1', '203.0.113.7'],
    ['192.0.2.1', '1.2.3.4, 203.0.113.7', '2', '1.2.3.4'],
    ['192.0.2.1', '203.0.113.7', '2', '203.0.113.7'],
    ['192.0.2.1', '203.0.113.7', '0', '192.0.2.1'],
    // IPv6 by its /64, in any spelling.
    ['2001:db8:1:2:3:4:5:6', undefined, null, '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', undefined, null, '2001:db8:1:2::/64'],
    ['2001:db8::1', undefined, null, '2001:db8:0:0::/64'],
    ['::1', undefined, null, '0:0:0:0::/64'],
    ['fe80::1%eth0', undefined, null, 'fe80:0:0:0::/64'],
  ])('%s, forwarded for %s, behind %s: %s', ([remote, forwarded, trusted, source]) => {
    expect(sourceAddress(remote, forwarded, trusted === null ? null : proxies(trusted))).toBe(source)
  })

  it.for([
    'nonsense',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    '1, 2',
    '100',
  ])('%s names no proxies', (text) => expect(readTrustedProxies(text)).toBeUndefined())
})
