import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { privateNetworkOf } from './public-address.ts'

// An address is public only if no special-purpose registry contains it. Text that is not an address is not public.

describe('gap: addresses that webhooks may reach', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456:789a::1', 'private'],
    ['fec0::1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['100.64.0.1', 'shared (CGNAT)'],
    ['100.127.255.255', 'shared (CGNAT)'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['0.0.0.0', 'reserved'],
    ['0.1.2.3', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['203.0.113.9', 'reserved'],
    ['::', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['::7f00:1', 'reserved'],
    ['::127.0.0.1', 'reserved'],
    ['4000::1', 'reserved'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:7f00:1', 'IPv4-mapped'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['0:0:0:0:0:ffff:10.0.0.1', 'IPv4-mapped'],
    ['64:ff9b::10.0.0.1', 'NAT64'],
    ['64:ff9b::a00:1', 'NAT64'],
    ['64:ff9b:1::1', 'NAT64'],
    ['2002:7f00:1::', 'tunnel'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'tunnel'],
    ['192.88.99.1', 'tunnel'],
  ])('%s is %s', (address, network) => {
    expect(privateNetworkOf(address)).toBe(network)
  })

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82a::200e',
  ])('%s is public', (address) => {
    expect(privateNetworkOf(address)).toBeNull()
  })

  it.each([
    '',
    'localhost',
    'example.com',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '8.8.8.8.',
    '8.8.8',
    '8.8.8.8.8',
    '256.1.1.1',
    ':::',
    '2606::4700::1',
    '2606:4700',
    '12345::1',
    '2606:4700:4700:0:0:0:0:0:1111',
    '1:2:3:4:5:6:7::8:9',
    '2606::999.1.1.1',
  ])('%j is no usual notation of an address', (text) => {
    expect(privateNetworkOf(text)).toBe('reserved')
  })

  it('is the same for every notation of an IPv6 address', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const full = groups.map((group) => group.toString(16).padStart(4, '0')).join(':')
        const short = new URL(`http://[${full}]/`).hostname.slice(1, -1)
        expect(privateNetworkOf(short)).toBe(privateNetworkOf(full))
        expect(privateNetworkOf(full.toUpperCase())).toBe(privateNetworkOf(full))
      }),
    )
  })
})
