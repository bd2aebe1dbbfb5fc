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

/** Labels of the ticks of an axis of times, in seconds: days, or hours with the day at its start. */
export function timeLabels(ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? Number.POSITIVE_INFINITY) - (ticks[0] ?? 0)
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
  const hour = new Intl.DateTimeFormat(undefined, {
    hour: 'numeric',
    ...(step < 3_600 && { minute: '2-digit' }),
  })
  return ticks.map((tick) => {
    const time = new Date(tick * 1000)
    const isMidnight = time.getHours() === 0 && time.getMinutes() === 0
    return (step < DAY && !isMidnight ? hour : day).format(time)
  })
}
