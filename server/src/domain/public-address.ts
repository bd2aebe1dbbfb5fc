/** Reason why the service must not send requests to an address; null: the address is public. */
type PrivateNetwork =
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared (CGNAT)'
  | 'multicast'
  | 'reserved'
  | 'IPv4-mapped'
  | 'NAT64'
  | 'tunnel'

/** The IANA registries of special-purpose IPv4 addresses; every other address is public. */
const V4: readonly [network: string, bits: number, kind: PrivateNetwork][] = [
  ['0.0.0.0', 8, 'reserved'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'shared (CGNAT)'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'tunnel'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

/** The first match counts. Outside 2000::/3 nothing is public. */
const V6: readonly [network: string, bits: number, kind: PrivateNetwork][] = [
  ['::1', 128, 'loopback'],
  ['::ffff:0:0', 96, 'IPv4-mapped'],
  ['64:ff9b::', 96, 'NAT64'],
  ['64:ff9b:1::', 48, 'NAT64'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
  ['2001::', 32, 'tunnel'],
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['2002::', 16, 'tunnel'],
  ['3fff::', 20, 'reserved'],
]

/**
 * Whether an address is outside the public Internet, and how. Anything that is not an address in its usual notation is
 * reserved. The tunnels (6to4, Teredo) and the IPv4 forms of IPv6 are refused as a whole: the IPv4 address inside them
 * may be private.
 */
export function privateNetworkOf(address: string): PrivateNetwork | null {
  const v4 = bitsOfV4(address)
  if (v4 !== null) return V4.find(([network, bits]) => isIn(v4, bitsOfV4(network), 32, bits))?.[2] ?? null
  const v6 = bitsOfV6(address.replace(/%.*$/, ''))
  if (v6 === null) return 'reserved'
  const found = V6.find(([network, bits]) => isIn(v6, bitsOfV6(network), 128, bits))
  if (found) return found[2]
  return isIn(v6, bitsOfV6('2000::'), 128, 3) ? null : 'reserved'
}

function isIn(address: bigint, network: bigint | null, length: number, bits: number): boolean {
  const hostBits = BigInt(length - bits)
  return network !== null && address >> hostBits === network >> hostBits
}

/** Dotted decimal with four parts only: the forms 127.1, 2130706433 and 0x7f.1 are for URL parsers. */
function bitsOfV4(text: string): bigint | null {
  if (!/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)) return null
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

function bitsOfV6(text: string): bigint | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const last = dotted ? bitsOfV4(dotted[2] ?? '') : null
  if (dotted && last === null) return null
  const hex =
    dotted && last !== null
      ? `${dotted[1]}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`
      : text
  const halves = hex.split('::')
  if (halves.length > 2) return null
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  const groups = [...head, ...Array<string>(halves.length === 2 ? missing : 0).fill('0'), ...tail]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}
