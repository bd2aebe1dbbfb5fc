const SIZE = 50

/** One page of a list that is here as a whole; `after` is how many rows are before it. */
export function slice<Row>(
  rows: readonly Row[],
  after: string | undefined,
): { rows: readonly Row[]; next: string | null; before: number } {
  // A list that has become shorter shows its last page, not an empty one.
  const last = Math.max(0, Math.ceil(rows.length / SIZE) - 1) * SIZE
  const from = Math.min(Math.max(0, Math.floor(Number(after) || 0)), last)
  const end = from + SIZE
  return { rows: rows.slice(from, end), next: end < rows.length ? String(end) : null, before: from }
}

/** Whether one of the texts has what is searched for in it. */
export function matches(search: string | undefined, ...texts: (string | null | undefined)[]): boolean {
  const wanted = search?.toLowerCase() ?? ''
  return texts.some((text) => text?.toLowerCase().includes(wanted))
}
