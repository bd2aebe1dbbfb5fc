/** Throws where the base is no URL that requests can be sent to. */
export function endpointOf(baseUrl: string, path: string): string {
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(`The baseUrl must be an absolute http or https URL, not ${JSON.stringify(baseUrl)}`)
  }
  return baseUrl.replace(/\/+$/, '') + path
}
