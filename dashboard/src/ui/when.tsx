import { Text } from '@mantine/core'

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const DATE_TIME = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

export const dateOf = (iso: string) => DATE.format(new Date(iso))
export const dateTimeOf = (iso: string) => `${DATE_TIME.format(new Date(iso))} UTC`

/** A time, to the millisecond in its title. In UTC, since periods start and end in UTC. */
export function When({ at, time = false }: { at: string; time?: boolean }) {
  return (
    <Text component="time" dateTime={at} title={at} inherit className="when">
      {time ? dateTimeOf(at) : dateOf(at)}
    </Text>
  )
}
