/** Throws if the base is not an http(s) URL. */
export function endpointOf(baseUrl: string, path: string): string {
  if (!/^https?:\/\//i.test(baseUrl) || !isUrl(baseUrl)) {
    throw new TypeError(`baseUrl must be an absolute http or https URL, not ${JSON.stringify(baseUrl)}`)
  }
  return baseUrl.replace(/\/+$/, '') + path
}

/** Not `URL.canParse`: once optimized, Node 20's answers false for every URL with a letter such as "ü". */
function isUrl(text: string): boolean {
  try {
    return Boolean(new URL(text))
  } catch {
    return false
  }
}
