/** "Firefox on Linux", as far as the browser says. */
export function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = /Edg\//.test(userAgent)
    ? 'Edge'
    : (/(Firefox|Chrome|Safari|curl|node)/i.exec(userAgent)?.[1] ?? userAgent.slice(0, 40))
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(userAgent)?.[1]
  return system ? `${browser} on ${system}` : browser
}
