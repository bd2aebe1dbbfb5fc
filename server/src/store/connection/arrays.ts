/**
 * Formats array parameters as PostgreSQL's array literals. `pg` can do that too, with several regular expressions per
 * element; the hot statements have thousands of elements per second.
 */
export function textArray<T>(rows: readonly T[], textOf: (row: T) => string | null): string {
  let literal = '{'
  for (let i = 0; i < rows.length; i++) {
    const text = textOf(rows[i] as T)
    if (i > 0) literal += ','
    literal += text === null ? 'null' : quoted(text)
  }
  return `${literal}}`
}

export function numberArray<T>(rows: readonly T[], numberOf: (row: T) => number | null): string {
  let literal = '{'
  for (let i = 0; i < rows.length; i++) {
    if (i > 0) literal += ','
    literal += numberOf(rows[i] as T) ?? 'null'
  }
  return `${literal}}`
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}
