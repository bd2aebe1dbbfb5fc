/** The reader's own time zone, to say what an input means. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** What an input of type datetime-local shows for a time: "2027-01-31T10:00". */
export function localMinute(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** The time that somebody entered; without one of the day, that day's beginning. */
export function isoOfLocal(entered: string): string {
  const at = new Date(entered.includes('T') ? entered : `${entered}T00:00`)
  // Half an entry, such as a year of six digits: the service says what is wrong with it.
  return Number.isNaN(at.getTime()) ? entered : at.toISOString()
}
