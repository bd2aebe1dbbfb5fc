/** Search parameters are plain text: `?search=007` is not a number. */
export const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search))

export function stringifySearch(search: Record<string, unknown>): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** A route's search parameters: texts… */
export function text<Name extends string>(search: Record<string, unknown>, ...names: Name[]) {
  const kept: { [name in Name]?: string } = {}
  for (const name of names) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') kept[name] = value
  }
  return kept
}

/** …and choices; an unknown value counts as none. */
export function choice<Name extends string, const Value extends string>(
  search: Record<string, unknown>,
  name: Name,
  values: readonly Value[],
): { [name in Name]?: Value } {
  const value = values.find((value) => value === search[name])
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value }
}
