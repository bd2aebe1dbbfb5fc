import { BlockList, isIP } from 'node:net'

/** Proxies whose X-Forwarded-For is trusted: by address, or by their number. Null: none. */
export type TrustedProxies = { list: BlockList } | { hops: number } | null

/** Parses `10.0.0.0/8, 127.0.0.1` or a number of proxies; undefined if it is neither. */
export function readTrustedProxies(text: string): TrustedProxies | undefined {
  if (/^\d{1,2}$/.test(text)) return { hops: Number(text) }
  const list = new BlockList()
  for (const entry of text.split(',')) {
    const [address = '', prefix, ...more] = entry.trim().split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    const bits = family === 'ipv4' ? 32 : 128
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : bits + 1
    if (isIP(address) === 0 || more.length > 0 || length > bits) return undefined
    list.addSubnet(address, length, family)
  }
  return { list }
}

/**
 * The source of a request, for rate limiting: the address of the connection or, behind trusted proxies, the right-most
 * address of X-Forwarded-For that is not a trusted proxy. Addresses to the left of it may be forged. An IPv6 address
 * counts as its /64, which is what one subscriber gets.
 */
export function sourceAddress(
  remote: string | undefined,
  forwarded: string | string[] | undefined,
  proxies: TrustedProxies,
): string {
  const last = addressOf(remote ?? '') ?? UNKNOWN
  if (proxies === null || forwarded === undefined) return counted(last)
  const addresses = String(forwarded).split(',')
  let source = last
  for (let hop = 0; isTrusted(source, hop, proxies); hop++) {
    const before = addressOf(addresses.pop() ?? '')
    // There is no earlier entry, or it is not an address: use the last known one.
    if (before === null) break
    source = before
  }
  return counted(source)
}

/** A connection without an address, through a local socket. */
const UNKNOWN = 'unknown'

function isTrusted(address: string, hop: number, proxies: NonNullable<TrustedProxies>): boolean {
  if ('hops' in proxies) return hop < proxies.hops
  return address !== UNKNOWN && proxies.list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

/** The address without port, brackets or zone; null if there is none. */
function addressOf(text: string): string | null {
  const trimmed = text.trim()
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const address = bare.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '')
  return isIP(address) === 0 ? null : address
}

function counted(address: string): string {
  return isIP(address) === 6 ? `${network(address)}::/64` : address
}

/** The first four groups of an IPv6 address, in one spelling. */
function network(address: string): string {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':')
}
