/** As in package.json; a test compares the two. */
const VERSION = '0.1.0'

/** The `User-Agent` of the backend's client. A page has its browser's. */
export function userAgent(): string | undefined {
  const { window, process } = globalThis as {
    window?: { document?: unknown }
    process?: { versions?: { node?: string } }
  }
  if (window?.document !== undefined) return undefined
  const node = process?.versions?.node
  return `tollgate-sdk-node/${VERSION}${node ? ` node/${node}` : ''}`
}
