import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { dateTimeOf, When } from '../ui/when.tsx'
import { isoOfLocal, timeZone } from './local-time.ts'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const ADVANCE = graphql(`
  mutation AdvanceClock($appId: String!, $to: String!) {
    advanceClock(appId: $appId, to: $to) { id now }
  }
`)

const STEPS = [
  { label: 'A day', move: (at: Date) => at.setUTCDate(at.getUTCDate() + 1) },
  { label: 'A month', move: (at: Date) => monthLater(at) },
  { label: 'A year', move: (at: Date) => at.setUTCFullYear(at.getUTCFullYear() + 1) },
]

/** From the 31st to the last day of a shorter month, not into the one after it. */
function monthLater(at: Date): void {
  const day = at.getUTCDate()
  at.setUTCMonth(at.getUTCMonth() + 1)
  if (at.getUTCDate() !== day) at.setUTCDate(0)
}

export function MoveClock({ app }: { app: { id: string; now: string } }) {
  const may = useMay()
  const form = useForm({ initialValues: { to: '' }, validate: { to: required('The time') } })
  const { saved } = useUnsaved(form)
  const advance = useChange(ADVANCE, {
    done: saved(),
    said: ({ advanceClock }) =>
      `The test clock is at ${advanceClock ? dateTimeOf(advanceClock.now) : 'a later time'}.`,
  })
  const go = (to: string) => advance.mutate({ appId: app.id, to }, ontoFields(form))
  return (
    <Stack>
      <FormAlert error={advance.error} fields={fieldsOf(form)} />
      <Text size="sm">
        It is{' '}
        <strong>
          <When at={app.now} time />
        </strong>
        . The clock only moves forward. Everything due by then is processed.
      </Text>
      <Group gap="xs">
        {STEPS.map(({ label, move }) => (
          <Button
            key={label}
            variant="default"
            loading={advance.isPending}
            disabled={!may('advanceClock')}
            onClick={() => {
              const at = new Date(app.now)
              move(at)
              go(at.toISOString())
            }}
          >
            {label} later
          </Button>
        ))}
      </Group>
      <form noValidate onSubmit={form.onSubmit(({ to }) => go(isoOfLocal(to)))}>
        <Group align="flex-end" gap="xs">
          <TextInput label={`Or to (${timeZone})`} type="datetime-local" {...form.getInputProps('to')} />
          <Button type="submit" variant="default" loading={advance.isPending} disabled={!may('advanceClock')}>
            Move clock
          </Button>
        </Group>
      </form>
    </Stack>
  )
}
