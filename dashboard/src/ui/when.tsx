import { Text } from '@mantine/core'

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const DATE_TIME_SECONDS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const DATE_TIME_ZONE = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** In the reader's time zone, like everything here. */
export const dateOf = (iso: string) => DATE.format(new Date(iso))

/** For a sentence that nothing can be pointed at in, such as a notification: with the zone. */
export const dateTimeOf = (iso: string) => DATE_TIME_ZONE.format(new Date(iso))

/** "2027-01-31 10:00:00.000 UTC": what logs and the API say. */
export const utcOf = (iso: string) => new Date(iso).toISOString().replace('T', ' ').replace('Z', ' UTC')

/** A time in the reader's zone; in UTC, to the millisecond, when it is pointed at. */
export function When({ at, time = false }: { at: string; time?: boolean | 'seconds' }) {
  const format = time === 'seconds' ? DATE_TIME_SECONDS : time ? DATE_TIME : DATE
  return (
    <Text component="time" dateTime={at} title={utcOf(at)} inherit className="when">
      {format.format(new Date(at))}
    </Text>
  )
}
