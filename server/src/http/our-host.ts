import { isIP } from 'node:net'
import { parseUrl } from '../domain/url.ts'

/**
 * Whether a browser using this host name can be on our own pages. A name owned by someone else can be made to resolve
 * to us (DNS rebinding), and its pages would then be same-origin; an IP address cannot.
 */
export function isOurHost(host: string | undefined, publicUrl: string): boolean {
  // Browsers always send a host.
  if (host === undefined) return true
  const hostname = parseUrl(`http://${host}`)?.hostname
  if (hostname === undefined) return false
  const ours = new URL(publicUrl).hostname
  return hostname === ours || isLoopback(hostname) || (isAddress(ours) && isAddress(hostname))
}

/** For operators who proxy our pages under another name. */
export const notOurHost = (publicUrl: string): string =>
  `This host name does not belong to the dashboard. Open ${publicUrl}/, set TOLLGATE_PUBLIC_URL to this address, or configure the proxy to forward the Host header.`

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

const isLoopback = (hostname: string): boolean =>
  /^(.+\.)?localhost$|^\[::1\]$/.test(hostname) || (isAddress(hostname) && hostname.startsWith('127.'))
