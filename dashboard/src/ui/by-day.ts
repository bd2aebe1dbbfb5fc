/** The beginning of a day of the reader's. */
export function daysAgo(now: number, days: number): number {
  const at = new Date(now)
  at.setDate(at.getDate() - days)
  return at.setHours(0, 0, 0, 0)
}

/** Hours put together to the reader's days, which are not the service's. */
export function byDay<Name extends string>(
  points: readonly ({ at: string } & Record<Name, number>)[],
  ...names: Name[]
): ({ at: string } & Record<Name, number>)[] {
  const days = new Map<number, { at: string } & Record<Name, number>>()
  for (const point of points) {
    const day = new Date(point.at).setHours(0, 0, 0, 0)
    const before = days.get(day)
    const sums = Object.fromEntries(names.map((name) => [name, point[name] + (before?.[name] ?? 0)]))
    days.set(day, { at: new Date(day).toISOString(), ...(sums as Record<Name, number>) })
  }
  return [...days.values()]
}
