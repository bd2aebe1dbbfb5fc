const DAY = 86_400

/** What the ticks of periods say, by their starts in seconds: as much as tells one from the next. */
export function periodLabels(starts: readonly number[]): string[] {
  const steps = starts.slice(1).map((start, index) => start - (starts[index] ?? start))
  const shortest = Math.min(...steps, Number.POSITIVE_INFINITY)
  const format = new Intl.DateTimeFormat(undefined, {
    month: 'short',
    day: 'numeric',
    ...(shortest >= 360 * DAY && steps.length > 0 && { year: 'numeric' }),
    ...(shortest < DAY && { hour: 'numeric', minute: '2-digit' }),
  })
  return starts.map((start) => format.format(new Date(start * 1000)))
}
