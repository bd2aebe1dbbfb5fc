import { lookup, Resolver } from 'node:dns/promises'

interface ResolvedAddress {
  address: string
  family: number
}

/** All addresses of a host name. Rejects if there is none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>

const TIMEOUT_MS = 3_000
const TRIES = 2

/**
 * Asks DNS by c-ares. The system's resolver would take one of the few threads that this process shares for files and
 * passwords, for as long as a slow name server likes. Every call reads the present configuration.
 */
export const resolveByDns: Resolve = async (hostname) => {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (addresses.length === 0)
    throw v4.status === 'rejected' ? v4.reason : new Error(`no address for ${hostname}`)
  return addresses
}

/** The same, and then the system's resolver, which also knows the hosts file and search domains of a private network. */
export const resolveInPrivateNetwork: Resolve = (hostname) =>
  resolveByDns(hostname).catch(() => lookup(hostname, { all: true }))
